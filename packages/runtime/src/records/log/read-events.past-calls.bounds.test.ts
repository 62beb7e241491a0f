import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../../../../test/support/temporary-folder.ts'
import { pastCalls } from './read-events.ts'

const folder = temporaryFolder('past-calls')
const time = '2026-11-16T10:00:00.000Z'
const of = { callId: 'c', tool: 't', status: 'ok' }
const lines = [
  { seq: 1, time, type: 'run-opened' },
  { seq: 2, time, type: 'call-ended', ...of, summary: 'x'.repeat(500), labels: ['untrusted'] },
  { seq: 3, time, type: 'call-ended', ...of, summary: 'x'.repeat(501), labels: ['trusted'] },
  { seq: 4, time, type: 'call-late', ...of, text: `{"seq":9,"time":"${time}","type":"call-ended"` },
  { seq: 5, time, type: 'call-interrupted', ...of, status: 'interrupted', summary: 's', labels: ['untrusted'] },
  { seq: 6, time: 't'.repeat(40), type: 'call-ended', ...of, labels: 'untrusted' },
  { seq: 7, time, type: 'call-ended', ...of, status: 7 },
]
writeFileSync(join(folder, 'events.jsonl'), lines.map((line) => `${JSON.stringify(line)}\n`).join(''))

const seqs = async (page: Parameters<typeof pastCalls>[1]) => (await pastCalls(folder, page)).map(({ seq }) => seq)

describe('the past calls of a run', () => {
  it.each([
    [{ limit: 9 }, [2, 3, 5, 6, 7]],
    [{ limit: 1 }, [7]],
    [{ limit: 5 }, [2, 3, 5, 6, 7]],
    [{ limit: 9, before: 6 }, [2, 3, 5]],
    [{ limit: 2, before: 6 }, [3, 5]],
    [{ limit: 2, after: 2 }, [3, 5]],
    [{ limit: 9, after: 0 }, [2, 3, 5, 6, 7]],
    [{ limit: 1, after: 0 }, [2]],
    [{ limit: 9, after: 2, before: 6 }, [3, 5]],
    [{ limit: 9, after: 7 }, []],
  ] as const)('are those of %j', async (page, expected) => {
    expect(await seqs(page)).toEqual(expected)
  })

  it('have only texts, of 500 characters at most', async () => {
    const past = { time, callId: 'c', tool: 't', status: 'ok', summary: '', isUntrusted: false }
    expect(await pastCalls(folder, { limit: 9 })).toEqual([
      { ...past, seq: 2, summary: 'x'.repeat(500), isUntrusted: true },
      { ...past, seq: 3, summary: `${'x'.repeat(500)}…` },
      { ...past, seq: 5, status: 'interrupted' },
      { ...past, seq: 6, time: 't'.repeat(40) },
      { ...past, seq: 7, status: '' },
    ])
  })

  it('are refused when the record is not a file', async () => {
    await expect(pastCalls(join(folder, 'events.jsonl'), { limit: 1 })).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: 'events.jsonl cannot be read: the folder cannot be used (ENOTDIR).',
    })
  })
})
