import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  lstatSync,
  lutimesSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { changing, MemoryJournal, outcome } from '../../../../../test/support/changing.ts'
import { bundleModule } from '../../../../../test/support/run-module.ts'
import { treeDigest } from './tree.ts'

let ws: ReturnType<typeof changing>
let disk: string
const mounted: string[] = []

beforeEach(() => {
  ws = changing()
  disk = ws.at('disk')
})
afterEach(() => {
  for (const folder of mounted.splice(0)) execFileSync('umount', ['--lazy', folder])
  ws.close()
})

function mount(folder: string, options: string) {
  mkdirSync(folder, { recursive: true })
  execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder])
  mounted.push(folder)
}

describe.skipIf(process.getuid?.() !== 0)('a disk', () => {
  it('that is full refuses with the old content intact and no draft', async () => {
    mount(disk, 'size=64k')
    ws.put('disk/old.txt', 'old')
    ws.put('tree/large.bin', Buffer.alloc(100_000))
    const large = 'x'.repeat(100_000)
    const handle = ws.handle()
    const changes = [
      () => handle.writeText('disk/old.txt', large, { overwrite: true }),
      () => handle.writeText('disk/p/new.txt', large),
      () => handle.copy('tree', 'disk/tree'),
      () => handle.copy('tree/large.bin', 'disk/large.bin'),
      () => handle.move('tree', 'disk/tree'),
      () =>
        handle.changeAll([
          { type: 'create', path: 'disk/a.txt', content: 'a' },
          { type: 'create', path: 'disk/b.txt', content: large },
        ]),
    ]
    for (const change of changes) {
      await expect(change()).rejects.toThrow(
        expect.objectContaining({ code: 'OUT_OF_RESOURCES', message: expect.stringContaining('the disk is full') }),
      )
      expect(ws.names()).toEqual(['disk', 'disk/old.txt', 'tree', 'tree/large.bin'])
      expect(ws.text('disk/old.txt')).toBe('old')
    }
    expect(await outcome(handle.writeText('disk/old.txt', 'new', { overwrite: true }))).toBe('ok')
  })

  it('that may only be read refuses everything', async () => {
    mount(disk, 'size=64k')
    ws.put('disk/old.txt', 'old')
    execFileSync('mount', ['-o', 'remount,ro', disk])
    const handle = ws.handle()
    expect(await outcome(handle.writeText('disk/old.txt', 'new', { overwrite: true }))).toBe('PATH_DENIED')
    expect(await outcome(handle.writeText('disk/p/new.txt', 'new'))).toBe('PATH_DENIED')
    expect(await outcome(handle.remove('disk/old.txt'))).toBe('PATH_DENIED')
    expect(await outcome(handle.move('disk/old.txt', 'x.txt'))).toBe('PATH_DENIED')
    expect(await outcome(handle.makeFolder('disk/p'))).toBe('PATH_DENIED')
    expect(ws.names()).toEqual(['disk', 'disk/old.txt'])
  })

  it('that is another one gets files and trees by copying, and gives them back', async () => {
    mount(disk, 'size=1m')
    for (const name of ['a.txt', 'tree/b.txt', 'tree/sub/c.txt']) ws.put(name)
    symlinkSync('b.txt', ws.at('tree/link'))
    const handle = ws.handle()
    await handle.move('a.txt', 'disk/a.txt')
    await handle.move('tree', 'disk/p/tree')
    expect(ws.names()).toEqual([
      'disk',
      'disk/a.txt',
      'disk/p',
      'disk/p/tree',
      ...['b.txt', 'link', 'sub', 'sub/c.txt'].map((name) => `disk/p/tree/${name}`),
    ])
    const moves = ws.journal.changes.filter((change) => change.op === 'move')
    expect(moves.map(({ digest }) => digest)).toEqual([
      await treeDigest(ws.at('disk/a.txt')),
      await treeDigest(ws.at('disk/p/tree')),
    ])
    await handle.move('disk/p/tree', 'tree')
    expect(ws.text('tree/link')).toBe('tree/b.txt')
  })

  it('that is another one gets a tree with its owners, times and permissions', async () => {
    mount(disk, 'size=1m')
    for (const name of ['tree/b.txt', 'tree/sub/c.txt']) ws.put(name)
    symlinkSync('b.txt', ws.at('tree/link'))
    for (const name of ['tree', 'tree/b.txt', 'tree/sub/c.txt']) chownSync(ws.at(name), 1234, 4321)
    chmodSync(ws.at('tree/sub'), 0o510)
    lutimesSync(ws.at('tree/link'), 1e9, 1e9)
    for (const name of ['tree/sub/c.txt', 'tree/sub', 'tree']) utimesSync(ws.at(name), 1e9, 1e9)
    const facts = (top: string) =>
      ['', '/b.txt', '/link', '/sub', '/sub/c.txt'].map((name) => {
        const { mode, uid, gid, mtimeMs } = lstatSync(ws.at(top + name))
        return { name, mode, uid, gid, mtimeMs: Math.round(mtimeMs) }
      })
    const before = facts('tree')
    await ws.handle().move('tree', 'disk/tree')
    expect(facts('disk/tree')).toEqual(before)
  })

  it('that is another one gets no tree of which a part would be lost, nor keeps one', async () => {
    mount(disk, 'size=1m')
    for (const name of ['tree/b.txt', 'tree/sub/c.txt']) ws.put(name)
    execFileSync('mkfifo', [ws.at('tree/sub/pipe')])
    const before = ws.names()
    await expect(ws.handle().move('tree', 'disk/tree')).rejects.toThrow(/"pipe" is a pipe, a socket or a device/)
    const journal = new MemoryJournal(disk)
    expect(await outcome(ws.handle({ journal }).remove('tree', { recursive: true }))).toBe('PATH_DENIED')
    expect(ws.names()).toEqual(before)
    expect([...ws.journal.changes, ...journal.changes]).toEqual([])
  })

  it('that is another one gets nothing that is too large, and is not written to', async () => {
    mount(disk, 'size=1m')
    ws.put('huge.bin', '')
    truncateSync(ws.at('huge.bin'), 2 ** 40)
    await expect(ws.handle().move('huge.bin', 'disk/huge.bin')).rejects.toThrow(
      /1099511627776 bytes to copy, the limit/,
    )
    expect(ws.names()).toEqual(['disk', 'huge.bin'])
  })

  it('that is another one keeps a removed tree as a copy', async () => {
    mount(disk, 'size=1m')
    for (const name of ['tree/b.txt', 'tree/sub/c.txt']) ws.put(name)
    symlinkSync('../out', ws.at('tree/out'))
    const journal = new MemoryJournal(disk)
    await ws.handle({ journal }).remove('tree', { recursive: true })
    expect(ws.names().filter((name) => name.startsWith('tree'))).toEqual([])
    expect(readFileSync(join(disk, 'tree-0/sub/c.txt'), 'utf8')).toBe('tree/sub/c.txt')
    expect(journal.changes).toEqual([
      expect.objectContaining({ tree: 'tree-0', digest: await treeDigest(join(disk, 'tree-0')) }),
    ])
    expect(ws.outside()).toEqual(['secret.txt: SECRET'])
  })

  it('that is too small for a removed tree leaves it where it is, and gives the room back', async () => {
    mount(disk, 'size=64k')
    ws.put('tree/large.bin', Buffer.alloc(100_000))
    const journal = new MemoryJournal(disk)
    expect(await outcome(ws.handle({ journal }).remove('tree', { recursive: true }))).toBe('OUT_OF_RESOURCES')
    expect(ws.names()).toEqual(['disk', 'tree', 'tree/large.bin'])
    expect(journal.changes).toEqual([])
    expect(journal.released).toBe(1)
  })

  it('that is another one keeps the copy of a tree of which only a part can be deleted', async () => {
    mount(disk, 'size=1m')
    for (const name of ['tree/a.txt', 'tree/stuck/b.txt']) ws.put(name)
    // What is mounted on cannot be deleted, not even by root.
    const journal = new MemoryJournal(disk)
    const intend = async () => mount(ws.at('tree/stuck'), 'size=64k')
    const change = ws.handle({ journal: Object.assign(Object.create(journal), { intend }) })
    await expect(change.remove('tree', { recursive: true })).rejects.toMatchObject({
      code: 'UPSTREAM_ERROR',
      message: expect.stringMatching(/Only a part of .*tree.* could be removed \(EBUSY\); the rest stands/),
      fix: { hint: expect.stringContaining('undo brings back what is missing') },
    })
    expect(ws.names('tree')).toEqual(['stuck'])
    for (const name of ['a.txt', 'stuck/b.txt'])
      expect(readFileSync(join(disk, 'tree-0', name), 'utf8')).toBe(`tree/${name}`)
    expect(journal.released).toBe(0)
  })

  it('that is mounted inside a folder is not removed with it', async () => {
    mount(ws.at('tree/mounted'), 'size=64k')
    ws.put('tree/mounted/x.txt')
    expect(await outcome(ws.handle().remove('tree', { recursive: true }))).toBe('PATH_DENIED')
    expect(ws.text('tree/mounted/x.txt')).toBe('tree/mounted/x.txt')
  })
})

it('a process without free descriptors fails, leaves nothing, and works when there are some', async () => {
  const module = await bundleModule('test/support/write-without-descriptors.ts')
  writeFileSync(ws.at('old.txt'), 'old')
  ws.put('tree/sub/x.txt')
  const command = `ulimit -n 64 && exec "$0" "$1" "$2"`
  const printed = execFileSync('sh', ['-c', command, process.execPath, module, ws.root], { encoding: 'utf8' })
  const outcomes: string[] = JSON.parse(printed)
  expect(outcomes.slice(0, 2)).toEqual(['OUT_OF_RESOURCES', 'OUT_OF_RESOURCES'])
  expect(outcomes.slice(-5)).toEqual(['ok', 'ok', 'ok', 'ok', 'ok'])
  expect([...new Set(outcomes)].sort()).toEqual(['NOT_FOUND', 'OUT_OF_RESOURCES', 'ok'])
  expect(ws.names().filter((name) => name.includes('.tool-hub'))).toEqual([])
  expect(ws.text('old.txt')).toBe('new')
})
