import { execFileSync } from 'node:child_process'
import { closeSync, mkdirSync, readdirSync, readlinkSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { changing } from '../../../../../test/support/changing.ts'
import { countOpenFiles } from '../../../../../test/support/left-behind.ts'
import type { KeptChange } from '../../../../core/src/change.ts'
import type { WriteFiles } from '../../../../core/src/handles.ts'
import { sha256 } from '../../../../core/src/lib/hash.ts'
import { fileAccess } from '../access/choose-access.ts'
import { copyTree } from './copy-tree.ts'

type Workspace = ReturnType<typeof changing>

let ws: Workspace

beforeEach(() => {
  ws = changing()
  for (const name of ['a.txt', 'b.txt', 'c.txt', 'tree/x.txt']) ws.put(name)
  mkdirSync(ws.at('empty'))
  symlinkSync('a.txt', ws.at('l'))
})
afterEach(() => ws.close())

const BEFORE = ['a.txt', 'b.txt', 'c.txt', 'empty', 'l', 'tree', 'tree/x.txt']

/** A handle with somebody else who acts right after a change was put on record, and before it is made. */
function meddling(act: (change: KeptChange) => void, refusal?: string): WriteFiles {
  ws.journal.refusal = refusal
  const journal = Object.assign(Object.create(ws.journal), {
    intend: async (change: KeptChange) => {
      await ws.journal.intend(change)
      act(change)
    },
  })
  return ws.handle({ journal })
}

function swapFile(): void {
  writeFileSync(ws.at('other'), 'other')
  renameSync(ws.at('other'), ws.at('a.txt'))
}

function swapTree(): void {
  renameSync(ws.at('tree'), ws.at('away'))
  mkdirSync(ws.at('tree'))
  writeFileSync(ws.at('tree/other.txt'), 'other')
}

describe('what somebody else put there meanwhile stays, and the change is refused', () => {
  const SWAPPED = ['a.txt', 'away', 'away/x.txt', 'b.txt', 'c.txt', 'empty', 'l', 'tree', 'tree/other.txt']
  const EXCHANGED = /^"tree" changed since it was read\.$/

  it.each<[string, () => Promise<unknown>, RegExp, string[]]>([
    ['a folder that is moved', () => meddling(swapTree).move('tree', 'n'), EXCHANGED, SWAPPED],
    ['a folder that is kept', () => meddling(swapTree).remove('tree', { recursive: true }), EXCHANGED, SWAPPED],
    [
      'a folder that is not kept',
      () => meddling(swapTree, 'it is too large').remove('tree', { recursive: true }),
      EXCHANGED,
      SWAPPED,
    ],
    [
      'a link that is removed',
      () =>
        meddling(() => {
          renameSync(ws.at('l'), ws.at('old-l'))
          symlinkSync('b.txt', ws.at('l'))
        }).remove('l'),
      /^"l" changed since it was read\.$/,
      [...BEFORE.slice(0, 5), 'old-l', ...BEFORE.slice(5)],
    ],
    [
      'a folder that was empty',
      () => meddling(() => writeFileSync(ws.at('empty/new'), '')).remove('empty'),
      /^"empty" is a folder that is not empty\.$/,
      [...BEFORE.slice(0, 4), 'empty/new', ...BEFORE.slice(4)],
    ],
    [
      'the goal of a copied file',
      () => meddling(() => writeFileSync(ws.at('n'), 'other')).copy('a.txt', 'n'),
      /exists already\.$/,
      [...BEFORE.slice(0, 5), 'n', ...BEFORE.slice(5)],
    ],
    [
      'the goal of a copied folder',
      () => meddling(() => mkdirSync(ws.at('n'))).copy('tree', 'n'),
      /exists already\.$/,
      [...BEFORE.slice(0, 5), 'n', ...BEFORE.slice(5)],
    ],
    [
      'the goal of a moved file',
      () => meddling(() => writeFileSync(ws.at('n'), 'other')).move('a.txt', 'n'),
      /exists already\.$/,
      [...BEFORE.slice(0, 5), 'n', ...BEFORE.slice(5)],
    ],
    [
      'a new folder',
      () => meddling(() => writeFileSync(ws.at('n'), '')).makeFolder('n'),
      /exists already\.$/,
      [...BEFORE.slice(0, 5), 'n', ...BEFORE.slice(5)],
    ],
  ])('%s', async (_, work, message, names) => {
    const before = countOpenFiles()
    await expect(work()).rejects.toMatchObject({ code: 'CONFLICT', message: expect.stringMatching(message) })
    expect(ws.names()).toEqual(names)
    expect(countOpenFiles()).toBe(before)
  })

  it('a file that is moved, removed or replaced', async () => {
    const works: ((handle: WriteFiles) => Promise<unknown>)[] = [
      (handle) => handle.move('a.txt', 'n'),
      (handle) => handle.remove('a.txt'),
      (handle) => handle.writeText('a.txt', 'new', { overwrite: true }),
    ]
    for (const work of works) {
      await expect(work(meddling(swapFile))).rejects.toMatchObject({
        code: 'CONFLICT',
        message: '"a.txt" changed since it was read.',
      })
      expect([ws.names(), ws.text('a.txt')]).toEqual([BEFORE, 'other'])
      ws.put('a.txt', 'once more')
    }
    expect(readlinkSync(ws.at('l'))).toBe('a.txt')
  })
})

describe('a folder above that somebody else makes at the same moment', () => {
  const making = ({ op }: KeptChange) => {
    if (op === 'make-folder') mkdirSync(ws.at('p'))
  }

  it('is used', async () => {
    await meddling(making).writeText('p/n.txt', 'x')
    expect(ws.text('p/n.txt')).toBe('x')
  })

  it('stays when the change fails afterwards', async () => {
    const work = meddling((change) => {
      making(change)
      if (change.op === 'create') writeFileSync(ws.at('p/n.txt'), 'other')
    }).writeText('p/n.txt', 'x')
    await expect(work).rejects.toMatchObject({ code: 'CONFLICT' })
    expect(ws.text('p/n.txt')).toBe('other')
  })
})

it('says which of several changes could not be taken back', async () => {
  // Acts between two steps of one call, where nothing else can.
  const seen = new (class extends Map<string, string> {
    override set(path: string, hash: string): this {
      if (path === ws.at('a.txt') && !ws.names().includes('b.txt')) {
        ws.put('b.txt', 'somebody else')
        ws.put('c.txt', 'meddled')
      }
      return super.set(path, hash)
    }
  })()
  const changes = ws.handle({ seen }).changeAll([
    { type: 'remove', path: 'b.txt', replaces: sha256('b.txt') },
    { type: 'replace', path: 'a.txt', content: 'new', replaces: sha256('a.txt') },
    { type: 'replace', path: 'c.txt', content: 'new', replaces: sha256('c.txt') },
  ])
  await expect(changes).rejects.toMatchObject({
    code: 'CONFLICT',
    message: 'The changes failed half way, and "b.txt" could not be taken back.',
    fix: { hint: 'Look at the named files; tool-hub undo knows what they held.' },
    cause: expect.objectContaining({ message: `"${ws.at('c.txt')}" changed since it was read.` }),
  })
  expect(['a.txt', 'b.txt', 'c.txt'].map(ws.text)).toEqual(['a.txt', 'somebody else', 'meddled'])
  expect(seen.get(ws.at('a.txt'))).toBe(sha256('a.txt'))
})

it('does not take a pipe along to another file system', async () => {
  execFileSync('mkfifo', [ws.at('tree/pipe')])
  const parent = fileAccess.openBase(ws.root)
  const signal = new AbortController().signal
  const options = { signal, maxBytes: 1_000, admits: () => true, isFaithful: true }
  await expect(copyTree({ parent, name: 'tree' }, { parent, name: 'n' }, options)).rejects.toMatchObject({
    code: 'PATH_DENIED',
    message: '"pipe" is a pipe, a socket or a device; it cannot be taken to another file system.',
    fix: { hint: 'Remove it by itself first, or leave all where it is.' },
  })
  const count = await copyTree({ parent, name: 'tree' }, { parent, name: 'm' }, { ...options, isFaithful: false })
  expect([count, readdirSync(join(ws.root, 'm'))]).toEqual([{ files: 1, bytes: 10, skipped: 1 }, ['x.txt']])
  closeSync(parent)
})
