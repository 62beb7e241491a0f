import { describe, expect, it } from 'vitest'
import { ended, started } from '../../../../../test/support/record-run.ts'
import type { EventBody } from '../../records/log/events.ts'
import { LiveLines } from './live-lines.ts'

const time = '2026-11-15T10:00:00.000Z'
const line = (seq: number, event: EventBody, run = 'run-a') => ({ run, seq, time, event, bytes: seq * 100 })

describe('LiveLines', () => {
  it('holds a bounded number of calls; beyond, the record has to be read', () => {
    const live = new LiveLines()
    for (let seq = 1; seq <= 20_001; seq++) live.add(line(seq, ended(`c-${seq}`, { caller: 'test' })))
    expect(live.queued).toBe(0)
    expect(live.behind()).toMatchObject([{ run: 'run-a', calls: [], missingTo: 20_001 }])
    live.add(line(20_002, ended('c-next', { caller: 'test' })))
    const [run] = live.behind()
    live.settle(run!, { seq: 20_001, bytes: 2_000_100 })
    expect(live.behind()).toMatchObject([{ missingTo: 0, calls: [{ call: { callId: 'c-next' } }] }])
  })

  it('has the record read where it did not hear a line, or not the start of a call', () => {
    const live = new LiveLines()
    live.add(line(1, started('c-1')))
    live.add(line(3, ended('c-2', { caller: 'test' })))
    expect(live.behind()).toMatchObject([{ missingTo: 2 }])
    live.add(line(1, { type: 'run-opened', run: 'run-b', pid: 1, durability: 'full' }, 'run-b'))
    live.add(line(2, ended('c-unknown'), 'run-b'))
    expect(live.behind()[1]).toMatchObject({ run: 'run-b', missingTo: 2, calls: [] })
  })

  it('forgets a run that is closed and in the index', () => {
    const live = new LiveLines()
    live.add(line(1, { type: 'run-closed', calls: 0, failures: 0 }))
    const [run] = live.behind()
    live.settle(run!, { seq: 1, bytes: 100 })
    expect(live.has('run-a')).toBe(false)
  })
})
