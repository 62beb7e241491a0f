import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { eventually } from '../../../../../test/support/eventually.ts'
import { temporaryFolder } from '../../../../../test/support/temporary-folder.ts'
import { searchHandle } from '../files-guard.ts'
import { createFilesRoot } from '../files-root.ts'
import { openRoots, type Roots } from '../roots.ts'
import type { FileMatches, MatchCollector } from './found-files.ts'
import { ReportReader } from './ripgrep-engine.ts'
import type { SearchJob } from './search-job.ts'

let base: string
let root: string
let roots: Roots

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'rg-'))
  root = join(base, 'root')
  mkdirSync(join(root, 'd'), { recursive: true })
  writeFileSync(join(root, 'd/f.txt'), 'one\ntwo inside\n')
  mkdirSync(join(base, 'out'))
  writeFileSync(join(base, 'out/f.txt'), 'one\ntwo SECRET\n')
  writeFileSync(join(base, 'out/g.txt'), '')
  symlinkSync(join(base, 'out'), join(root, 'l'))
  roots = openRoots([{ path: root, mode: 'read' }])
})
afterEach(() => {
  vi.unstubAllEnvs()
  roots.close()
  rmSync(base, { recursive: true, force: true })
})

const handle = (rgPath?: string, signal = new AbortController().signal) =>
  searchHandle(
    createFilesRoot(roots, 1e6, []),
    { signal: () => signal, canRead: true, canWrite: false, canOverwrite: false },
    { rgPath },
  )

/** A program in the place of ripgrep. */
function double(script: string): string {
  const path = join(base, 'rg-double')
  writeFileSync(path, `#!/bin/sh\n${script}\n`)
  chmodSync(path, 0o755)
  return path
}

/** A double that claims a line of a file. */
function claiming(path: string, lines: string, offset: number): string {
  const data = { path: { text: path }, lines: { text: lines }, line_number: 2, absolute_offset: offset, submatches: [] }
  const messages = [
    { type: 'begin', data: { path: { text: path } } },
    { type: 'match', data },
    { type: 'end', data: { path: { text: path }, binary_offset: null } },
    { type: 'summary', data: {} },
  ]
  return double(`cat <<'END'\n${messages.map((message) => JSON.stringify(message)).join('\n')}\nEND`)
}

describe('what ripgrep reports', () => {
  it('is given out when it is so', async () => {
    const result = await handle(claiming('./d/f.txt', 'two inside\n', 4)).search('.', { pattern: 'two' })
    expect(result).toMatchObject({ lines: [{ file: 'd/f.txt', line: 2, text: 'two inside' }], skipped: 0 })
  })

  it.each([
    ['other bytes than are there', './d/f.txt', 'two SECRET\n', 4],
    ['another place', './d/f.txt', 'two inside\n', 3],
    ['a file behind a link', './l/f.txt', 'two SECRET\n', 4],
    ['a file outside', '../out/f.txt', 'two SECRET\n', 4],
    ['a file outside by a detour', './d/../../out/f.txt', 'two SECRET\n', 4],
    ['a file that is gone', './d/gone.txt', 'two SECRET\n', 4],
    ['a folder', './d', 'two SECRET\n', 4],
    ['a secret', './d/.env', 'two SECRET\n', 4],
  ])('is dropped when it is %s', async (_, path, lines, offset) => {
    for (const output of ['lines', 'files', 'counts'] as const) {
      const result = await handle(claiming(path, lines, offset)).search('.', { pattern: 'two', output })
      expect(result).toMatchObject({ lines: [], files: [] })
    }
  })
})

const SWAPPER = `
const { renameSync } = require('node:fs')
const { parentPort, workerData: [folder, link, spare] } = require('node:worker_threads')
parentPort.postMessage('started')
for (;;) {
  renameSync(folder, spare); renameSync(link, folder)
  renameSync(folder, link); renameSync(spare, folder)
}`

