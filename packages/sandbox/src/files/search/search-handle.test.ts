import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { ToolError } from '@tool-hub/core/errors'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import type { SearchOptions } from '../../../../core/src/handles.ts'
import type { FilesCall } from '../files-call.ts'
import { searchHandle } from '../files-guard.ts'
import { createFilesRoot } from '../files-root.ts'
import { openRoots } from '../roots.ts'

const folder = mkdtempSync(join(tmpdir(), 'search-'))
const root = join(folder, 'root')
const roots = { close: () => {} }

beforeEach(() => {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(root, { recursive: true })
  roots.close()
})
afterAll(() => {
  roots.close()
  rmSync(folder, { recursive: true, force: true })
})

function tree(files: Record<string, string | Buffer>): void {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true })
    writeFileSync(join(root, name), content)
  }
}

describe('searching', () => {
  function handle(call: Partial<FilesCall> = {}) {
    const opened = openRoots([{ path: root, mode: 'read' }])
    roots.close = opened.close
    const signal = new AbortController().signal
    const whole = { signal: () => signal, canRead: true, canWrite: false, canOverwrite: false, ...call }
    return searchHandle(createFilesRoot(opened, 1e6, []), whole)
  }
  const search = (pattern: string, options: Omit<SearchOptions, 'pattern'> = {}, path = '.') =>
    handle().search(path, { pattern, ...options })
  /** `file:line` of every match, which is what most cases are about. */
  const places = async (pattern: string, options: Omit<SearchOptions, 'pattern'> = {}, path = '.') =>
    (await search(pattern, options, path)).lines.map(({ file, line }) => `${file}:${line}`)

  it('counts matching files that are larger than the rule allows, and returns nothing of them', async () => {
    tree({ 'small.txt': 'match\n', 'large.txt': 'match\n'.repeat(10), 'other.txt': 'other\n'.repeat(10) })
    const found = await handle({ maxFileBytes: 59 }).search('.', { pattern: 'match' })
    expect(found).toMatchObject({ lines: [{ file: 'small.txt' }], skipped: 1 })
    expect(await handle({ maxFileBytes: 60 }).search('.', { pattern: 'match' })).toMatchObject({ skipped: 0 })
  })

  it('finds plain text, also when it looks like a regular expression, sorted by file and line', async () => {
    tree({ 'b.txt': 'x\na.b(\n', 'a.txt': 'axb(\na.b( a.b(\n\na.b(\n', 'Z/c': 'a.b(' })
    expect(await search('a.b(')).toEqual({
      lines: [
        { file: 'Z/c', line: 1, text: 'a.b(', isMatch: true },
        { file: 'a.txt', line: 2, text: 'a.b( a.b(', isMatch: true },
        { file: 'a.txt', line: 4, text: 'a.b(', isMatch: true },
        { file: 'b.txt', line: 2, text: 'a.b(', isMatch: true },
      ],
      files: [
        { file: 'Z/c', matches: 1 },
        { file: 'a.txt', matches: 2 },
        { file: 'b.txt', matches: 1 },
      ],
      isComplete: true,
      skipped: 0,
    })
  })

  it.each<[string, string, SearchOptions['pattern'], Omit<SearchOptions, 'pattern'>, string[]]>([
    ['a regular expression', 'foo1\nfoo\nxfoo22\n', 'foo\\d+$', { isRegex: true }, ['f:1', 'f:3']],
    ['anchors at every line', 'b\nab\nb', '^b', { isRegex: true }, ['f:1', 'f:3']],
    ['whatever the case', 'Straße\nSTRASSE\nstraSSe', 'strasse', { ignoreCase: true }, ['f:2', 'f:3']],
    ['the case unless told otherwise', 'Foo\nfoo', 'foo', {}, ['f:2']],
    [
      'a case-insensitive expression beyond ASCII',
      'ÄRGER\närger',
      'är.er',
      { isRegex: true, ignoreCase: true },
      ['f:1', 'f:2'],
    ],
    [
      'letters, digits and spaces beyond ASCII',
      '日本x\n٣\n\u3000',
      '^(\\w+|\\d|\\s)$',
      { isRegex: true },
      ['f:1', 'f:2', 'f:3'],
    ],
    ['CJK', 'a\n漢字かな\n', '字か', {}, ['f:2']],
    ['characters outside the first plane', 'x\n😀y\n', '^.y$', { isRegex: true }, ['f:2']],
    ['line ends of Windows', 'foo\r\nbar\r\n', 'foo$', { isRegex: true }, ['f:1']],
    ['a pattern that begins with a dash', 'a\n--files\n-e\n', '--files', {}, ['f:2']],
    ['a pattern over several lines', 'a\nfoo\nbar\nb\n', 'foo\\nb', { isRegex: true, multiline: true }, ['f:2', 'f:3']],
    ['plain text over several lines', 'a\nfoo\nbar\nb', 'o\nb', { multiline: true }, ['f:2', 'f:3']],
    [
      'over several lines of Windows',
      'foo\r\nbar\r\nx\r\n',
      'foo$\\s+bar',
      { isRegex: true, multiline: true },
      ['f:1', 'f:2'],
    ],
    [
      'each line of matches that touch',
      'ab\nab\nab',
      'b\\na',
      { isRegex: true, multiline: true },
      ['f:1', 'f:2', 'f:3'],
    ],
    ['nothing', 'abc', 'abcd', {}, []],
    ['the last line without an end', 'a\nb', 'b', {}, ['f:2']],
    ['an empty line', 'a\n\nb\n', '^$', { isRegex: true }, ['f:2']],
    ['a pattern that may be empty', 'a\nb\n', 'x*', { isRegex: true, multiline: true }, ['f:1', 'f:2']],
  ])('matches %s', async (_, content, pattern, options, expected) => {
    tree({ f: content })
    expect(await places(pattern, options)).toEqual(expected)
  })

  it('gives lines without their ends, and what is no UTF-8 with marks in its place', async () => {
    tree({ a: 'foo\r\n', b: Buffer.from([0x66, 0x6f, 0x6f, 0xff, 0x0a]), c: '\uFEFFfoo\nfoo' })
    const { lines } = await search('foo')
    expect(lines.map(({ text }) => text)).toEqual(['foo', 'foo\uFFFD', 'foo', 'foo'])
  })

  it('reads UTF-16 by its mark', async () => {
    const text = Buffer.from('\uFEFFerste\r\nzweite ä 漢\r\n', 'utf16le')
    tree({ le: text, be: Buffer.from(text).swap16() })
    expect((await search('ä 漢')).lines).toEqual([
      { file: 'be', line: 2, text: 'zweite ä 漢', isMatch: true },
      { file: 'le', line: 2, text: 'zweite ä 漢', isMatch: true },
    ])
  })

  it('looks into no binary file, not even one that is named', async () => {
    tree({ 'a.bin': 'foo\n\0foo', 'b.txt': 'foo', 'late.bin': `foo\n${'y\n'.repeat(100_000)}\0` })
    expect(await places('foo')).toEqual(['b.txt:1'])
    expect(await places('foo', {}, 'a.bin')).toEqual([])
  })

  it('gives the lines around a match once, and says which match', async () => {
    tree({ f: '1\n2\nx\n4\nx\n6\n7\n8\n9\nx\n' })
    const { lines, files } = await search('x', { contextLines: 1 })
    expect(lines.map(({ line, isMatch }) => (isMatch ? `*${line}` : `${line}`))).toEqual([
      '2',
      '*3',
      '4',
      '*5',
      '6',
      '9',
      '*10',
    ])
    expect(files).toEqual([{ file: 'f', matches: 3 }])
  })

  it('counts the matching lines, or only names the files', async () => {
    tree({ a: 'x x\nx\ny\n', 'd/b': 'x', c: 'y' })
    expect(await search('x', { output: 'counts' })).toMatchObject({
      lines: [],
      files: [
        { file: 'a', matches: 2 },
        { file: 'd/b', matches: 1 },
      ],
    })
    const { files } = await search('x', { output: 'files' })
    expect(files.map(({ file }) => file)).toEqual(['a', 'd/b'])
  })

  it('narrows by globs: at any depth without a slash, from the folder on with one, braces, negation, the last wins', async () => {
    tree({ 'a.ts': 'x', 'src/b.ts': 'x', 'src/c.js': 'x', 'src/d/e.tsx': 'x', 'lib/f.ts': 'x', '-g.ts': 'x' })
    const files = async (...globs: string[]) =>
      (await search('x', { globs, output: 'files' })).files.map(({ file }) => file)
    expect(await files('*.ts')).toEqual(['-g.ts', 'a.ts', 'lib/f.ts', 'src/b.ts'])
    expect(await files('/*.ts')).toEqual(['-g.ts', 'a.ts'])
    expect(await files('src/**')).toEqual(['src/b.ts', 'src/c.js', 'src/d/e.tsx'])
    expect(await files('src/*')).toEqual(['src/b.ts', 'src/c.js'])
    expect(await files('**/*.{js,tsx}')).toEqual(['src/c.js', 'src/d/e.tsx'])
    expect(await files('!*.ts')).toEqual(['src/c.js', 'src/d/e.tsx'])
    expect(await files('!src')).toEqual(['-g.ts', 'a.ts', 'lib/f.ts'])
    expect(await files('*.ts', '!lib/**', '!-*')).toEqual(['a.ts', 'src/b.ts'])
    expect(await files('!*.ts', 'a.ts')).toEqual(['a.ts'])
    expect(await files('-*')).toEqual(['-g.ts'])
    expect(await files('--pre=sh')).toEqual([])
    expect(await files('[a-b].?s')).toEqual(['a.ts', 'src/b.ts'])
  })

  it.each(['[a', '{a', 'a}', 'a\\', '', '!', 'a\nb'])('refuses the glob %j', async (glob) => {
    await expect(search('x', { globs: [glob] })).rejects.toMatchObject({ code: 'INPUT_SCHEMA_INVALID' })
  })

  it('narrows by a type of files, and names the nearest when there is none', async () => {
    tree({ 'a.ts': 'x', 'b.cts': 'x', 'c.js': 'x', Makefile: 'x', '.h.ts': 'x' })
    expect(await places('x', { type: 'ts' })).toEqual(['a.ts:1', 'b.cts:1'])
    expect(await places('x', { type: 'make' })).toEqual(['Makefile:1'])
    expect(await places('x', { type: 'ts', globs: ['a*', 'c*'] })).toEqual(['a.ts:1'])
    const error = await search('x', { type: 'pyt' }).catch((thrown: ToolError) => thrown)
    expect(error).toMatchObject({ code: 'INPUT_SCHEMA_INVALID', fix: { hint: expect.stringContaining('py') } })
    await expect(search('x', { type: '--pre' })).rejects.toMatchObject({ code: 'INPUT_SCHEMA_INVALID' })
  })

  it('leaves hidden files out unless asked, and the innards of git always', async () => {
    tree({ a: 'x', '.h': 'x', '.d/b': 'x', '.git/c': 'x', 's/.git': 'x', '.tool-hub-1.tmp': 'x' })
    expect(await places('x')).toEqual(['a:1'])
    expect(await places('x', { globs: ['*'] })).toEqual(['a:1'])
    expect(await places('x', { includeHidden: true, includeIgnored: true })).toEqual(['.d/b:1', '.h:1', 'a:1'])
    expect(await places('x', {}, '.d')).toEqual(['b:1'])
  })

  it('respects every .gitignore from the root down, inside and outside of a repository', async () => {
    tree({
      '.gitignore': '*.log\n!keep.log\n/dist\nbuild/\nsub/only.txt\n# x\n[broken\n',
      'a.log': 'x',
      'keep.log': 'x',
      'dist/a': 'x',
      'lib/dist/a': 'x',
      'lib/build/a': 'x',
      'lib/x.log': 'x',
      'sub/.gitignore': '*.tmp\n!b.log\nonly.md\n',
      'sub/b.log': 'x',
      'sub/c.tmp': 'x',
      'sub/only.txt': 'x',
      'sub/deep/c.tmp': 'x',
      'sub/deep/only.md': 'x',
      'sub/deep/.git/HEAD': 'x',
      'sub/deep/d.txt': 'x',
    })
    const kept = ['keep.log:1', 'lib/dist/a:1', 'sub/b.log:1', 'sub/deep/d.txt:1']
    expect(await places('x')).toEqual(kept)
    expect(await places('x', { globs: ['*.log', '*.txt'] })).toEqual(['keep.log:1', 'sub/b.log:1', 'sub/deep/d.txt:1'])
    expect(await places('x', { globs: ['*.txt'] })).toEqual(['sub/deep/d.txt:1'])
    expect(await places('x', {}, 'sub')).toEqual(['b.log:1', 'deep/d.txt:1'])
    expect(await places('x', {}, 'sub/deep')).toEqual(['d.txt:1'])
    expect(await places('x', {}, 'dist')).toEqual(['a:1'])
    expect(await places('x', { includeIgnored: true })).toHaveLength(12)
  })

  it('says names with spaces, line breaks and leading dashes as they are', async () => {
    const names = ['-r', '--files', 'a b', 'c\nd', 'e"\\', 'é 漢', ' lead', '#h', '!n', 'x:1:y']
    tree(Object.fromEntries(names.map((name) => [name, 'x'])))
    const sorted = names.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
    expect((await search('x')).files.map(({ file }) => file)).toEqual(sorted)
    expect((await handle().find('.', { pattern: '*' })).files).toEqual(sorted)
    for (const name of names) expect(await places('x', {}, name)).toEqual([`${name}:1`])
    expect((await handle().find('.', { pattern: '!n' })).files).toEqual(sorted.filter((name) => name !== 'n'))
    expect((await handle().find('.', { pattern: '#h' })).files).toEqual(['#h'])
  })

  it('searches one file whatever .gitignore, its name and the globs say', async () => {
    tree({ '.gitignore': '*', 'd/.x': 'foo\nbar\n' })
    expect(await search('bar', { globs: ['*.ts'] }, 'd/.x')).toMatchObject({
      lines: [{ file: '.x', line: 2, text: 'bar', isMatch: true }],
    })
  })

  it('follows no link below the folder, but one that leads to it and stays inside', async () => {
    tree({ 'real/a': 'x' })
    writeFileSync(join(folder, 'outside'), 'x')
    mkdirSync(join(folder, 'out'))
    writeFileSync(join(folder, 'out/b'), 'x')
    symlinkSync(join(folder, 'outside'), join(root, 'file-link'))
    symlinkSync(join(folder, 'out'), join(root, 'folder-link'))
    symlinkSync('real', join(root, 'inside'))
    expect(await search('x')).toMatchObject({ files: [{ file: 'real/a', matches: 1 }], skipped: 0 })
    expect((await handle().find('.', { pattern: '*' })).files).toEqual(['real/a'])
    expect(await places('x', {}, 'inside')).toEqual(['a:1'])
    expect(await places('x', {}, 'inside/a')).toEqual(['a:1'])
    for (const link of ['file-link', 'folder-link', 'folder-link/b'])
      await expect(search('x', {}, link)).rejects.toMatchObject({ code: 'PATH_OUTSIDE_SANDBOX' })
  })

  it('never looks into secrets, whatever is asked', async () => {
    tree({
      '.env': 'x',
      '.ENV.local': 'x',
      'a.pem': 'x',
      'B.KEY': 'x',
      '.ssh/id': 'x',
      '.aws/c': 'x',
      '.netrc': 'x',
      ok: 'x',
    })
    const all = { includeHidden: true, includeIgnored: true }
    expect(await places('x', { ...all, globs: ['.env', '*.pem', '.ssh/**', '*'] })).toEqual(['ok:1'])
    expect((await handle().find('.', { pattern: '**', ...all })).files).toEqual(['ok'])
    for (const path of ['.env', '.ssh', '.ssh/id'])
      await expect(search('x', {}, path)).rejects.toMatchObject({ code: 'PATH_DENIED' })
  })

  it('says nothing of files that policy does not permit, not even how many match', async () => {
    tree({ 'open/a': 'x', 'closed/b': 'x', 'closed/c': 'x' })
    const permits = (path: string) => {
      if (path.includes('/closed/')) throw new ToolError('POLICY_DENIED', 'no')
    }
    const result = await handle({ permits }).search('.', { pattern: 'x', maxMatches: 1 })
    expect(result).toMatchObject({ files: [{ file: 'open/a', matches: 1 }], isComplete: true, skipped: 0 })
    expect(await handle({ permits }).find('.', { pattern: '*' })).toEqual({ files: ['open/a'], isComplete: true })
  })

  it('ends at its limits and says so, and not when they are just met', async () => {
    tree({ a: 'x\n'.repeat(5), b: 'x\n'.repeat(5), c: 'x\n'.repeat(5) })
    const cut = await search('x', { maxMatches: 7, contextLines: 1 })
    expect(cut).toMatchObject({ isComplete: false })
    expect(cut.lines.filter(({ isMatch }) => isMatch)).toHaveLength(7)
    expect(await search('x', { maxMatches: 15 })).toMatchObject({ isComplete: true })
    expect((await search('x', { maxFiles: 2 })).files).toHaveLength(2)
    expect(await search('x', { maxFiles: 2, output: 'files' })).toMatchObject({ isComplete: false })
    expect(await search('x', { maxFiles: 3, output: 'counts', maxMatches: 1 })).toMatchObject({
      files: [{ matches: 5 }, { matches: 5 }, { matches: 5 }],
      isComplete: true,
    })
    expect(await handle().find('.', { pattern: '*', limit: 2 })).toMatchObject({ isComplete: false })
    expect(await handle().find('.', { pattern: '*', limit: 3 })).toEqual({ files: ['a', 'b', 'c'], isComplete: true })
  })

  it.each(['(a', '[z-a]', '(?<=a)b', '\\1', '*a'])('refuses the expression %j with a reason', async (pattern) => {
    tree({ a: 'x' })
    await expect(search(pattern, { isRegex: true })).rejects.toMatchObject({
      code: 'INPUT_SCHEMA_INVALID',
      message: expect.stringMatching(/^The pattern cannot be used: .{10}/s),
    })
  })

  it.each([
    ['', {}],
    ['a\0', {}],
    ['a\nb', {}],
    ['a\\nb', { isRegex: true }],
    ['a'.repeat(10_001), {}],
  ])('refuses the pattern %j', async (pattern, options) => {
    await expect(search(pattern, options)).rejects.toMatchObject({ code: 'INPUT_SCHEMA_INVALID' })
  })

  it('says what is not there', async () => {
    tree({ a: 'x' })
    for (const path of ['none', 'none/b', 'a/b', 'a/'])
      await expect(search('x', {}, path)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(search('x', {}, '../a')).rejects.toMatchObject({ code: 'PATH_OUTSIDE_SANDBOX' })
  })
})
