import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ToolError } from '@tool-hub/core/errors'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { changing, outcome } from '../../../../../test/support/changing.ts'
import { countOpenFiles } from '../../../../../test/support/left-behind.ts'
import { sha256 } from '../../../../core/src/lib/hash.ts'
import { treeDigest } from './tree.ts'

let ws: ReturnType<typeof changing>

beforeEach(() => {
  ws = changing()
  for (const name of ['a.txt', 'tree/b.txt', 'tree/sub/c.txt']) ws.put(name)
})
afterEach(() => ws.close())

it('removes a file and keeps its content', async () => {
  expect(await ws.handle().remove('a.txt')).toEqual({ path: ws.at('a.txt'), type: 'file', files: 1, bytes: 5 })
  expect(ws.names()).toEqual(['tree', 'tree/b.txt', 'tree/sub', 'tree/sub/c.txt'])
  expect(ws.journal.kept.get(sha256('a.txt'))?.toString()).toBe('a.txt')
  expect(ws.journal.ops(ws.root)).toEqual(['remove a.txt'])
})

it('needs a tool that may destroy, and policy at the moment of use', async () => {
  await expect(ws.handle({ canOverwrite: false }).remove('a.txt')).rejects.toThrow(
    expect.objectContaining({ code: 'POLICY_DENIED', fix: expect.objectContaining({ value: 'danger:destructive' }) }),
  )
  const permits = (_: string, access: string) => {
    if (access === 'overwrite') throw new ToolError('POLICY_DENIED', 'not decided')
  }
  expect(await outcome(ws.handle({ permits }).remove('a.txt'))).toBe('POLICY_DENIED')
  expect(existsSync(ws.at('a.txt'))).toBe(true)
})

it('removes a link, never what it leads to, and says that it cannot be undone', async () => {
  symlinkSync('../out', ws.at('l'))
  symlinkSync('tree', ws.at('inside'))
  expect(await ws.handle().remove('l')).toMatchObject({ type: 'symlink' })
  expect(await ws.handle().remove('inside', { recursive: true })).toMatchObject({ type: 'symlink' })
  expect(await outcome(ws.handle().remove('gone'))).toBe('NOT_FOUND')
  expect(ws.names()).toHaveLength(5)
  expect(ws.outside()).toEqual(['secret.txt: SECRET'])
  expect(ws.notices[0]).toMatch(/cannot be undone: it is a link, to "\.\.\/out"/)
})

it('removes nothing over a link', async () => {
  symlinkSync('../out', ws.at('l'))
  symlinkSync('tree', ws.at('inside'))
  expect(await outcome(ws.handle().remove('l/secret.txt'))).toBe('PATH_OUTSIDE_SANDBOX')
  expect(await outcome(ws.handle().remove('inside/b.txt'))).toBe('PATH_DENIED')
  expect(ws.outside()).toEqual(['secret.txt: SECRET'])
})

it('removes a pipe without waiting for it', async () => {
  execFileSync('mkfifo', [ws.at('pipe')])
  expect(await ws.handle().remove('pipe')).toMatchObject({ type: 'other' })
})

it('removes an empty folder, and one that is not empty only when told to', async () => {
  mkdirSync(ws.at('empty'), 0o750)
  expect(await ws.handle().remove('empty/')).toMatchObject({ type: 'directory', files: 0 })
  expect(ws.journal.changes).toEqual([{ op: 'remove-folder', path: ws.at('empty'), mode: 0o750 }])
  await expect(ws.handle().remove('tree')).rejects.toThrow(
    expect.objectContaining({ code: 'CONFLICT', fix: expect.objectContaining({ key: 'recursive', value: true }) }),
  )
  expect(ws.names('tree')).toHaveLength(3)
})

it('takes a whole tree to where it is kept, with the digest that it has there', async () => {
  expect(await ws.handle().remove('tree', { recursive: true })).toEqual({
    path: ws.at('tree'),
    type: 'directory',
    files: 2,
    bytes: 'tree/b.txttree/sub/c.txt'.length,
  })
  expect(ws.names()).toEqual(['a.txt'])
  const kept = join(ws.journal.folder, 'tree-0')
  expect(readFileSync(join(kept, 'sub/c.txt'), 'utf8')).toBe('tree/sub/c.txt')
  expect(ws.journal.changes).toEqual([
    { op: 'remove-tree', path: ws.at('tree'), digest: await treeDigest(kept), bytes: 24, tree: 'tree-0' },
  ])
})

it('removes a tree that cannot be kept, with names that are no text, and says so', async () => {
  ws.journal.refusal = 'it is too large'
  writeFileSync(Buffer.concat([Buffer.from(ws.at('tree/')), Buffer.from([0xff, 0xfe])]), 'x')
  symlinkSync(join(ws.base, 'out'), ws.at('tree/sub/out'))
  expect(await ws.handle().remove('tree', { recursive: true })).toMatchObject({ files: 4 })
  expect(ws.names()).toEqual(['a.txt'])
  expect(ws.outside()).toEqual(['secret.txt: SECRET'])
  expect(ws.notices).toEqual([expect.stringContaining('cannot be undone: it is too large')])
  ws.put('tree/x')
  await ws.handle({ journal: undefined }).remove('tree', { recursive: true })
  expect(ws.names()).toEqual(['a.txt'])
})

it('leaves a whole tree when anything in it is protected, forbidden by a rule, or a root', async () => {
  const remove = (call = {}) => outcome(ws.handle(call).remove('tree', { recursive: true }))
  const permits = (path: string) => {
    if (path.endsWith('c.txt')) throw new ToolError('POLICY_DENIED', 'keep it')
  }
  expect(await remove({ permits })).toBe('POLICY_DENIED')
  ws.put('tree/sub/.git/config')
  expect(await remove()).toBe('PATH_DENIED')
  expect(ws.names('tree')).toHaveLength(5)
  expect(ws.journal.changes).toEqual([])
})

it('never removes a root, nor a folder that holds one', async () => {
  const base = changing()
  const library = base.at('deep/library')
  mkdirSync(library, { recursive: true })
  const nested = changing({
    roots: [
      { path: base.root, mode: 'write' },
      { path: library, mode: 'write' },
    ],
  })
  const remove = (path: string) => outcome(nested.handle().remove(path, { recursive: true }))
  for (const path of ['.', nested.root, library, join(library, '..')]) expect(await remove(path)).toBe('PATH_DENIED')
  expect(existsSync(library)).toBe(true)
  nested.close()
  base.close()
})

it('removes nothing when it is stopped, at whichever look', async () => {
  for (let step = 0; ; step += 1) {
    const stop = new AbortController()
    let asked = 0
    const signal = () => {
      asked += 1
      if (asked > step) stop.abort()
      return stop.signal
    }
    const result = await outcome(ws.handle({ signal }).remove('tree', { recursive: true }))
    expect(ws.names()).toHaveLength(result === 'ok' ? 1 : 5)
    if (result === 'ok') break
    expect(result).toBe('ABORTED')
  }
})

it('closes every descriptor', async () => {
  const before = countOpenFiles()
  chmodSync(ws.at('tree'), 0o700)
  for (const path of ['a.txt', 'tree', 'gone', 'tree/sub', 'a.txt/x']) await outcome(ws.handle().remove(path))
  await outcome(ws.handle().remove('tree', { recursive: true }))
  expect(countOpenFiles()).toBe(before)
})