it('gives out nothing from outside while somebody swaps a folder for a link', async () => {
  const swapper = new Worker(SWAPPER, { eval: true, workerData: ['d', 'l', 'spare'].map((name) => join(root, name)) })
  await new Promise((resolve) => swapper.once('message', resolve))
  const texts = new Set<string>()
  const names = new Set<string>()
  try {
    for (let attempt = 0; attempt < 150; attempt += 1) {
      const { lines } = await handle().search('.', { pattern: 'two' })
      for (const { text } of lines) texts.add(text)
      for (let more = 0; more < 50; more += 1) {
        const { files } = await handle().find('.', { pattern: '*' })
        for (const file of files) names.add(basename(file))
      }
    }
  } finally {
    await swapper.terminate()
  }
  expect([...texts]).toEqual(['two inside'])
  expect([...names]).toEqual(['f.txt'])
})

describe('the process', () => {
  const isAlive = (pid: number): boolean => {
    try {
      return process.kill(pid, 0)
    } catch {
      return false
    }
  }

  it('is gone when the call was aborted', async () => {
    const note = join(base, 'pid')
    const controller = new AbortController()
    const searching = handle(
      double(`echo $$ > ${note}.new; mv ${note}.new ${note}; exec sleep 600`),
      controller.signal,
    ).search('.', { pattern: 'x' })
    const pid = await eventually(() => Number(readFileSync(note, 'utf8')), { interval: 5 })
    expect(isAlive(pid)).toBe(true)
    controller.abort()
    await expect(searching).rejects.toMatchObject({ code: 'ABORTED' })
    expect(isAlive(pid)).toBe(false)
  })

  it('is gone when a limit ended the search, however much it would still say', async () => {
    const note = join(base, 'pid')
    const claim = readFileSync(claiming('./d/f.txt', 'two inside\n', 4), 'utf8').replace('#!/bin/sh', '')
    const rgPath = double(`echo $$ > ${note}; while :; do ${claim}\ndone`)
    const search = handle(rgPath).search('.', { pattern: 'two', maxFiles: 3 })
    expect(await search).toMatchObject({ isComplete: false })
    expect(isAlive(Number(readFileSync(note, 'utf8')))).toBe(false)
  })

  it('gets no environment, and nothing left behind in the folder for passing files', async () => {
    vi.stubEnv('RIPGREP_CONFIG_PATH', join(base, 'config'))
    writeFileSync(join(base, 'config'), '--files')
    vi.stubEnv('TMPDIR', base)
    const result = await handle().search('.', { pattern: 'two', globs: ['*.txt'] })
    expect(result).toMatchObject({ files: [{ file: 'd/f.txt', matches: 1 }] })
    expect(readdirSync(base).toSorted()).toEqual(['config', 'out', 'root'])
    expect(await handle(double(`env >&2; exit 2`)).search('.', { pattern: 'x' }).catch(String)).not.toContain('HOME')
  })

  it('counts its complaints, one a file that could not be read', async () => {
    const rgPath = double(
      `echo 'rg: ./a: Permission denied' >&2; echo 'rg: ./b: gone' >&2; echo '{"type":"summary","data":{}}'; exit 2`,
    )
    expect(await handle(rgPath).search('.', { pattern: 'x' })).toMatchObject({ files: [], skipped: 2 })
  })

  it.each([
    ['is killed by somebody else', 'kill -9 $$', 'UPSTREAM_ERROR'],
    ['has a defect', 'exit 101', 'UPSTREAM_ERROR'],
  ])('fails the search when it %s', async (_, script, code) => {
    await expect(handle(double(script)).search('.', { pattern: 'x' })).rejects.toMatchObject({ code })
  })
})

const path = join(temporaryFolder('report-reader'), 'f')
writeFileSync(path, 'x\n'.repeat(10))

/** Keeps what it is given; takes `most` files, and none whose name has `closed` in it. */
class Keeping implements MatchCollector {
  readonly found: FileMatches[] = []
  skipped = 0
  readonly most: number

  constructor(most = 100) {
    this.most = most
  }

  accepts(file: string): boolean {
    return !file.includes('closed')
  }

  add(found: FileMatches): boolean {
    this.found.push(found)
    return this.found.length < this.most
  }

  skip(count: number): void {
    this.skipped += count
  }

  names(): string[] {
    return this.found.map(({ file }) => file)
  }
}

