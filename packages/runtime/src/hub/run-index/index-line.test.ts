import { describe, expect, it } from 'vitest'
import { ended, started } from '../../../../../test/support/record-run.ts'
import type { EventBody } from '../../records/log/events.ts'
import { indexLine } from './index-line.ts'

const time = '2026-11-15T10:00:00.000Z'
const at = Date.parse(time)
const line = (seq: number, event: EventBody) => ({ run: 'run-a', seq, time, event })

describe('indexLine', () => {
  it('makes a running call of a start', () => {
    const event = started('c-1', {
      targets: ['write:fs /a'],
      args: { path: 'a' },
      principal: 'token:ci',
      parent: 'c-0',
    })
    expect(indexLine(line(4, event))).toEqual({
      callId: 'c-1',
      run: 'run-a',
      seq: 4,
      tool: 'notes.save',
      caller: 'test',
      principal: 'token:ci',
      parent: 'c-0',
      status: 'running',
      startedAt: at,
      effect: 'allow',
      rule: 'allow notes.save',
      targets: ['write:fs /a'],
      request: 'a',
    })
  })

  it('completes it with its end, which keeps the place and the facts of the start', () => {
    const start = indexLine(line(4, started('c-1')))
    const end = ended('c-1', {
      status: 'error',
      summary: 'no',
      approvedBy: 'ada',
      error: { code: 'TIMEOUT', message: 'x' },
    })
    expect(indexLine(line(9, end), start)).toMatchObject({
      seq: 4,
      startedAt: at - 1,
      caller: 'test',
      status: 'error',
      durationMs: 1.5,
      error: 'TIMEOUT',
      summary: 'no',
      approvedBy: 'ada',
    })
  })

  it('has the attempts of a call that was tried more than once', () => {
    expect(indexLine(line(2, ended('c-1', { attempts: 3 })))?.attempts).toBe(3)
    expect(indexLine(line(2, ended('c-1')))?.attempts).toBeUndefined()
  })

  it('makes a whole call of an end that had no start', () => {
    const call = indexLine(line(2, ended('c-1', { caller: 'test', effect: 'deny', status: 'denied', durationMs: 20 })))
    expect(call).toMatchObject({ seq: 2, caller: 'test', effect: 'deny', status: 'denied', startedAt: at - 20 })
  })

  it('tells of a call that was interrupted', () => {
    const start = indexLine(line(4, started('c-1')))
    const event = { type: 'call-interrupted', callId: 'c-1', tool: 'notes.save', status: 'interrupted' } as const
    expect(indexLine(line(9, event), start)).toMatchObject({ seq: 4, status: 'interrupted', caller: 'test' })
  })

  it.each([
    { type: 'run-closed', calls: 1, failures: 0 },
    { type: 'call-late', callId: 'c-1', tool: 't', ok: true, durationMs: 1 },
    { type: 'call-ended', callId: 7, tool: 't' },
  ])('has nothing to say of %j', (event) => {
    expect(indexLine(line(1, event as EventBody))).toBeUndefined()
  })

  it('takes only texts of a bounded length from a record that was tampered with', () => {
    const event = { ...ended('c-1'), caller: { a: 1 }, summary: 'x'.repeat(10_000), targets: [1, 'b'], durationMs: 'y' }
    const call = indexLine({ ...line(1, event as unknown as EventBody), time: 'no time' })
    expect(call).toMatchObject({ caller: '', targets: ['', 'b'], durationMs: 0, startedAt: 0 })
    expect(call?.summary).toHaveLength(501)
  })
})
