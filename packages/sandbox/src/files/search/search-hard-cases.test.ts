import { mkdirSync, mkdtempSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { countOpenFiles } from '../../../../../test/support/left-behind.ts'
import { searchHandle } from '../files-guard.ts'
import { createFilesRoot } from '../files-root.ts'
import { openRoots, type Roots } from '../roots.ts'

const root = mkdtempSync(join(tmpdir(), 'search-hard-'))
let roots: Roots

beforeAll(() => {
  roots = openRoots([{ path: root, mode: 'read' }])
})
beforeEach(() => {
  for (const name of readdirSync(root)) rmSync(join(root, name), { recursive: true })
})
afterAll(() => {
  roots.close()
  rmSync(root, { recursive: true })
})

describe('hard cases', () => {
  const handle = (signal = new AbortController().signal, permits?: (path: string) => void) =>
    searchHandle(createFilesRoot(roots, 1e6, []), {
      ...{ signal: () => signal, canRead: true, canWrite: false, canOverwrite: false, permits },
    })

  it('is not caught by an expression that goes back and forth for ages elsewhere', async () => {
    writeFileSync(join(root, 'a'), `${'a'.repeat(99)}b\n${'a'.repeat(99)}\n`)
    const { lines } = await handle().search('.', { pattern: '(a+)+$', isRegex: true })
    expect(lines.map(({ line }) => line)).toEqual([2])
  })

  it('is not caught by a glob or a .gitignore of many stars', async () => {
    const stars = `${'*a'.repeat(60)}b`
    writeFileSync(join(root, 'a'.repeat(250)), 'x')
    writeFileSync(join(root, '.gitignore'), stars)
    mkdirSync(join(root, 'd'))
    writeFileSync(join(root, 'd', 'a'.repeat(250)), 'x')
    expect((await handle().search('.', { pattern: 'x', globs: [`!${stars}`] })).files).toHaveLength(2)
    expect((await handle().search('d', { pattern: 'x', globs: [stars] })).files).toHaveLength(0)
  })

  it('cuts an excerpt out of a line of 5 MB, and out of one with very many matches', async () => {
    writeFileSync(join(root, 'long'), `${'x'.repeat(3_000_000)}needle${'é'.repeat(1_000_000)}`)
    writeFileSync(join(root, 'many'), 'ab '.repeat(500_000))
    const { lines } = await handle().search('.', { pattern: 'needle' })
    expect(lines).toEqual([
      { file: 'long', line: 1, text: `…${'x'.repeat(150)}needle${'é'.repeat(344)}…`, isMatch: true },
    ])
    const many = await handle().search('.', { pattern: 'ab' })
    expect(many).toMatchObject({ lines: [{ file: 'many', line: 1 }], skipped: 0 })
    expect(many.lines[0]!.text).toBe(`${'ab '.repeat(167).slice(0, 500)}…`)
  })

  it('bounds what a match over a whole file gives out', async () => {
    writeFileSync(join(root, 'a'), 'line\n'.repeat(300_000))
    const result = await handle().search('.', { pattern: '(?s).*', isRegex: true, multiline: true, maxMatches: 50 })
    expect(result).toMatchObject({ isComplete: false, files: [{ file: 'a', matches: 50 }] })
    expect(result.lines.at(-1)).toMatchObject({ line: 50 })
  })

  it('answers twenty concurrent searches, each with its own', async () => {
    for (let index = 0; index < 20; index += 1) writeFileSync(join(root, `f${index}`), `needle-${index}.\n`)
    const before = countOpenFiles()
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => handle().search('.', { pattern: `needle-${index}.` })),
    )
    expect(answers.map(({ files }) => files)).toEqual(
      Array.from({ length: 20 }, (_, index) => [{ file: `f${index}`, matches: 1 }]),
    )
    expect(countOpenFiles()).toBe(before)
  })

  it('stops when it is aborted: before, and in the middle, with everything closed', async () => {
    for (let index = 0; index < 50; index += 1) writeFileSync(join(root, `f${index}`), 'abc\n'.repeat(20_000))
    const before = countOpenFiles()
    const options = { pattern: '(a|b|c)+$', isRegex: true, output: 'counts' } as const
    await expect(handle(AbortSignal.abort()).search('.', options)).rejects.toMatchObject({ code: 'ABORTED' })
    const controller = new AbortController()
    // The first file that is judged is a moment when the engine surely runs.
    const permits = (path: string) => {
      if (path !== root) controller.abort()
    }
    await expect(handle(controller.signal, permits).search('.', options)).rejects.toMatchObject({ code: 'ABORTED' })
    expect(countOpenFiles()).toBe(before)
  })

  it('leaves those waiting behind others when they are aborted', async () => {
    writeFileSync(join(root, 'a'), 'abc\n'.repeat(100_000))
    const controller = new AbortController()
    const searches = Array.from({ length: 6 }, () =>
      handle(controller.signal).search('.', { pattern: '(a|b)+c$', isRegex: true, output: 'counts' }),
    )
    controller.abort()
    const outcomes = await Promise.allSettled(searches)
    expect(outcomes.map((outcome) => outcome.status)).toEqual(Array(6).fill('rejected'))
    expect(await handle().search('.', { pattern: 'abc', output: 'files' })).toMatchObject({ isComplete: true })
  })

  it('counts a huge sparse file without hanging on it', async () => {
    writeFileSync(join(root, 'a'), 'x')
    writeFileSync(join(root, 'sparse'), '')
    truncateSync(join(root, 'sparse'), 2 ** 40)
    // ripgrep sees the first NUL character and skips the file as binary.
    expect(await handle().search('.', { pattern: 'x' })).toMatchObject({
      files: [{ file: 'a', matches: 1 }],
      skipped: 0,
    })
  })
})

it('fails with a hint when ripgrep cannot be started, except for a search by name', async () => {
  writeFileSync(join(root, 'a.ts'), 'x')
  writeFileSync(join(root, 'not-a-program'), 'x')
  const signal = new AbortController().signal
  const call = { signal: () => signal, canRead: true, canWrite: false, canOverwrite: false }
  for (const rgPath of ['/nowhere/rg', join(root, 'not-a-program')]) {
    const handle = searchHandle(createFilesRoot(roots, 1e6, []), call, { rgPath })
    const missing = {
      code: 'SANDBOX_UNAVAILABLE',
      message: expect.stringMatching(
        /^Searching needs ripgrep, which is missing: it does not start \((ENOENT|EACCES)\)\.$/,
      ),
      fix: { hint: 'Install it with the optional dependencies: npm install --include=optional.' },
    }
    await expect(handle.search('.', { pattern: 'x', globs: ['*.ts'] })).rejects.toMatchObject(missing)
    await expect(handle.search('.', { pattern: 'x', type: 'ts' })).rejects.toMatchObject(missing)
    expect((await handle.find('.', { pattern: '*.ts' })).files).toEqual(['a.ts'])
  }
})