const begin = (name: string) => ({ type: 'begin', data: { path: { text: name } } })
const match = (line: number, type = 'match') => ({
  type,
  data: { lines: { text: 'x\n' }, line_number: line, absolute_offset: (line - 1) * 2, submatches: [] },
})
const end = (binary: number | null = null) => ({ type: 'end', data: { binary_offset: binary } })

function read(messages: readonly object[], job: Partial<SearchJob> = {}, sink = new Keeping()) {
  const opened: string[] = []
  const reader = new ReportReader({ output: 'lines', maxMatches: 100, ...job } as SearchJob, sink, (file) => {
    opened.push(file)
    return openSync(path, 'r')
  })
  const isWanted = messages.map((message) => reader.take(Buffer.from(`${JSON.stringify(message)}\n`)))
  reader.close()
  return { sink, opened, isWanted, isSummed: reader.isSummed }
}

describe('what `rg --json` writes', () => {
  it('becomes one entry a file, with the dot before its name left out', () => {
    const { sink, opened, isSummed } = read([
      ...[begin('./d./f'), match(1), match(2, 'context'), end()],
      ...[begin('g'), match(3), end(), { type: 'summary', data: {} }],
    ])
    expect(sink.found).toMatchObject([
      {
        file: 'd./f',
        matches: 1,
        lines: [
          { line: 1, isMatch: true },
          { line: 2, isMatch: false },
        ],
      },
      { file: 'g', matches: 1, lines: [{ line: 3 }] },
    ])
    expect([opened, isSummed, sink.skipped]).toEqual([['d./f', 'g'], true, 0])
  })

  it('is not summed before the end, and leaves out a file that is not done', () => {
    expect(read([begin('./a'), match(1)])).toMatchObject({ isSummed: false, sink: { found: [] } })
  })

  it('skips names that are no UTF-8 and files that could not be checked, and leaves out closed and binary ones', () => {
    const wrong = { type: 'match', data: { lines: { text: 'y\n' }, line_number: 1, absolute_offset: 0 } }
    const { sink, opened } = read([
      ...[{ type: 'begin', data: { path: { bytes: '/w==' } } }, match(1), end()],
      ...[begin('./wrong'), wrong, end()],
      ...[begin('./closed'), match(1), end()],
      ...[begin('./binary'), match(1), end(7)],
      ...[begin('./late-binary'), match(1), end(0)],
      ...[begin('./good'), match(1), end()],
    ])
    expect([sink.names(), sink.skipped]).toEqual([['good'], 2])
    expect(opened).toEqual(['wrong', 'binary', 'late-binary', 'good'])
  })

  it('ends in the middle of a file once more lines match than are wanted', () => {
    const matches = [1, 2, 3, 4].map((line) => match(line))
    const { sink, isWanted } = read([begin('./a'), ...matches], { maxMatches: 2 })
    expect(sink.found).toMatchObject([{ file: 'a', matches: 3 }])
    expect(isWanted).toEqual([true, true, true, true, true])
    expect(read([begin('./a'), ...matches, end()], { maxMatches: 2, output: 'counts' }).sink.found).toEqual([
      { file: 'a', matches: 4, lines: [] },
    ])
  })

  it('ends when no more files are wanted', () => {
    const file = [begin('./a'), match(1), end()]
    const { isWanted } = read([...file, ...file], {}, new Keeping(2))
    expect(isWanted).toEqual([true, true, true, true, true, false])
  })

  it('is unsure about a line that is too long', () => {
    const sink = new Keeping()
    const reader = new ReportReader({ output: 'lines', maxMatches: 9 } as SearchJob, sink, () => openSync(path, 'r'))
    reader.take(Buffer.from(`${JSON.stringify(begin('./a'))}\n${JSON.stringify(match(1))}\n`))
    expect(reader.take(Buffer.from(`{"type":"match","data":{"lines":{"text":"${'x'.repeat(16_000_001)}"}}}\n`))).toBe(
      true,
    )
    expect(reader.take(Buffer.from(`${JSON.stringify(end())}\n`))).toBe(true)
    expect([sink.found, sink.skipped]).toEqual([[], 1])
  })
})
