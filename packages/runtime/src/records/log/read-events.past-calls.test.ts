import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { pastCalls } from './read-events.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tool-hub-past-calls-'))
  const time = '2026-11-16T10:00:00.000Z'
  const ended = (seq: number, more: object = {}) =>
    JSON.stringify({
      seq,
      time,
      type: 'call-ended',
      callId: `c-${seq}`,
      tool: 't',
      status: 'ok',
      summary: 's',
      ...more,
    })
  const lines = [
    JSON.stringify({ seq: 1, time, type: 'run-opened' }),
    ended(2, { labels: ['untrusted'] }),
    JSON.stringify({ seq: 3, time, type: 'call-started', callId: 'c-4', tool: 't' }),
    JSON.stringify({ seq: 4, time, type: 'call-interrupted', callId: 'c-4', tool: 't', status: 'interrupted' }),
    'not JSON at all',
    `{"seq":5,"time":"${time}","type":"call-ended",broken`,
    ended(6, { summary: 'x'.repeat(10_000), tool: { a: 1 } }),
    ended(7),
  ]
  await writeFile(join(folder, 'events.jsonl'), `${lines.join('\n')}\n`)
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const seqs = async (page: Parameters<typeof pastCalls>[1]) => (await pastCalls(folder, page)).map(({ seq }) => seq)

describe('pastCalls', () => {
  it('gives the last calls before a line, or the first after one, oldest first', async () => {
    expect(await seqs({ limit: 2 })).toEqual([6, 7])
    expect(await seqs({ limit: 2, before: 5 })).toEqual([2, 4])
    expect(await seqs({ limit: 2, after: 2 })).toEqual([4])
    expect(await seqs({ limit: 9, after: 4 })).toEqual([6, 7])
    expect(await pastCalls(join(folder, 'nowhere'), { limit: 1 })).toEqual([])
  })

  it('takes only texts of a bounded length, and says what came from outside', async () => {
    const calls = await pastCalls(folder, { limit: 9 })
    expect(calls[0]).toMatchObject({ callId: 'c-2', status: 'ok', isUntrusted: true })
    expect(calls[1]).toMatchObject({ status: 'interrupted', summary: '' })
    expect(calls[2]).toMatchObject({ tool: '' })
    expect(calls[2]!.summary).toHaveLength(501)
  })
})
