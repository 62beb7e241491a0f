import { closeSync, readdirSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ToolError } from '@tool-hub/core/errors'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { changing, outcome } from '../../../../../test/support/changing.ts'
import { temporaryFolder } from '../../../../../test/support/temporary-folder.ts'
import { sha256 } from '../../../../core/src/lib/hash.ts'
import { fileAccess } from '../access/choose-access.ts'
import { newDraftName } from '../access/steady-changes.ts'
import { copyTree } from './copy-tree.ts'
import { createDraftsLedger } from './drafts-ledger.ts'

let ws: ReturnType<typeof changing>

beforeEach(() => {
  ws = changing()
  for (const name of ['a.txt', 'tree/b.txt', 'tree/sub/c.txt']) ws.put(name)
})
afterEach(() => ws.close())

const BEFORE = ['a.txt', 'tree', 'tree/b.txt', 'tree/sub', 'tree/sub/c.txt']

describe('a source that is missing', () => {
  it.each<[string, (handle: ReturnType<typeof ws.handle>) => Promise<unknown>]>([
    ['copy', (handle) => handle.copy('none/x', 'y')],
    ['move', (handle) => handle.move('none/x', 'y')],
    ['remove', (handle) => handle.remove('none/x')],
    ['changeAll', (handle) => handle.changeAll([{ type: 'remove', path: 'none/x', replaces: sha256('') }])],
  ])('is not made by %s, not even its folder for a moment', async (_, work) => {
    expect(await outcome(work(ws.handle()))).toBe('NOT_FOUND')
    expect([ws.names(), ws.journal.changes]).toEqual([BEFORE, []])
  })
})

describe('a copy', () => {
  it('leaves out drafts, and counts them as left out', async () => {
    ws.put(`tree/${newDraftName()}`)
    ws.put(`tree/sub/${newDraftName()}/x`)
    expect(await ws.handle().copy('tree', 'n')).toMatchObject({ files: 2, skipped: 2 })
    expect(ws.names('n')).toEqual(['b.txt', 'sub', 'sub/c.txt'])
  })

  it('takes each of many files once', async () => {
    for (let number = 0; number < 20; number += 1) ws.put(`many/${number}`)
    expect(await ws.handle().copy('many', 'n')).toMatchObject({ files: 20, skipped: 0 })
    expect(ws.names('n')).toEqual(ws.names('many'))
    expect(Array.from({ length: 20 }, (_, number) => ws.text(`n/${number}`))).toEqual(
      Array.from({ length: 20 }, (_, number) => `many/${number}`),
    )
  })

  it('that takes the place of the original has its links, times and permissions', async () => {
    symlinkSync('b.txt', ws.at('tree/l'))
    for (const name of ['tree/b.txt', 'tree/sub']) utimesSync(ws.at(name), 1_000, 2_000.5)
    const parent = fileAccess.openBase(ws.root)
    const signal = new AbortController().signal
    const options = { signal, maxBytes: 24, admits: () => true, isFaithful: true }
    const count = await copyTree({ parent, name: 'tree' }, { parent, name: 'copy' }, options)
    expect(count).toEqual({ files: 2, bytes: 24, skipped: 0 })
    // Before the folder is read, which changes its time.
    for (const name of ['copy/b.txt', 'copy/sub'])
      expect(statSync(ws.at(name))).toMatchObject({ atimeMs: 1_000_000, mtimeMs: 2_000_500 })
    expect(ws.names('copy')).toEqual(['b.txt', 'l', 'sub', 'sub/c.txt'])
    const less = copyTree({ parent, name: 'tree' }, { parent, name: 'less' }, { ...options, maxBytes: 23 })
    await expect(less).rejects.toThrow('more than 23 bytes')
    closeSync(parent)
  })
})

