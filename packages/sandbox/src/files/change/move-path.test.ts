import { chmodSync, existsSync, mkdirSync, readlinkSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { ToolError } from '@tool-hub/core/errors'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { changing, outcome } from '../../../../../test/support/changing.ts'
import { countOpenFiles } from '../../../../../test/support/left-behind.ts'
import { treeDigest } from './tree.ts'

let ws: ReturnType<typeof changing>

beforeEach(() => {
  ws = changing()
  for (const name of ['a.txt', 'b.txt', 'tree/c.txt', 'tree/sub/d.txt']) ws.put(name)
})
afterEach(() => ws.close())

const BEFORE = ['a.txt', 'b.txt', 'tree', 'tree/c.txt', 'tree/sub', 'tree/sub/d.txt']

it('moves a file to a new folder, without leave to destroy, and remembers that it was read', async () => {
  chmodSync(ws.at('a.txt'), 0o755)
  ws.seen.set(ws.at('a.txt'), 'hash')
  const moved = await ws.handle({ canOverwrite: false }).move('a.txt', 'p/q/n.txt')
  expect(moved).toEqual({ from: ws.at('a.txt'), to: ws.at('p/q/n.txt') })
  expect(ws.text('p/q/n.txt')).toBe('a.txt')
  expect(statSync(ws.at('p/q/n.txt'))).toMatchObject({ mode: 0o100755, nlink: 1 })
  expect(existsSync(ws.at('a.txt'))).toBe(false)
  expect(ws.seen.get(ws.at('p/q/n.txt'))).toBe('hash')
  expect(ws.journal.ops(ws.root)).toEqual(['make-folder p', 'make-folder p/q', 'move a.txt'])
  expect(ws.journal.changes.at(-1)).toMatchObject({ to: ws.at('p/q/n.txt'), digest: await treeDigest(moved.to) })
})

it('moves a folder whose digest stays the same', async () => {
  const digest = await treeDigest(ws.at('tree'))
  await ws.handle().move('tree', 'p/moved')
  expect(ws.names('p')).toEqual(['moved', 'moved/c.txt', 'moved/sub', 'moved/sub/d.txt'])
  expect(await treeDigest(ws.at('p/moved'))).toBe(digest)
  expect(ws.journal.changes.at(-1)).toMatchObject({ op: 'move', digest })
})

it('moves a link itself', async () => {
  symlinkSync('../out', ws.at('l'))
  await ws.handle().move('l', 'm')
  expect(readlinkSync(ws.at('m'))).toBe('../out')
  expect(ws.outside()).toEqual(['secret.txt: SECRET'])
})

it('replaces nothing and goes through no link', async () => {
  mkdirSync(ws.at('empty'))
  symlinkSync('../out', ws.at('l'))
  symlinkSync('gone', ws.at('dangling'))
  const names = ws.names()
  const move = (from: string, to: string) => outcome(ws.handle().move(from, to))
  for (const to of ['b.txt', 'tree', 'empty', 'dangling', 'a.txt']) expect(await move('a.txt', to)).toBe('CONFLICT')
  for (const to of ['b.txt', 'empty', 'tree']) expect(await move('tree', to)).toBe('CONFLICT')
  expect(await move('a.txt', 'l/a.txt')).toBe('PATH_OUTSIDE_SANDBOX')
  expect(await move('l/secret.txt', 'x.txt')).toBe('PATH_OUTSIDE_SANDBOX')
  expect(await move('gone.txt', 'x.txt')).toBe('NOT_FOUND')
  expect(await move('a.txt/', 'x.txt')).toBe('NOT_FOUND')
  expect(await move('tree', 'tree/sub/tree')).toBe('INPUT_SCHEMA_INVALID')
  expect(await move('.', 'x')).toBe('PATH_DENIED')
  expect(await outcome(ws.handle().move('a.txt', 'p/x.txt', { mkdirp: false }))).toBe('NOT_FOUND')
  expect(ws.names()).toEqual(names)
  expect(ws.outside()).toEqual(['secret.txt: SECRET'])
})

it('is protected at both ends, and makes no secret readable', async () => {
  ws.put('tree/sub/.git/config')
  ws.put('.env')
  ws.put('deep/.env')
  const move = (from: string, to: string) => outcome(ws.handle().move(from, to))
  expect(await move('tree', 'other')).toBe('PATH_DENIED')
  expect(await move('a.txt', '.bashrc')).toBe('PATH_DENIED')
  expect(await move('.env', 'env.txt')).toBe('PATH_DENIED')
  expect(await move('.env', '.env.old')).toBe('ok')
  expect(await move('deep', 'deeper')).toBe('ok')
})

it('asks policy about both ends of every entry', async () => {
  const asked: string[] = []
  const permits = (path: string, access: string) => {
    asked.push(`${access} ${path.slice(ws.root.length + 1)}`)
    if (path.endsWith('n/sub/d.txt')) throw new ToolError('POLICY_DENIED', 'no')
  }
  expect(await outcome(ws.handle({ permits }).move('tree', 'n'))).toBe('POLICY_DENIED')
  expect(asked).toContain('write tree/c.txt')
  expect(asked).toContain('write n/c.txt')
  expect(ws.names()).toEqual(BEFORE)
})

it('tells that something comes from outside when it leaves an untrusted root', async () => {
  const outside = changing()
  outside.put('page.txt')
  const both = changing({ roots: [{ path: outside.root, mode: 'write', untrusted: true }] })
  let isTold = false
  await both.handle({ onUntrusted: () => (isTold = true) }).move(outside.at('page.txt'), 'page.txt')
  expect(isTold).toBe(true)
  expect(both.text('page.txt')).toBe('page.txt')
  both.close()
  outside.close()
})

it('lets one of many have the name, and loses nothing', async () => {
  const sources = Array.from({ length: 10 }, (_, index) => `s${index}.txt`)
  for (const name of sources) ws.put(name)
  const other = ws.another()
  const results = await Promise.all(
    sources.map((name, index) => outcome(ws.handle({}, index % 2 ? other : undefined).move(name, 'goal.txt'))),
  )
  expect(results.filter((result) => result === 'ok')).toHaveLength(1)
  expect(ws.text('goal.txt')).toBe(sources[results.indexOf('ok')])
  expect(ws.names()).toHaveLength(BEFORE.length + 10)
  other.filesRoot.roots.close()
})

it('changes nothing when it is stopped, at whichever look, and closes every descriptor', async () => {
  const before = countOpenFiles()
  for (let step = 0; ; step += 1) {
    const stop = new AbortController()
    let asked = 0
    const signal = () => {
      asked += 1
      if (asked > step) stop.abort()
      return stop.signal
    }
    const result = await outcome(ws.handle({ signal }).move('tree', 'p/tree'))
    if (result === 'ok') break
    expect(result).toBe('ABORTED')
    expect(ws.names()).toEqual(BEFORE)
  }
  expect(ws.names()).toContain(join('p', 'tree'))
  expect(countOpenFiles()).toBe(before)
})
