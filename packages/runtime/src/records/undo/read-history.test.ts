import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../../../../test/support/temporary-folder.ts'
import { sha256 } from '../../../../core/src/lib/hash.ts'
import { FIRST_PREV, linkLine } from '../log/event-line.ts'
import { readChangeHistory, readKept } from './read-history.ts'

const TIME = '2026-01-01T00:00:00.000Z'
let folder: string
beforeEach(() => {
  folder = join(temporaryFolder('history'), 'r')
  mkdirSync(join(folder, 'undo'), { recursive: true })
})

const of = { callId: 'c1', tool: 't' }
const changing = { type: 'file-changing', ...of, op: 'make-folder', path: '/a' }
const undone = { type: 'change-undone', ...of, run: 'x', change: 7 }

function write(bodies: ReadonlyArray<object>, change = (text: string) => text): void {
  let last = { seq: 0, hash: FIRST_PREV }
  const lines = bodies.map((body) => {
    const linked = linkLine(last, TIME, JSON.stringify(body))
    last = linked
    return linked.line
  })
  writeFileSync(join(folder, 'events.jsonl'), change(lines.join('')))
}

describe('the history of a run', () => {
  it('has its changes in their order, and those that it took back', async () => {
    write([{ type: 'run-opened', run: 'r' }, changing, undone, { ...changing, path: '/b', callId: 'c2' }])
    const change = { run: 'r', time: TIME, tool: 't' }
    expect(await readChangeHistory(folder)).toEqual({
      changes: [
        { ...change, seq: 2, callId: 'c1', change: { op: 'make-folder', path: '/a' } },
        { ...change, seq: 4, callId: 'c2', change: { op: 'make-folder', path: '/b' } },
      ],
      undone: [{ run: 'x', seq: 7, by: 'c1' }],
    })
  })

  it.each<[string, object, ((text: string) => string)?]>([
    ['a changed line', changing, (text) => text.replace('/a', '/b')],
    ['a line that is none of ours', changing, (text) => text.replace('"hash"', '"hush"')],
    ['a change without a call', { ...changing, callId: 1 }],
    ['a change of no tool', { ...changing, tool: undefined }],
    ['a change that we never write', { ...changing, path: 'a' }],
    ['an undone change without a run', { ...undone, run: 1 }],
    ['an undone change without a number', { ...undone, change: '7' }],
  ])('is refused with %s', async (_name, body, change) => {
    write([body], change)
    await expect(readChangeHistory(folder)).rejects.toMatchObject({
      code: 'CONFLICT',
      message: 'The record of the changes of run r is not as it was written.',
      fix: { hint: 'Look at it with tool-hub audit verify r; it cannot be used to undo anything.' },
    })
  })
})

describe('what was kept of a file', () => {
  const collect = async (text: string, bytes = text.length) => {
    const pieces: Uint8Array[] = []
    for await (const piece of readKept(folder, { sha256: sha256(text), bytes, mode: 0o644 })) pieces.push(piece)
    return Buffer.concat(pieces).toString()
  }
  const keep = (name: string, text: string) => writeFileSync(join(folder, 'undo', sha256(name)), text)

  it('is read whole', async () => {
    const text = 'x'.repeat(200_000)
    keep(text, text)
    expect((await collect(text)) === text).toBe(true)
    keep('', '')
    expect(await collect('')).toBe('')
  })

  it('is refused when it is longer, other or gone', async () => {
    const tampered = {
      code: 'CONFLICT',
      message: `What was kept (undo/${sha256('old').slice(0, 12)}…) was changed since.`,
      fix: { hint: 'It cannot be restored; look for another copy.' },
    }
    keep('old', 'new')
    await expect(collect('old')).rejects.toMatchObject(tampered)
    keep('old', 'old')
    await expect(collect('old', 2)).rejects.toMatchObject(tampered)
    await expect(collect('gone')).rejects.toMatchObject({
      code: 'NOT_FOUND',
      message: 'The previous content has been deleted.',
    })
    symlinkSync(join(folder, 'undo', sha256('old')), join(folder, 'undo', sha256('link')))
    await expect(collect('link')).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
  })
})