describe('a move', () => {
  const mayRead = (path: string) => !path.endsWith('secret.txt')

  it.each([
    ['secret.txt', 'open.txt', 'PATH_DENIED'],
    ['secret.txt', 'd/secret.txt', 'ok'],
    ['a.txt', 'secret.txt/x.txt', 'NOT_FOUND'],
    ['a.txt', 'd/a.txt', 'ok'],
    ['tree', 'd/tree', 'ok'],
  ])('of %s to %s is %s where policy does not let a secret be read', async (from, to, expected) => {
    ws.put('secret.txt')
    expect(await outcome(ws.handle({ mayRead }).move(from, to))).toBe(expected)
  })

  it('tells of outside only what leaves a root that is not trusted', async () => {
    const outside = temporaryFolder('outside')
    writeFileSync(join(outside, 'page'), '')
    const both = changing({ roots: [{ path: outside, mode: 'write', untrusted: true }] })
    both.put('mine')
    let told = 0
    const onUntrusted = () => {
      told += 1
    }
    const handle = both.handle({ onUntrusted })
    await handle.move('mine', join(outside, 'mine'))
    await handle.move(join(outside, 'mine'), join(outside, 'mine2'))
    expect(told).toBe(0)
    await handle.move(join(outside, 'page'), 'page')
    expect(told).toBeGreaterThan(0)
    both.close()
  })
})

describe('a removed tree', () => {
  it('gives its room back when it was not taken away', async () => {
    const journal = Object.assign(Object.create(ws.journal), {
      intend: () => Promise.reject(new ToolError('RECORDS_UNAVAILABLE', 'full')),
    })
    expect(await outcome(ws.handle({ journal }).remove('tree', { recursive: true }))).toBe('RECORDS_UNAVAILABLE')
    expect([ws.names(), readdirSync(ws.journal.folder)]).toEqual([BEFORE, []])
    expect((journal as typeof ws.journal).released).toBe(1)
    await ws.handle().remove('tree', { recursive: true })
    expect(ws.journal.released).toBe(0)
  })

  it('is removed without being kept where nothing is kept', async () => {
    expect(await ws.handle({ journal: undefined }).remove('tree', { recursive: true })).toMatchObject({ files: 2 })
    expect([ws.names(), readdirSync(ws.journal.folder)]).toEqual([['a.txt'], []])
  })
})

describe('a source of bytes', () => {
  /** Counts how often its signal was aborted. */
  function source(steps: readonly (() => Uint8Array)[]) {
    let at = 0
    const told = { ends: 0 }
    const content: AsyncIterable<Uint8Array> = {
      [Symbol.asyncIterator]: () => ({
        next: async () => {
          const step = steps[at]
          at += 1
          return step ? { done: false, value: step() } : { done: true, value: undefined }
        },
        return: async () => {
          told.ends += 1
          return { done: true, value: undefined }
        },
      }),
    }
    return { content, told }
  }
  const piece = () => Buffer.from('x')

  it('is aborted when the write ends before it, and only then', async () => {
    const whole = source([piece, piece])
    await ws.handle().writeBytes('whole', whole.content)
    expect([ws.text('whole'), whole.told.ends]).toEqual(['xx', 0])
    const stop = new AbortController()
    const stopping = () => {
      stop.abort()
      return piece()
    }
    const cut = source([piece, stopping, piece])
    expect(await outcome(ws.handle({ signal: () => stop.signal }).writeBytes('cut', cut.content))).toBe('ABORTED')
    expect(cut.told.ends).toBe(1)
    const large = source([piece, piece, piece])
    expect(await outcome(ws.handle().writeBytes('large', large.content, { maxBytes: 1 }))).toBe('FILE_TOO_LARGE')
    expect(large.told.ends).toBe(1)
    expect(ws.names()).toEqual([...BEFORE, 'whole'])
  })

  it('may give more than is written in one piece', async () => {
    const content = Buffer.alloc(4_194_304 + 3, 'abc')
    expect(await ws.handle().writeBytes('n', content)).toEqual({ bytes: content.length, sha256: sha256(content) })
    expect(ws.text('n') === content.toString()).toBe(true)
  })
})

it('does not mind that somebody has removed the list of drafts', () => {
  const folder = join(temporaryFolder('ledger'), 'drafts')
  const ledger = createDraftsLedger(folder)
  const end = ledger.begin('/a')
  for (const name of readdirSync(folder)) rmSync(join(folder, name))
  end()
  expect(() => ledger.close()).not.toThrow()
})
