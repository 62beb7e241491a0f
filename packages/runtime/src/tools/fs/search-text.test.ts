import { describe, expect, it } from 'vitest'
import { fileHub } from '../../../../../test/support/file-hub.ts'
import { searchText } from './search-text.ts'

const FILES = {
  'a.md': 'one\nfoo bar\nthree\nfoo\n',
  'src/b.ts': 'const foo = 1\nconst FOO = 2\n',
  'src/c.css': '.foo {}\n',
  'src/d.ts': 'a.c\nabc\n',
}
const hubOf = (files: Record<string, string> = FILES) => fileHub(files, { tools: [searchText] })
const SEARCH = 'core/fs.searchText'

describe('core/fs.searchText', () => {
  it('finds plain text in the usual kinds of files', async () => {
    const result = await hubOf().call(SEARCH, { root: '.', query: 'foo' })
    expect(result.data).toEqual({
      matches: [
        { file: 'a.md', lineNo: 2, excerpt: 'foo bar' },
        { file: 'a.md', lineNo: 4, excerpt: 'foo' },
        { file: 'src/b.ts', lineNo: 1, excerpt: 'const foo = 1' },
      ],
      isComplete: true,
    })
    expect(result.evidence).toEqual([{ type: 'file', ref: '.', summary: '3 of 3 matches for "foo"' }])
  })

  it('takes the query as it stands, unless it is a regular expression', async () => {
    const { call } = hubOf()
    const files = async (input: object) => {
      const { data } = await call(SEARCH, { root: 'src', query: 'a.c', ...input })
      return (data as { matches: { excerpt: string }[] }).matches.map(({ excerpt }) => excerpt)
    }
    expect(await files({})).toEqual(['a.c'])
    expect(await files({ regex: true })).toEqual(['a.c', 'abc'])
  })

  it('gives paths that can be read as they are, for a folder and for a file', async () => {
    const { call } = hubOf()
    expect((await call(SEARCH, { root: 'src', query: 'const foo' })).data).toMatchObject({
      matches: [{ file: 'src/b.ts' }],
    })
    expect((await call(SEARCH, { root: 'src/b.ts', query: 'const foo' })).data).toMatchObject({
      matches: [{ file: 'src/b.ts' }],
    })
  })

  it('names the files in which it cannot find the query because they are not UTF-8', async () => {
    const gbk = Buffer.from([0xb1, 0xa8, 0xb8, 0xe6, 0x0a])
    const latin = Buffer.from('caf\xe9\n', 'latin1')
    const utf16 = Buffer.from('\ufeff报告\n', 'utf16le')
    const files = { 'a.md': '报告 ü 😀\n', 'b.md': gbk, 'sub/c.txt': latin, 'd.md': utf16, 'e.css': gbk, 'f.md': 'x\n' }
    const { call, text } = hubOf(files as never)
    const { data } = await call(SEARCH, { root: '.', query: '报告' })
    expect(data).toMatchObject({ matches: [{ file: 'a.md' }, { file: 'd.md' }], otherEncoding: ['b.md', 'sub/c.txt'] })
    expect(await text('grep', { pattern: '报告', path: 'sub' })).toContain(
      'Not UTF-8, so only ASCII is found in them: sub/c.txt.',
    )
    // ASCII is found in them, too.
    const ascii = await call(SEARCH, { root: '.', query: 'caf' })
    expect(ascii.data).toMatchObject({ matches: [{ file: 'sub/c.txt' }] })
    expect(ascii.data).not.toHaveProperty('otherEncoding')
  })

  it('says that the number of files ended it, if that did', async () => {
    const many = Object.fromEntries(['a', 'b', 'c'].map((name) => [`${name}.md`, 'foo\nfoo\n']))
    const { call } = hubOf(many)
    const said = async (input: object) => {
      const { content } = await call(SEARCH, { root: '.', query: 'foo', ...input })
      return (content.at(-1) as { text: string }).text
    }
    expect(await said({ maxFiles: 2 })).toContain('ended after 4 matches in 2 files, the limit of maxFiles;')
    expect(await said({ maxMatches: 3, maxFiles: 9 })).toContain('ended after 3 matches;')
    expect(await said({ maxFiles: 3 })).not.toContain('ended')
  })

  it('says when a limit ended it', async () => {
    const result = await hubOf().call(SEARCH, { root: '.', query: 'foo', maxMatches: 1 })
    expect(result).toMatchObject({ data: { matches: [{}], isComplete: false }, meta: { truncated: {} } })
    expect(result.content).toMatchObject([
      { text: 'a.md:2:foo bar' },
      { text: 'Notice: The search ended after 1 matches; there may be more. Narrow it.' },
    ])
  })

  it('tells nothing of what it may not look into, not even that it matches', async () => {
    const files = { 'a.txt': 'foo', 'closed/b.txt': 'foo', 'k.pem': 'foo', '.env': 'foo', 'b.bin': 'foo\0' }
    const policy = [{ deny: 'read:fs', on: ['**/closed/**'] }]
    const { call, text } = fileHub(files, { tools: [searchText], policy })
    expect((await call(SEARCH, { root: '.', query: 'foo', glob: '**' })).data).toEqual({
      matches: [{ file: 'a.txt', lineNo: 1, excerpt: 'foo' }],
      isComplete: true,
    })
    expect(await text('grep', { pattern: 'foo' })).toBe('a.txt:1:foo')
  })

  it('does not call it an error when nothing matches', async () => {
    const { call, text } = hubOf()
    expect((await call(SEARCH, { root: '.', query: 'nowhere' })).data).toMatchObject({ matches: [], isComplete: true })
    expect(await text('grep', { pattern: 'nowhere' })).toMatch(/^No matches found in \/.+\.$/)
  })

  it.each([
    ['a path outside', { root: '..', query: 'x' }, 'PATH_OUTSIDE_SANDBOX'],
    ['a missing folder', { root: 'missing', query: 'x' }, 'NOT_FOUND'],
    ['an empty query', { root: '.', query: '' }, 'INPUT_SCHEMA_INVALID'],
    ['a broken expression', { root: '.', query: '(', regex: true }, 'INPUT_SCHEMA_INVALID'],
    ['too many matches', { root: '.', query: 'x', maxMatches: 5_001 }, 'INPUT_SCHEMA_INVALID'],
  ])('refuses %s', async (_, input, code) => {
    expect((await hubOf().call(SEARCH, input)).error).toMatchObject({ code })
  })

  it('stops when it is stopped', async () => {
    const { call } = hubOf()
    expect((await call(SEARCH, { root: '.', query: 'x' }, { signal: AbortSignal.abort() })).status).toBe('aborted')
  })
})

