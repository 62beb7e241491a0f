import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { temporaryFolder } from '../../../../test/support/temporary-folder.ts'
import { ToolError } from '../../../core/errors.ts'
import { createFilesRoot, type FilesCall, openRoots } from '../files-root.ts'
import { decodeUtf16 } from './file-report.ts'
import { findFiles, searchTree } from './run-search.ts'

function workspace(files: Record<string, string>) {
  const root = temporaryFolder('run-search')
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true })
    writeFileSync(join(root, name), content)
  }
  const roots = openRoots([{ path: root, mode: 'read' }])
  onTestFinished(() => roots.close())
  return { root, filesRoot: createFilesRoot(roots, 1e6, []) }
}

const never = new AbortController().signal
const CALL: FilesCall = { signal: () => never, canRead: true, canWrite: false, canOverwrite: false }

describe('a search', () => {
  it('the globs hold also for what a .gitignore keeps', async () => {
    const { filesRoot } = workspace({ '.gitignore': '!a\n!b.log', a: 'x', 'b.log': 'x', 'c.ts': 'x' })
    const files = async (...globs: string[]) =>
      (await searchTree(filesRoot, CALL, '.', { pattern: 'x', globs })).files.map(({ file }) => file)
    expect(await files('a/')).toEqual([])
    expect(await files('*.ts')).toEqual(['c.ts'])
    expect(await files('!b.log')).toEqual(['a', 'c.ts'])
    expect((await findFiles(filesRoot, CALL, '.', { pattern: '*.ts' })).files).toEqual(['c.ts'])
  })

  it('lines are given for lines only, and the lines around a cut match with it', async () => {
    const { filesRoot } = workspace({ a: '1\nx\n3\n4\nx\n', b: 'x' })
    const run = (options: object) => searchTree(filesRoot, CALL, '.', { pattern: 'x', ...options })
    expect(await run({ maxMatches: 1, contextLines: 1 })).toMatchObject({
      lines: [{ line: 1 }, { line: 2 }, { line: 3 }],
      isComplete: false,
    })
    expect(await run({ output: 'counts', maxMatches: 1 })).toMatchObject({
      lines: [],
      files: [{ matches: 2 }, { matches: 1 }],
      isComplete: true,
    })
  })

  it('a search by name ends at its limit, by default at a thousand', async () => {
    const { filesRoot } = workspace(Object.fromEntries(Array.from({ length: 1001 }, (_, number) => [`f${number}`, ''])))
    const find = (limit?: number) => findFiles(filesRoot, CALL, '.', { pattern: '*', limit })
    expect(await find()).toMatchObject({ files: { length: 1000 }, isComplete: false })
    expect(await find(1001)).toMatchObject({ files: { length: 1001 }, isComplete: true })
    expect(await find(0)).toMatchObject({ files: { length: 1 }, isComplete: false })
  })

  it('a place that policy does not permit is not searched', async () => {
    const { filesRoot, root } = workspace({ 'd/a': 'x' })
    const permits = (path: string) => {
      if (path === join(root, 'd')) throw new ToolError('POLICY_DENIED', 'no')
    }
    const search = searchTree(filesRoot, { ...CALL, permits }, 'd', { pattern: 'x' })
    await expect(search).rejects.toMatchObject({ code: 'POLICY_DENIED' })
  })

  it('an expression that cannot be used is refused with the reason and a hint', async () => {
    const { filesRoot } = workspace({ a: 'x' })
    const search = searchTree(filesRoot, CALL, '.', { pattern: '(a', isRegex: true })
    await expect(search).rejects.toMatchObject({
      code: 'INPUT_SCHEMA_INVALID',
      message: expect.stringMatching(/^The pattern cannot be used: (?!rg:|error)/),
      fix: { hint: 'Use a regular expression without look-around and backreferences, or plain text.' },
    })
  })
})

it('decodes UTF-16 as it stands, with a mark that is part of the text', () => {
  const bytes = Buffer.from('\uFEFFä', 'utf16le')
  expect(decodeUtf16(bytes, 'utf-16le')).toBe('\uFEFFä')
  expect(decodeUtf16(Buffer.from(bytes).swap16(), 'utf-16be')).toBe('\uFEFFä')
})
