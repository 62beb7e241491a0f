import { expect, it } from 'vitest'
import { fileHub } from '../../../../../test/support/file-hub.ts'
import { find } from './find.ts'

const FILES = {
  'a.ts': '',
  'src/b.ts': '',
  'src/deep/c.ts': '',
  '.hidden.ts': '',
  'x.md': '',
  'out/d.ts': '',
  '.gitignore': 'out\n',
}
const hubOf = () => fileHub(FILES, { tools: [find] })

it('finds files by a glob, without what is hidden or ignored', async () => {
  const { call } = hubOf()
  const result = await call('core/fs.find', { pattern: '*.ts' })
  expect(result.data).toEqual({ files: ['a.ts', 'src/b.ts', 'src/deep/c.ts'], isComplete: true })
  expect(result.evidence).toEqual([{ type: 'file', ref: '.', summary: '3 files for "*.ts"' }])
  const all = await call('core/fs.find', { pattern: '*.ts', includeHidden: true, includeIgnored: true })
  expect(all.data).toMatchObject({ files: ['.hidden.ts', 'a.ts', 'out/d.ts', 'src/b.ts', 'src/deep/c.ts'] })
})

it('gives paths that can be read as they are', async () => {
  const { call } = hubOf()
  expect((await call('core/fs.find', { pattern: '*.ts', path: 'src/' })).data).toMatchObject({
    files: ['src/b.ts', 'src/deep/c.ts'],
  })
})

it('never names a file that a rule denies, whatever its neighbours may', async () => {
  const files = [
    'a.ts',
    'b.ts',
    'b.pem',
    'c.log',
    'd/a.ts',
    'd/b.ts',
    'd/e/a.ts',
    'f/a.ts',
    'f/b.ts',
    'f/keep.ts',
    'plain',
  ]
  const policy = [
    { allow: 'read:fs' },
    { deny: 'read:fs', on: ['**/b.ts', '**/*.log', '**/d/e', '**/plain'] },
    { deny: 'core/fs.find', on: '**/f/*', except: '**/keep.ts' },
  ]
  const { call } = fileHub(Object.fromEntries(files.map((file) => [file, ''])), { tools: [find], policy })
  expect((await call('core/fs.find', { pattern: '*' })).data).toMatchObject({
    files: ['a.ts', 'd/a.ts', 'f/keep.ts'],
  })
})

it('is find in the coding dialect, one path a line, and says what a limit left out', async () => {
  const { text } = hubOf()
  expect(await text('find', { pattern: '*.ts' })).toBe('a.ts\nsrc/b.ts\nsrc/deep/c.ts')
  expect(await text('find', { pattern: '*.ts', limit: 1 })).toMatch(
    /\.ts\nNotice: Only the first 1 file; the limit is 1\. Narrow the pattern or the path, or raise limit\.$/,
  )
  expect(await text('find', { pattern: '*.java' })).toMatch(/^No files found in \/.+\.$/)
})

it('refuses what is outside or no pattern, and stops when it is stopped', async () => {
  const { call } = hubOf()
  expect((await call('find', { pattern: '*', path: '..' })).error).toMatchObject({ code: 'PATH_OUTSIDE_SANDBOX' })
  expect((await call('find', { pattern: '' })).error).toMatchObject({ code: 'INPUT_SCHEMA_INVALID' })
  expect((await call('find', { pattern: '*' }, { signal: AbortSignal.abort() })).status).toBe('aborted')
})
