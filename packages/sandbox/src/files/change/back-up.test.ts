import fs, { chmodSync, statSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { changing, outcome } from '../../../../../test/support/changing.ts'
import type { FileChange } from '../../../../core/src/handles.ts'
import { sha256 } from '../../../../core/src/lib/hash.ts'

const { linkSync, renameSync } = fs
let ws: ReturnType<typeof changing>

/** As on a file system without hard links, or for a file of somebody else with fs.protected_hardlinks. */
function forbidLinks(errno: string): void {
  fs.linkSync = () => {
    throw Object.assign(new Error(errno), { code: errno, syscall: 'link' })
  }
  syncBuiltinESMExports()
}

beforeEach(() => {
  ws = changing()
  for (const name of ['a.txt', 'b.txt', 'c.txt']) ws.put(name)
  chmodSync(ws.at('a.txt'), 0o640)
})
afterEach(() => {
  Object.assign(fs, { linkSync, renameSync })
  syncBuiltinESMExports()
  ws.close()
})

const replace = (path: string): FileChange => ({ type: 'replace', path, content: 'new', replaces: sha256(path) })
const CHANGES: FileChange[] = [
  { type: 'create', path: 'n.txt', content: 'n' },
  replace('a.txt'),
  { type: 'remove', path: 'b.txt', replaces: sha256('b.txt') },
  replace('c.txt'),
]

describe.each(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EXDEV'])(
  'where a second link fails with %s',
  (errno) => {
    beforeEach(() => forbidLinks(errno))

    it('several changes are made', async () => {
      expect(await outcome(ws.handle().changeAll(CHANGES))).toBe('ok')
      expect(ws.names()).toEqual(['a.txt', 'c.txt', 'n.txt'])
      expect([ws.text('a.txt'), ws.text('c.txt'), ws.text('n.txt')]).toEqual(['new', 'new', 'n'])
      expect(statSync(ws.at('a.txt')).mode & 0o777).toBe(0o640)
    })

    it('all are taken back when the last one fails', async () => {
      const journal = Object.assign(Object.create(ws.journal), {
        intend: async ({ path }: { path: string }) => {
          if (path === ws.at('c.txt')) writeFileSync(path, 'meddled')
        },
      })
      await expect(ws.handle({ journal }).changeAll(CHANGES)).rejects.toThrow(/c\.txt.* changed since it was read/)
      expect(ws.names()).toEqual(['a.txt', 'b.txt', 'c.txt'])
      expect(['a.txt', 'b.txt', 'c.txt'].map(ws.text)).toEqual(['a.txt', 'b.txt', 'meddled'])
      expect(statSync(ws.at('a.txt')).mode & 0o777).toBe(0o640)
    })
  },
)

it('leaves no empty file behind when a new one cannot get its name by renaming either', async () => {
  forbidLinks('EXDEV')
  fs.renameSync = () => {
    throw Object.assign(new Error('EIO'), { code: 'EIO', syscall: 'rename' })
  }
  syncBuiltinESMExports()
  expect(await outcome(ws.handle().writeText('n.txt', 'n'))).toBe('UPSTREAM_ERROR')
  expect(ws.names()).toEqual(['a.txt', 'b.txt', 'c.txt'])
})

it('does not go on where linking fails for another reason', async () => {
  forbidLinks('EIO')
  expect(await outcome(ws.handle().changeAll([replace('a.txt')]))).toBe('UPSTREAM_ERROR')
  expect(ws.names()).toEqual(['a.txt', 'b.txt', 'c.txt'])
})
