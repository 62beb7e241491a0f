import { appendFileSync, mkdirSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { changing } from '../../../../../test/support/changing.ts'
import { treeDigest } from './tree.ts'

let ws: ReturnType<typeof changing>

beforeEach(() => {
  ws = changing()
  for (const name of ['tree/a.txt', 'tree/sub/b.txt', 'tree/sub/c.txt']) ws.put(name)
  symlinkSync('../../out', ws.at('tree/out'))
})
afterEach(() => ws.close())

it('is the same for a tree that was only moved', async () => {
  const digest = await treeDigest(ws.at('tree'))
  renameSync(ws.at('tree'), ws.at('moved'))
  expect(await treeDigest(ws.at('moved'))).toBe(digest)
})

it('tells every change below it', async () => {
  const touches: (() => void)[] = [
    () => appendFileSync(ws.at('tree/a.txt'), 'x'),
    () => utimesSync(ws.at('tree/sub/b.txt'), 1, 1),
    () => renameSync(ws.at('tree/sub/b.txt'), ws.at('tree/sub/d.txt')),
    () => mkdirSync(ws.at('tree/empty')),
    () => rmSync(ws.at('tree/sub/c.txt')),
    () => rmSync(ws.at('tree/out')),
    () => symlinkSync('a.txt', ws.at('tree/out')),
    () => writeFileSync(Buffer.concat([Buffer.from(ws.at('tree/')), Buffer.from([0xff])]), ''),
  ]
  const digests = new Set([await treeDigest(ws.at('tree'))])
  for (const touch of touches) {
    touch()
    digests.add(await treeDigest(ws.at('tree')))
  }
  expect(digests.size).toBe(touches.length + 1)
})

it('does not look behind links', async () => {
  const digest = await treeDigest(ws.at('tree'))
  appendFileSync(ws.at('../out/secret.txt'), 'x')
  expect(await treeDigest(ws.at('tree'))).toBe(digest)
})

it('is made of single files, too, and fails for nothing', async () => {
  expect(await treeDigest(ws.at('tree/a.txt'))).toMatch(/^[0-9a-f]{64}$/)
  await expect(treeDigest(ws.at('gone'))).rejects.toThrow('ENOENT')
})

it('stops when it is aborted, and gives up on endlessly nested folders', async () => {
  await expect(treeDigest(ws.at('tree'), AbortSignal.abort())).rejects.toThrow(/stopped/)
  mkdirSync(ws.at(`deep/${'d/'.repeat(300)}`), { recursive: true })
  await expect(treeDigest(ws.at('deep'))).rejects.toThrow(/more than 256 folders/)
})
