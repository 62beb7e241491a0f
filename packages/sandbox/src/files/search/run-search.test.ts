import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ToolError } from '@tool-hub/core/errors'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { countOpenFiles } from '../../../../../test/support/left-behind.ts'
import { temporaryFolder } from '../../../../../test/support/temporary-folder.ts'
import type { FilesCall } from '../files-call.ts'
import { createFilesRoot, type FilesRoot } from '../files-root.ts'
import { openRoots } from '../roots.ts'
import { decodeUtf16 } from './file-report.ts'
import { findFiles } from './find-walk.ts'
import { searchTree } from './run-search.ts'

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

describe('a search by name', () => {
  const find = async (filesRoot: FilesRoot, pattern = '*', options: object = {}, call: Partial<FilesCall> = {}) =>
    findFiles(filesRoot, { ...CALL, ...call }, '.', { pattern, ...options })

  it('finds the files that ripgrep finds, whatever the .gitignore files and the glob are', async () => {
    const names = ['a', 'b', 'a.log', 'ab.ts', 'a-b', 'é', '.h', 'a b']
    const lines = [
      'a',
      '*.log',
      '!a',
      '/b',
      'a/',
      '**/b',
      'b/**',
      '*',
      '!*/',
      'b*',
      'a/b',
      '!ab.ts',
      '[ab]',
      '?',
      '{a,b}*',
    ]
    const globs = ['*', '**', 'a*', '*.ts', '/a', 'b/**', '!a', '!b/', 'a/*', '{a,b}', '**/a/**', '*b*', 'é', '?']
    const texts = fc.array(fc.constantFrom(...lines), { maxLength: 4 }).map((rules) => rules.join('\n'))
    const path = fc.array(fc.constantFrom(...names), { minLength: 1, maxLength: 4 })
    const tree = fc.record({ paths: fc.array(path, { maxLength: 12 }), rules: fc.array(fc.tuple(path, texts)) })
    const flags = fc.record({ includeHidden: fc.boolean(), includeIgnored: fc.boolean() })
    await fc.assert(
      fc.asyncProperty(tree, fc.constantFrom(...globs), flags, async ({ paths, rules }, pattern, options) => {
        const files: Record<string, string> = {}
        for (const parts of paths) files[parts.join('/')] = 'x'
        for (const [parts, text] of rules) files[[...parts.slice(1), '.gitignore'].join('/')] = `${text}\n#x`
        const { filesRoot } = workspace(withoutClashes(files))
        const { files: found } = await find(filesRoot, pattern, options)
        const searched = await searchTree(filesRoot, CALL, '.', { pattern: 'x', globs: [pattern], ...options })
        expect(found).toEqual(searched.files.map(({ file }) => file))
      }),
      { numRuns: 60 },
    )
  })

  it('finds in a large folder what it finds in a small one, up to the limit', async () => {
    const names = Array.from({ length: 4_000 }, (_, number) => `${'long'.repeat(20)}${number}.txt`)
    const { filesRoot } = workspace({ ...Object.fromEntries(names.map((name) => [name, ''])), '.gitignore': '*7.txt' })
    const expected = names.filter((name) => !name.endsWith('7.txt')).toSorted()
    expect(await find(filesRoot, '*', { limit: 5_000 })).toEqual({ files: expected, isComplete: true })
    expect(await find(filesRoot, '*', { limit: 10 })).toMatchObject({ files: { length: 10 }, isComplete: false })
  })

  it('leaves out what policy does not permit and the hub hides, also by the rules of a run that met an untrusted file', async () => {
    const { root, filesRoot } = workspace({ 'd/a': '', 'd/b': '', 'd/c': '', 'd/hidden': '', 'e/a': '' })
    const hiding = createFilesRoot(filesRoot.roots, 1e6, [], [join(root, 'd/hidden')])
    let isTainted = false
    const denied = () => (isTainted ? [join(root, 'd/b'), join(root, 'd/c')] : [join(root, 'd/b')])
    const permits = (path: string) => {
      if (denied().includes(path)) throw new ToolError('POLICY_DENIED', 'no')
    }
    const onUntrusted = () => {
      isTainted = true
    }
    const files = async (untrusted: string) => {
      isTainted = false
      const hasUntrusted = (folder: string, names: readonly string[]) =>
        names.some((name) => join(folder, name) === join(root, untrusted))
      return (await find(hiding, '*', {}, { permits, hasUntrusted, onUntrusted })).files
    }
    expect(await files('none')).toEqual(['d/a', 'd/c', 'e/a'])
    expect(await files('d/a')).toEqual(['d/a', 'e/a'])
    expect(await files('e/a')).toEqual(['d/a', 'd/c', 'e/a'])
    expect(isTainted).toBe(true)
    // A file that the call may not read says nothing about it.
    await files('d/b')
    expect(isTainted).toBe(false)
  })

  it('is not complete where a folder cannot be read, which root always can', async () => {
    const { root, filesRoot } = workspace({ 'closed/a': '', b: '' })
    chmodSync(join(root, 'closed'), 0)
    const isRoot = process.getuid?.() === 0
    const files = isRoot ? ['b', 'closed/a'] : ['b']
    expect(await find(filesRoot)).toEqual({ files, isComplete: isRoot })
    chmodSync(join(root, 'closed'), 0o700)
  })

  it('is not complete where a name is not UTF-8 or a folder is too deep', async () => {
    const { root, filesRoot } = workspace({ a: '', [`${'d/'.repeat(99)}a`]: '' })
    expect(await find(filesRoot)).toMatchObject({ files: { length: 2 }, isComplete: true })
    mkdirSync(join(root, 'd/'.repeat(100)))
    expect(await find(filesRoot)).toMatchObject({ files: { length: 2 }, isComplete: false })
    rmSync(join(root, 'd'), { recursive: true })
    writeFileSync(Buffer.concat([Buffer.from(`${root}/b`), Buffer.from([0xff])]), '')
    writeFileSync(join(root, 'c\ufffd'), '')
    expect(await find(filesRoot)).toEqual({ files: ['a', 'c\ufffd'], isComplete: false })
    expect(await find(filesRoot, 'a')).toEqual({ files: ['a'], isComplete: true })
  })

  it('sorts by the bytes of the paths', async () => {
    const { filesRoot } = workspace({ 'a/b': '', 'a-b/c': '', 'a.b': '', '\u{1f600}': '', '\ufb00': '', a0: '' })
    expect((await find(filesRoot)).files).toEqual(['a-b/c', 'a.b', 'a/b', 'a0', '\ufb00', '\u{1f600}'])
    expect(await find(filesRoot, '*', { limit: 2 })).toEqual({ files: ['a-b/c', 'a.b'], isComplete: false })
  })

  it('stops when it is aborted, with everything closed', async () => {
    const { filesRoot } = workspace({ 'd/a': '', 'e/a': '' })
    const controller = new AbortController()
    const before = countOpenFiles()
    const call = { signal: () => controller.signal, permits: () => controller.abort() }
    await expect(find(filesRoot, '*', {}, call)).rejects.toMatchObject({ code: 'ABORTED' })
    expect(countOpenFiles()).toBe(before)
  })
})

/** A path cannot be a file and a folder. */
function withoutClashes(files: Record<string, string>): Record<string, string> {
  const isFolder = (path: string) => Object.keys(files).some((other) => other.startsWith(`${path}/`))
  return Object.fromEntries(Object.entries(files).filter(([path]) => !isFolder(path)))
}
