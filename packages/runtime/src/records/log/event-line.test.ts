import { rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ended, eventsOf, jsonLines, newRun, runsFolder, started } from '../../../../../test/support/record-run.ts'
import { systemClock } from '../../../../core/src/context.ts'
import { RunRecords, type RunRecordsOptions } from './run-records.ts'
import { verifyRun } from './verify-run.ts'

let root: string
beforeAll(async () => {
  root = await runsFolder()
})
afterAll(() => rm(root, { recursive: true, force: true }))

const options: RunRecordsOptions = { durability: 'effects', clock: systemClock }

describe('values that resist', () => {
  const cyclic: Record<string, unknown> = {}
  cyclic.self = cyclic
  let deep: unknown = 1
  for (let depth = 0; depth < 5_000; depth++) deep = [deep]
  const getter = Object.defineProperty({}, 'x', {
    enumerable: true,
    get: () => {
      throw new Error('no')
    },
  })
  const revoked = Proxy.revocable({}, {})
  revoked.revoke()

  const no = () => {
    throw new Error('no')
  }
  const hostile: Record<string, unknown> = {}
  for (const trap of ['get', 'has', 'ownKeys', 'getPrototypeOf', 'getOwnPropertyDescriptor']) hostile[trap] = no
  const unreadable = Object.defineProperty(new Error('m'), 'stack', { get: no, enumerable: true })
  Object.defineProperty(unreadable, 'message', { get: no })
  const date = Object.assign(new Date(0), { toISOString: () => ({ toJSON: no }), n: 1n })

  it.each([
    ['a proxy whose traps throw', new Proxy({}, hostile)],
    ['such a proxy deep inside', { list: [new Proxy([], hostile)], fn: new Proxy(() => 1, hostile) }],
    ['an error whose stack and message throw', unreadable],
    ['a date that lies', [date, 1n]],
    ['a cycle', cyclic],
    ['a BigInt', { n: 10n ** 30n }],
    ['5,000 levels', deep],
    ['a getter that throws', getter],
    ['a revoked proxy', revoked.proxy],
    [
      'a toJSON that throws',
      {
        toJSON() {
          throw new Error('no')
        },
      },
    ],
    ['lone surrogates and newlines', '\ud800\n\u2028 \udfff'],
    ['20 MB of text', 'é'.repeat(10_000_000)],
    ['a million items', Array.from({ length: 1_000_000 }, () => 1)],
    ['undefined', undefined],
    ['__proto__ keys', JSON.parse('{"__proto__":{"a":1},"constructor":1}')],
  ])('are recorded all the same: %s', async (_name, value) => {
    const records = RunRecords.open(root, newRun(), options)
    records.append(started('c1', { args: value }))
    const details = value
    const message = typeof value === 'string' ? value : 'm'
    records.append(ended('c1', { status: 'error', summary: message, error: { code: 'INTERNAL', message, details } }))
    await records.close()
    const events = await eventsOf(records.folder)
    expect(events.map((event) => event.type)).toEqual(['run-opened', 'call-started', 'call-ended', 'run-closed'])
    expect(await verifyRun(records.folder)).toMatchObject({ ok: true, lines: 4 })
    expect((await stat(join(records.folder, 'events.jsonl'))).size).toBeLessThan(100_000)
    expect(await jsonLines(join(records.folder, 'logs/errors.jsonl'))).toMatchObject([{ callId: 'c1' }])
  })

  it('may be the error itself, and the event: it is recorded, or told to be lost', async () => {
    const records = RunRecords.open(root, newRun(), options)
    records.append(ended('c1', { status: 'error', error: new Proxy({}, hostile) as never }))
    records.append(new Proxy({}, hostile) as never)
    await records.close()
    const types = (await eventsOf(records.folder)).map((event) => event.type)
    expect(types).toEqual(['run-opened', 'call-ended', 'records-lost', 'run-closed'])
    expect((await verifyRun(records.folder)).problems).toMatchObject([{ line: 3 }])
  })
})