describe('grep in the coding dialect', () => {
  it('prints lines as grep does, in all files', async () => {
    const { text } = hubOf()
    expect(await text('grep', { pattern: 'fo+' })).toBe(
      'a.md:2:foo bar\na.md:4:foo\nsrc/b.ts:1:const foo = 1\nsrc/c.css:1:.foo {}',
    )
    expect(await text('grep', { pattern: 'foo', caseInsensitive: true, glob: '*.ts' })).toBe(
      'src/b.ts:1:const foo = 1\nsrc/b.ts:2:const FOO = 2',
    )
    expect(await text('grep', { pattern: 'foo', type: 'css', path: 'src' })).toBe('src/c.css:1:.foo {}')
  })

  it('takes the arguments that core/fs.searchText and core/fs.find call otherwise', async () => {
    const { text } = hubOf()
    for (const name of ['grep', 'search_files'])
      expect(await text(name, { query: 'foo', root: 'src/c.css' })).toBe('src/c.css:1:.foo {}')
    expect(await text('find', { query: '*.css', root: 'src' })).toBe('src/c.css')
  })

  it('shows lines around a match', async () => {
    const { text } = hubOf({ 'a.txt': '1\n2\nx\n4\n5\n6\n7\nx\n' })
    expect(await text('grep', { pattern: 'x', context: 1 })).toBe(
      'a.txt-2-2\na.txt:3:x\na.txt-4-4\n--\na.txt-7-7\na.txt:8:x',
    )
  })

  it('gives files or counts when asked', async () => {
    const { text } = hubOf()
    expect(await text('grep', { pattern: 'foo', outputMode: 'files_with_matches' })).toBe('a.md\nsrc/b.ts\nsrc/c.css')
    expect(await text('grep', { pattern: 'foo', output_mode: 'count' })).toBe('a.md:2\nsrc/b.ts:1\nsrc/c.css:1')
  })

  it('continues page by page without a gap', async () => {
    const { text } = hubOf()
    expect(await text('grep', { pattern: 'foo', headLimit: 2 })).toBe(
      'a.md:2:foo bar\na.md:4:foo\n[Showing 1-2 of 4. Use offset=2 to see more.]',
    )
    expect(await text('grep', { pattern: 'foo', offset: 9 })).toBe(
      'No more matches: offset=9 is after the last of 4 matches.',
    )
    expect(await text('grep', { pattern: 'foo', headLimit: 2, offset: 2 })).toBe(
      'src/b.ts:1:const foo = 1\nsrc/c.css:1:.foo {}',
    )
    expect(await text('grep', { pattern: 'foo', outputMode: 'files_with_matches', head_limit: 1, offset: 1 })).toBe(
      'src/b.ts\n[Showing 2-2 of 3. Use offset=2 to see more.]',
    )
  })

  it('finds what spans lines when asked', async () => {
    const { text } = hubOf()
    expect(await text('grep', { pattern: 'one\\nfoo', multiline: true })).toBe('a.md:1:one\na.md:2:foo bar')
  })
})

describe('search_files in the files dialect', () => {
  it.each(['search_files', 'grep_files'])('%s searches by a regular expression', async (name) => {
    const { text } = hubOf()
    expect(await text(name, { pattern: 'fo{2}', file_pattern: '*.ts' })).toBe('src/b.ts:1:const foo = 1')
    expect(await text(name, { pattern: 'foo', path: 'a.md' })).toBe('a.md:2:foo bar\na.md:4:foo')
  })
})
