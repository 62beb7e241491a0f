import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { ended, started, TestDisk } from '../../../../../test/support/record-run.ts'
import { temporaryFolder } from '../../../../../test/support/temporary-folder.ts'
import type { Clock } from '../../../../core/src/context.ts'
import { AppendFile } from './append-file.ts'
import { CallLog, seqOf } from './call-log.ts'
import type { CallEnded, EventBody } from './events.ts'

let folder: string
let timers: Array<{ readonly ms: number; readonly run: () => void; readonly options: unknown; isCancelled: boolean }>
beforeEach(() => {
  folder = temporaryFolder('call-log')
  timers = []
})

const clock: Clock = {
  now: () => 0,
  after(ms, run, options) {
    const timer = { ms, run, options, isCancelled: false }
    timers.push(timer)
    return () => {
      timer.isCancelled = true
    }
  },
}
const open = (disk = new TestDisk()) => new CallLog(folder, new AppendFile(join(folder, 'events'), disk), clock)
const read = (name: string) => readFileSync(join(folder, `${name}.jsonl`), 'utf8')
const seqs = (name: string) => [...read(name).matchAll(/^\{"seq":(\d+)/gm)].map(([, seq]) => Number(seq))
const place = (seq: number, event: EventBody) => ({ seq, time: 't', body: JSON.stringify(event) })

function end(log: CallLog, seq: number, status: CallEnded['status'] = 'ok', more: Partial<CallEnded> = {}): void {
  const event = ended(`c${seq}`, { status, ...more })
  log.add(event, place(seq, event))
}

describe('the logs of calls', () => {
  it('get the calls that ended, 100 ms behind, and those that failed twice', () => {
    const log = open()
    log.add(started('c2'), place(1, started('c2')))
    expect(timers).toEqual([])
    end(log, 2)
    end(log, 3, 'error', { error: { code: 'INTERNAL', message: 'm', stack: 'at x' } })
    end(log, 4, 'pending')
    expect(timers).toMatchObject([{ ms: 100, options: { background: true } }])
    expect(read('tools')).toBe('')
    timers[0]!.run()
    expect([seqs('tools'), seqs('errors')]).toEqual([[2, 3, 4], [3]])
    expect(JSON.parse(read('tools').split('\n')[0]!)).toMatchObject({ callId: 'c2', caller: 'test', status: 'ok' })
    expect([read('tools').includes('at x'), read('errors').includes('at x')]).toEqual([false, true])
    expect(log.bytes).toEqual({ tools: read('tools').length, errors: read('errors').length })
    expect([log.lines.calls, log.lines.failures]).toEqual([3, 1])
    end(log, 5)
    expect(timers).toHaveLength(2)
    log.close()
    expect(timers[1]!.isCancelled).toBe(true)
    expect(seqs('tools')).toEqual([2, 3, 4, 5])
  })

  it('are written when 64 KB wait', () => {
    const log = open()
    end(log, 1, 'ok', { summary: 'x'.repeat(70_000) })
    expect(seqs('tools')).toEqual([1])
    expect(timers).toEqual([])
    log.close()
  })

  it('are not written before the events are', () => {
    const disk = new TestDisk({ left: 0 })
    const events = new AppendFile(join(folder, 'events'), disk)
    const log = new CallLog(folder, events, clock)
    events.append('line\n')
    end(log, 1)
    log.flush()
    expect(read('tools')).toBe('')
    disk.fixed = true
    log.release()
    expect(seqs('tools')).toEqual([1])
    end(log, 2)
    log.close()
    expect(seqs('tools')).toEqual([1, 2])
    events.close()
  })

  it('are repaired: a torn line and lines of events that are gone are cut, and none is written twice', () => {
    const lines = [2, 3, 5].map((seq) => `{"seq":${seq},"a":1}\n`)
    writeFileSync(join(folder, 'tools.jsonl'), `${lines.join('')}{"seq":6,`, { mode: 0o600 })
    writeFileSync(join(folder, 'errors.jsonl'), `${lines[1]}noise\n${lines[2]}`, { mode: 0o600 })
    const log = open()
    log.prepareRepair()
    expect([read('tools'), read('errors')]).toEqual([lines.join(''), lines[1]])
    for (const seq of [2, 3, 5]) end(log, seq, 'error')
    log.flush()
    expect([seqs('tools'), seqs('errors')]).toEqual([
      [2, 3, 5],
      [3, 5],
    ])
    expect(log.cutAfter(5)).toBe(0)
    expect(log.cutAfter(9)).toBe(0)
    expect(seqs('tools')).toEqual([2, 3, 5])
    expect(log.cutAfter(3)).toBe(2)
    expect(seqs('tools')).toEqual([2, 3])
    end(log, 4)
    log.close()
    expect(seqs('tools')).toEqual([2, 3, 4])
  })

  it('count the events that only the log of failures knows', () => {
    writeFileSync(join(folder, 'errors.jsonl'), '{"seq":3,"a":1}\n{"seq":7,"a":1}\n', { mode: 0o600 })
    const log = open()
    log.prepareRepair()
    expect(log.cutAfter(3)).toBe(4)
    expect(seqs('errors')).toEqual([3])
    log.close()
  })
})

describe('the number that a line begins with', () => {
  it.each([
    ['{"seq":12,"time"', 12],
    [`{"seq":${'9'.repeat(15)},"time"`, 999_999_999_999_999],
    [`{"seq":${'9'.repeat(16)},"time"`, undefined],
    [' {"seq":12,"time"', undefined],
    ['{"seq":12}', undefined],
    ['', undefined],
  ])('of %s is %s', (line, seq) => {
    expect(seqOf(Buffer.from(line))).toBe(seq)
  })
})
