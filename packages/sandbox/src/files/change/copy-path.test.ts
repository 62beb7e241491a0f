import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, renameSync, statSync, symlinkSync, truncateSync } from 'node:fs'
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

const BEFORE = ['a.txt', 'tree', 'tree/b.txt', 'tree/sub', 'tree/sub/c.txt']

it('copies a file with its mode, on record', async () => {
  chmodSync(ws.at('a.txt'), 0o750)
  const copied = await ws.handle({ canOverwrite: false }).copy('a.txt', 'p/n.txt')
  expect(copied).toEqual({ path: ws.at('p/n.txt'), files: 1, bytes: 5, skipped: 0 })
  expect(ws.text('p/n.txt')).toBe('a.txt')
  expect(statSync(ws.at('p/n.txt'))).toMatchObject({ mode: 0o100750, nlink: 1 })
  expect(ws.journal.ops(ws.root)).toEqual(['make-folder p', 'create p/n.txt'])
  expect(ws.journal.changes.at(-1)).toMatchObject({ after: { sha256: sha256('a.txt'), mode: 0o750 } })
})

it('copies a tree but for links, special files, secrets and what is protected', async () => {
  execFileSync('mkfifo', [ws.at('tree/pipe')])
  symlinkSync('../../out', ws.at('tree/out'))
  ws.put('tree/sub/.env')
  ws.put('tree/.git/config')
  chmodSync(ws.at('tree/sub'), 0o750)
  const copied = await ws.handle().copy('tree', 'n')
  expect(copied).toEqual({ path: ws.at('n'), files: 2, bytes: 24, skipped: 4 })
  expect(ws.names('n')).toEqual(['b.txt', 'sub', 'sub/c.txt'])
  expect(ws.text('n/sub/c.txt')).toBe('tree/sub/c.txt')
  expect(statSync(ws.at('n/sub')).mode & 0o777).toBe(0o750)
  expect(ws.journal.changes).toEqual([{ op: 'create-tree', path: ws.at('n'), digest: await treeDigest(ws.at('n')) }])
})

it('reads over links that stay inside, and writes over none', async () => {
  symlinkSync('tree', ws.at('l'))
  symlinkSync('../out', ws.at('out'))
  expect(await ws.handle().copy('l/b.txt', 'n.txt')).toMatchObject({ files: 1 })
  expect(await ws.handle().copy('l', 'm')).toMatchObject({ files: 2 })
  const copy = (from: string, to: string) => outcome(ws.handle().copy(from, to))
  expect(await copy('a.txt', 'l/x.txt')).toBe('PATH_DENIED')
  expect(await copy('out/secret.txt', 'x.txt')).toBe('PATH_OUTSIDE_SANDBOX')
  expect(await copy('out', 'x')).toBe('PATH_OUTSIDE_SANDBOX')
  expect(await copy('a.txt', 'out/x.txt')).toBe('PATH_OUTSIDE_SANDBOX')
  expect(ws.outside()).toEqual(['secret.txt: SECRET'])
})

it('replaces nothing, and leaves nothing behind when it fails', async () => {
  mkdirSync(ws.at('empty'))
  ws.put('.env')
  execFileSync('mkfifo', [ws.at('pipe')])
  const names = ws.names()
  const copy = (from: string, to: string, call = {}) => outcome(ws.handle(call).copy(from, to))
  for (const to of ['tree', 'empty', 'a.txt']) expect(await copy('a.txt', to)).toBe('CONFLICT')
  for (const to of ['a.txt', 'empty', 'tree']) expect(await copy('tree', to)).toBe('CONFLICT')
  expect(await copy('tree', 'tree/sub/tree')).toBe('INPUT_SCHEMA_INVALID')
  expect(await copy('.', 'all')).toBe('INPUT_SCHEMA_INVALID')
  expect(await copy('.env', 'env.txt')).toBe('PATH_DENIED')
  expect(await copy('a.txt', '.bashrc')).toBe('PATH_DENIED')
  expect(await copy('pipe', 'x')).toBe('PATH_DENIED')
  expect(await copy('gone', 'x')).toBe('NOT_FOUND')
  expect(await copy('tree', 'p/n', { maxBytes: 20 })).toBe('FILE_TOO_LARGE')
  expect(await copy('a.txt', 'p/n', { maxBytes: 4 })).toBe('FILE_TOO_LARGE')
  const permits = (path: string, access: string) => {
    if (access === 'read' && path.endsWith('c.txt')) throw new ToolError('POLICY_DENIED', 'not read')
  }
  expect(await copy('tree', 'n', { permits })).toBe('POLICY_DENIED')
  expect(ws.names()).toEqual(names)
})

it('refuses what is too large before it writes anything, with the numbers', async () => {
  ws.put('huge.bin', '')
  truncateSync(ws.at('huge.bin'), 2 ** 40)
  let drafts = 0
  const journal = Object.assign(Object.create(ws.journal), { intend: async () => (drafts += 1) })
  const copy = (from: string, call = {}) => ws.handle({ journal, ...call }).copy(from, 'n')
  await expect(copy('huge.bin')).rejects.toThrow(/1099511627776 bytes to copy, the limit is 10737418240/)
  await expect(copy('a.txt', { maxBytes: 4 })).rejects.toThrow(/5 bytes to copy, the limit is 4/)
  mkdirSync(ws.at('folder'))
  renameSync(ws.at('huge.bin'), ws.at('folder/huge.bin'))
  expect(await outcome(copy('folder'))).toBe('FILE_TOO_LARGE')
  expect(drafts).toBe(0)
})

it('stops in the middle of a large file', async () => {
  ws.put('large.bin', '')
  truncateSync(ws.at('large.bin'), 2 ** 33)
  const names = ws.names()
  expect(await outcome(ws.handle({ signal: () => AbortSignal.timeout(50) }).copy('large.bin', 'x'))).toBe('ABORTED')
  expect(ws.names()).toEqual(names)
})

it('leaves nothing behind when it is stopped, at whichever look, and closes every descriptor', async () => {
  const before = countOpenFiles()
  for (let step = 0; ; step += 1) {
    const stop = new AbortController()
    let asked = 0
    const signal = () => {
      asked += 1
      if (asked > step) stop.abort()
      return stop.signal
    }
    const result = await outcome(ws.handle({ signal }).copy('tree', 'p/tree'))
    if (result === 'ok') break
    expect(result).toBe('ABORTED')
    expect(ws.names()).toEqual(BEFORE)
  }
  expect(countOpenFiles()).toBe(before)
})
