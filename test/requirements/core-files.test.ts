import { createHash } from 'node:crypto'
import { existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Rule } from '../../packages/library/src/index.ts'
import { realHub } from '../support/real-hub.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const MB5 = 5 * 1024 * 1024
const sha256 = (content: string | Uint8Array) => createHash('sha256').update(content).digest('hex')
const DESTRUCTIVE = { policy: [{ allow: 'danger:destructive' }] }

describe('the filesystem tools', () => {
  it('write:fs is allowed only below sandboxRoot', async () => {
    const { call, root, read } = realHub()
    const outside = temporaryFolder()
    symlinkSync(outside, join(root, 'link'))
    for (const path of ['../out.txt', join(outside, 'out.txt'), 'link/out.txt', 'a/../../out.txt'])
      expect((await call('core/fs.writeText', { path, text: 'x' })).error?.code, path).toBe('PATH_OUTSIDE_SANDBOX')
    expect(existsSync(join(outside, 'out.txt')) || existsSync(join(dirname(root), 'out.txt'))).toBe(false)
    expect((await call('core/fs.writeText', { path: join(root, 'in.txt'), text: 'x' })).ok).toBe(true)
    expect(read('in.txt')).toBe('x')
  })

  it('core/fs.deletePath carries danger:destructive and needs an explicit grant', async () => {
    const files = { 'a.txt': 'a' }
    const closed = realHub({}, files)
    const listed = closed.hub.list({ hidden: true }).find(({ name }) => name === 'core/fs.deletePath')
    expect(listed?.capabilities).toContain('danger:destructive')
    const refused = await closed.call('core/fs.deletePath', { path: 'a.txt', confirm: true })
    expect(refused.error).toMatchObject({ code: 'POLICY_DENIED', message: expect.stringContaining('destructive') })
    expect(closed.read('a.txt')).toBe('a')
    const granted = realHub(DESTRUCTIVE, files)
    expect((await granted.call('core/fs.deletePath', { path: 'a.txt', confirm: true })).ok).toBe(true)
    expect(existsSync(join(granted.root, 'a.txt'))).toBe(false)
  })

  it('the real path has to lie under sandboxRoot', async () => {
    const outside = temporaryFolder()
    writeFileSync(join(outside, 'secret.txt'), 'secret')
    const { call, root } = realHub({}, { 'a.txt': 'inside' })
    symlinkSync(join(outside, 'secret.txt'), join(root, 'file-link'))
    symlinkSync(outside, join(root, 'folder-link'))
    symlinkSync('a.txt', join(root, 'inner-link'))
    for (const path of ['file-link', 'folder-link/secret.txt', `../../${outside}/secret.txt`, '/etc/passwd']) {
      const result = await call('core/fs.readText', { path })
      expect(result.error?.code, path).toBe('PATH_OUTSIDE_SANDBOX')
      expect(JSON.stringify(result)).not.toContain('"secret"')
    }
    expect((await call('core/fs.readText', { path: 'inner-link' })).data).toMatchObject({ text: 'inside' })
  })

  it('a file over 5 MB is not read by default, and the limit is configurable', async () => {
    const files = { 'fits.txt': 'x'.repeat(MB5), 'large.txt': 'x'.repeat(MB5 + 1) }
    const usual = realHub({}, files)
    expect(await usual.data('core/fs.readText', { path: 'fits.txt' })).toMatchObject({ bytes: MB5 })
    const refused = await usual.call('core/fs.readText', { path: 'large.txt' })
    expect(refused.error).toMatchObject({ code: 'FILE_TOO_LARGE', message: expect.stringContaining(`${MB5}`) })
    expect(await usual.data('core/fs.readText', { path: 'large.txt', maxBytes: 10_485_760 })).toMatchObject({
      bytes: MB5 + 1,
    })
    const configured = realHub({ core: { maxReadBytes: 2_000 } }, { 'a.txt': 'x'.repeat(2_001) })
    expect((await configured.call('core/fs.readText', { path: 'a.txt' })).error?.code).toBe('FILE_TOO_LARGE')
  })

  it('nothing is overwritten by default; overwrite=true needs a rule', async () => {
    const files = { 'a.txt': 'old' }
    const closed = realHub({}, files)
    const write = { path: 'a.txt', text: 'new' }
    expect((await closed.call('core/fs.writeText', write)).error?.code).toBe('CONFLICT')
    const forced = await closed.call('core/fs.writeText', { ...write, overwrite: true })
    expect(forced.error).toMatchObject({ code: 'POLICY_DENIED', message: expect.stringContaining('destructive') })
    expect(closed.read('a.txt')).toBe('old')
    const allowed = realHub(DESTRUCTIVE, files)
    expect((await allowed.call('core/fs.writeText', { ...write, overwrite: true })).ok).toBe(true)
    expect(allowed.read('a.txt')).toBe('new')
  })

  it('folders above a file are created by default', async () => {
    const { call, read, root } = realHub()
    expect((await call('core/fs.writeText', { path: 'a/b/c.txt', text: 'deep' })).ok).toBe(true)
    expect(read('a/b/c.txt')).toBe('deep')
    const none = await call('core/fs.writeText', { path: 'd/e.txt', text: 'x', mkdirp: false })
    expect(none.error?.code).toBe('NOT_FOUND')
    expect(existsSync(join(root, 'd'))).toBe(false)
  })

  it('core/fs.readText has the input, the output and the evidence of the document', async () => {
    const text = '# Notes\n日本語\n'
    const { call, hub } = realHub({}, { 'notes/a.md': text })
    const bytes = Buffer.byteLength(text)
    const result = await call('core/fs.readText', { path: 'notes/a.md' })
    expect(result.data).toEqual({ path: 'notes/a.md', text, bytes })
    expect(result.evidence).toEqual([
      { type: 'file', ref: 'notes/a.md', summary: expect.stringMatching(`${bytes} bytes.*[0-9a-f]{12}`) },
    ])
    for (const wrong of [
      {},
      { path: 1 },
      { path: 'a', maxBytes: 1_023 },
      { path: 'a', maxBytes: 10_485_761 },
      { path: 'a', other: 1 },
    ])
      expect((await call('core/fs.readText', wrong)).error?.code, JSON.stringify(wrong)).toBe('INPUT_SCHEMA_INVALID')
    const card = hub.cards({ dialect: 'none' }).find(({ tool }) => tool === 'core/fs.readText')
    expect(card).toMatchObject({
      capabilities: ['read:fs'],
      parameters: { required: ['path'], additionalProperties: false },
    })
  })

  it('core/fs.writeText has the input, the output and the defaults of the document', async () => {
    const { call, read } = realHub()
    const text = 'long content that leaves the context\n'.repeat(1_000)
    const result = await call('core/fs.writeText', { path: 'out/report.md', text })
    expect(result.data).toEqual({ path: 'out/report.md', bytes: text.length, sha256: sha256(text) })
    expect(read('out/report.md')).toBe(text)
    expect((await call('core/fs.writeText', { path: 'out/report.md', text: 'x' })).error?.code).toBe('CONFLICT')
    for (const wrong of [
      { path: 'a' },
      { text: 'a' },
      { path: 'a', text: 'a', overwrite: 'yes' },
      { path: 'a', text: 'a', mode: 1 },
    ])
      expect((await call('core/fs.writeText', wrong)).error?.code, JSON.stringify(wrong)).toBe('INPUT_SCHEMA_INVALID')
  })

  it('core/fs.listDir lists name, type, size and mtime, and has the limits of the document', async () => {
    const many = Object.fromEntries(Array.from({ length: 2_001 }, (_, index) => [`many/${index}.txt`, '']))
    const { call, data } = realHub({}, { 'a.txt': 'hello', '.hidden': '', 'sub/deep/b.txt': '', ...many })
    const names = async (input: object) => {
      const { entries } = await data('core/fs.listDir', { path: '.', ...input })
      return entries.map((entry: { name: string }) => entry.name)
    }
    const mtime = expect.stringMatching(/^\d{4}-\d\d-\d\dT/)
    expect((await data('core/fs.listDir', { path: '.' })).entries).toEqual([
      { name: 'a.txt', type: 'file', size: 5, mtime },
      { name: 'many', type: 'directory', size: expect.any(Number), mtime },
      { name: 'sub', type: 'directory', size: expect.any(Number), mtime },
    ])
    expect(await names({ includeHidden: true })).toContain('.hidden')
    expect(await names({ path: 'sub', recursive: true })).toEqual(['deep', 'deep/b.txt'])
    expect(await names({ path: 'sub', recursive: true, maxDepth: 1 })).toEqual(['deep'])
    expect(await names({ path: 'many' })).toHaveLength(2_000)
    expect(await names({ path: 'many', maxEntries: 5_000 })).toHaveLength(2_001)
    for (const wrong of [{ maxEntries: 0 }, { maxEntries: 5_001 }, { maxDepth: 0 }, { maxDepth: 11 }])
      expect((await call('core/fs.listDir', { path: '.', ...wrong })).error?.code).toBe('INPUT_SCHEMA_INVALID')
  })

  it('core/fs.searchText finds file, line number and excerpt in the kinds of files of its glob', async () => {
    const kinds = ['md', 'txt', 'log', 'json', 'ts', 'js', 'py', 'java', 'scala']
    const files = Object.fromEntries([...kinds, 'css', 'bin'].map((kind) => [`src/a.${kind}`, 'first\nERROR here\n']))
    const { call, data } = realHub({}, files)
    const { matches } = await data('core/fs.searchText', { root: '.', query: 'ERROR' })
    expect(matches.map(({ file }: { file: string }) => file).sort()).toEqual(
      kinds.map((kind) => `src/a.${kind}`).sort(),
    )
    expect(matches[0]).toEqual({ file: expect.any(String), lineNo: 2, excerpt: 'ERROR here' })
    expect((await data('core/fs.searchText', { root: '.', query: 'ERROR', glob: '**/*.css' })).matches).toHaveLength(1)
    expect((await data('core/fs.searchText', { root: '.', query: 'ERROR', maxMatches: 3 })).matches).toHaveLength(3)
    const two = (await data('core/fs.searchText', { root: '.', query: 'ERROR', maxFiles: 2 })).matches
    expect(new Set(two.map(({ file }: { file: string }) => file)).size).toBe(2)
    for (const wrong of [
      { query: 'x' },
      { root: '.' },
      { root: '.', query: 'x', maxMatches: 5_001 },
      { root: '.', query: 'x', maxFiles: 2_001 },
    ])
      expect((await call('core/fs.searchText', wrong)).error?.code, JSON.stringify(wrong)).toBe('INPUT_SCHEMA_INVALID')
  })

  it('core/fs.sha256 gives the hash and the size of a file', async () => {
    const content = Buffer.from([0, 255, 1, 254])
    const { data } = realHub({}, { 'a.bin': content })
    expect(await data('core/fs.sha256', { path: 'a.bin' })).toMatchObject({ sha256: sha256(content), bytes: 4 })
  })

  it('core/fs.deletePath deletes in two phases, and only with a rule', async () => {
    const { call, root, read } = realHub(DESTRUCTIVE, { 'folder/a.txt': 'a', 'folder/b.txt': 'b' })
    const first = await call('core/fs.deletePath', { path: 'folder', recursive: true })
    expect(first.error).toMatchObject({
      message: expect.stringMatching(/Nothing was deleted.*2 files/),
      fix: { key: 'confirm', value: true },
    })
    expect(read('folder/a.txt')).toBe('a')
    expect((await call('core/fs.deletePath', { path: 'folder', recursive: true, confirm: true })).ok).toBe(true)
    expect(existsSync(join(root, 'folder'))).toBe(false)
    const closed = realHub({}, { 'a.txt': 'a' })
    expect((await closed.call('core/fs.deletePath', { path: 'a.txt', confirm: true })).error?.code).toBe(
      'POLICY_DENIED',
    )
    expect((await closed.call('core/fs.deletePath', { path: 'a.txt', confirm: false })).ok).toBe(false)
    expect(closed.read('a.txt')).toBe('a')
  })

  it('the policy engine says what the second phase needs when it explains the first', async () => {
    const phases = async (policy: Rule[]) => {
      const { hub } = realHub({ policy }, { 'a.txt': 'a' })
      const first = await hub.explain('core/fs.deletePath', { path: 'a.txt' })
      const second = await hub.explain('core/fs.deletePath', { path: 'a.txt', confirm: true })
      expect(second.confirmed).toBeUndefined()
      expect(first.confirmed).toMatchObject({ effect: second.effect, rule: second.rule, source: second.source })
      expect(first.text).toMatch(/\n {2}with confirm: true: \w+\n {4}rule: .+\n {4}source: .+$/)
      expect(first.text).toContain(`with confirm: true: ${second.effect}\n    rule: ${second.rule}\n`)
      return [first.effect, second.effect]
    }
    expect(await phases([])).toEqual(['allow', 'deny'])
    expect(await phases([{ ask: 'danger:destructive' }])).toEqual(['allow', 'ask'])
    expect(await phases([{ allow: 'danger:destructive' }])).toEqual(['allow', 'allow'])
  })

  it('of a file that is too large, readText gives only a digest, the hash and a pointer', async () => {
    const text = 'a line of a very long log\n'.repeat(210_000)
    const { call, hub } = realHub({}, { 'big.log': text })
    const { error, artifacts, content } = await call('core/fs.readText', { path: 'big.log' })
    expect(error).toMatchObject({ code: 'FILE_TOO_LARGE', message: expect.stringContaining(`sha256 ${sha256(text)}`) })
    expect(error?.message).toContain('a line of a very long log')
    expect(JSON.stringify(content).length).toBeLessThan(3_000)
    expect(error?.message).toContain(artifacts[0]!.ref)
    expect(Buffer.from(await hub.artifact(artifacts[0]!.ref)).toString()).toBe(text)
  })
})

describe('the sandbox root', () => {
  it('each request has a folder of its own below sandboxRoot', async () => {
    const sandboxRoot = temporaryFolder()
    const { call, data } = realHub({ core: { sandboxRoot } })
    for (const requestId of ['request-1', 'request-2'])
      await data('core/fs.writeText', { path: 'notes/a.txt', text: requestId }, { requestId })
    const other = join(sandboxRoot, 'request-1/workspace/notes/a.txt')
    expect(readFileSync(other, 'utf8')).toBe('request-1')
    expect((await call('core/fs.readText', { path: other }, { requestId: 'request-1' })).ok).toBe(true)
    const refused = await call('core/fs.readText', { path: other }, { requestId: 'request-2' })
    expect(refused.error?.code).toBe('PATH_OUTSIDE_SANDBOX')
  })
})
