import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { eventually } from '../../../../../test/support/eventually.ts'
import { createFilesDoor } from '../../files-door.ts'
import { openRoots, type Roots } from '../../open-roots.ts'
import { searchHandle } from '../search-handle.ts'

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
    createFilesDoor(roots, 1e6, []),
    { signal: () => signal, canRead: true, canWrite: false, canOverwrite: false },
    { engine: 'ripgrep', rgPath },
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

  it('is dropped when a name is behind a link', async () => {
    const rgPath = double(`printf './d/f.txt\\0./l/f.txt\\0../out/f.txt\\0./l\\0'`)
    expect(await handle(rgPath).find('.', { pattern: '*' })).toEqual({ files: ['d/f.txt'], isComplete: false })
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
  try {
    for (let attempt = 0; attempt < 150; attempt += 1) {
      const { lines } = await handle().search('.', { pattern: 'two' })
      for (const { text } of lines) texts.add(text)
    }
  } finally {
    await swapper.terminate()
  }
  expect([...texts]).toEqual(['two inside'])
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
    const rgPath = double(`echo $$ > ${note}; while :; do printf './d/f.txt\\0'; done`)
    expect(await handle(rgPath).find('.', { pattern: '*', limit: 3 })).toMatchObject({ isComplete: false })
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
    await expect(handle(double(script)).find('.', { pattern: 'x' })).rejects.toMatchObject({ code })
  })
})
