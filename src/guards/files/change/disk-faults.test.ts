import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { changing, MemoryJournal, outcome } from '../../../../test/support/changing.ts'
import { bundleModule } from '../../../../test/support/run-module.ts'
import { treeDigest } from './tree-digest.ts'

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
        expect.objectContaining({ code: 'UPSTREAM_ERROR', message: expect.stringContaining('the disk is full') }),
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

  it('that is too small for a removed tree leaves it where it is', async () => {
    mount(disk, 'size=64k')
    ws.put('tree/large.bin', Buffer.alloc(100_000))
    const journal = new MemoryJournal(disk)
    expect(await outcome(ws.handle({ journal }).remove('tree', { recursive: true }))).toBe('UPSTREAM_ERROR')
    expect(ws.names()).toEqual(['disk', 'tree', 'tree/large.bin'])
    expect(journal.changes).toEqual([])
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
  expect(outcomes.slice(0, 2)).toEqual(['UPSTREAM_ERROR', 'UPSTREAM_ERROR'])
  expect(outcomes.slice(-5)).toEqual(['ok', 'ok', 'ok', 'ok', 'ok'])
  expect([...new Set(outcomes)].sort()).toEqual(['NOT_FOUND', 'UPSTREAM_ERROR', 'ok'])
  expect(ws.names().filter((name) => name.includes('.tool-hub'))).toEqual([])
  expect(ws.text('old.txt')).toBe('new')
})
