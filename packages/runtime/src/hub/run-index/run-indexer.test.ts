import { readFileSync } from 'node:fs'
import { appendFile, mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createMemoryStore } from '@tool-hub/library/stores'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { eventually } from '../../../../../test/support/eventually.ts'
import { ended, started } from '../../../../../test/support/record-run.ts'
import { systemClock } from '../../../../core/src/context.ts'
import type { CallIndex, IndexedCall } from '../../../../core/src/store.ts'
import { fakeClock } from '../../../../testing/src/fake-clock.ts'
import { type RecordedLine, RunRecords } from '../../records/log/run-records.ts'
import { RunIndexer } from './run-indexer.ts'

let folder: string
let calls: CallIndex
const listeners = new Set<(line: RecordedLine) => void>()
const closers: (() => Promise<unknown>)[] = []

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tool-hub-index-'))
  calls = createMemoryStore().calls
})

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
  listeners.clear()
  await rm(folder, { recursive: true, force: true })
})

/** A record that is really written; `isHeard` as by the hub of this process. */
function record(run: string, { isHeard = true } = {}): RunRecords {
  const onAppend = (line: RecordedLine) => {
    if (isHeard) for (const listener of listeners) listener(line)
  }
  const records = RunRecords.open(folder, run, { durability: 'effects', clock: systemClock, onAppend })
  closers.push(() => records.close())
  return records
}

const hub = {
  onRecord(listener: (line: RecordedLine) => void) {
    listeners.add(listener)
    return () => listeners.delete(listener)
  },
}

function indexer(clock = systemClock): RunIndexer {
  const index = new RunIndexer({ calls, runsFolder: folder, clock })
  closers.push(() => index.close())
  return index
}

const statusOf = async (callId: string) => (await calls.call(callId))?.status
const eventsFile = (run: string) => join(folder, run, 'events.jsonl')

describe('RunIndexer, following', () => {
  it('has what was just recorded after a flush, with how far the record is read', async () => {
    const index = indexer()
    index.follow(hub)
    const records = record('run-a')
    records.append(started('c-1'))
    records.append(started('c-2'))
    records.append(ended('c-1'))
    await index.flush()
    expect(await calls.calls({ run: 'run-a', limit: 10 })).toMatchObject([
      { callId: 'c-2', status: 'running', seq: 3 },
      { callId: 'c-1', status: 'ok', seq: 2, caller: 'test' },
    ])
    expect(await calls.run('run-a')).toMatchObject({ calls: 2, failures: 0, caller: 'test' })
    expect(await calls.position('run-a')).toBe((await readFile(eventsFile('run-a'))).length)
  })

  it('writes by itself soon, and many calls in several batches that are each short', async () => {
    const clock = fakeClock()
    const put = vi.spyOn(calls, 'put')
    indexer(clock).follow(hub)
    const records = record('run-a')
    for (let number = 0; number < 450; number++) records.append(ended(`c-${number}`, { caller: 'test' }))
    await clock.advance(60)
    await eventually(async () => {
      // Between the batches it rests.
      await clock.advance(1_000)
      expect((await calls.run('run-a'))?.calls).toBe(450)
    })
    expect(put.mock.calls.map(([batch]) => batch.calls.length)).toEqual([200, 200, 50])
  })

  it('does not index a line before the file has it', async () => {
    const index = indexer()
    index.follow(hub)
    const records = record('run-a')
    await index.flush()
    const position = await calls.position('run-a')
    const event = ended('c-1', { caller: 'test' })
    // As a disk that refuses for a while leaves it.
    for (const listener of listeners)
      listener({ run: 'run-a', seq: 2, time: new Date().toISOString(), event, bytes: position + 500 })
    await index.flush()
    expect(await calls.call('c-1')).toBeUndefined()
    expect(await calls.position('run-a')).toBe(position)
    records.append(event)
    await index.flush()
    expect(await statusOf('c-1')).toBe('ok')
  })

  it('tells of calls as they start and end, each with the facts of its start', async () => {
    const index = indexer()
    index.follow(hub)
    const told: IndexedCall[] = []
    const stop = index.onCall((call) => told.push(call))
    const records = record('run-a')
    records.append(started('c-1'))
    records.append(ended('c-1'))
    stop()
    records.append(started('c-2'))
    expect(told).toMatchObject([
      { callId: 'c-1', status: 'running' },
      { callId: 'c-1', status: 'ok', caller: 'test' },
    ])
  })

  it('continues a run that was opened again, also with what it had not received', async () => {
    const earlier = record('run-a', { isHeard: false })
    earlier.append(started('c-1'))
    earlier.append(ended('c-0', { caller: 'before' }))
    await earlier.close()
    const index = indexer()
    index.follow(hub)
    const records = record('run-a')
    records.append(ended('c-2', { caller: 'test' }))
    await index.flush()
    expect(await statusOf('c-0')).toBe('ok')
    expect(await statusOf('c-1')).toBe('interrupted')
    expect(await statusOf('c-2')).toBe('ok')
    records.append(ended('c-3', { caller: 'test' }))
    await index.flush()
    expect(await calls.run('run-a')).toMatchObject({ calls: 4, failures: 1 })
  })

  it('gives up its queue when the store fails, and catches up from the records when it works again', async () => {
    const put = vi.spyOn(calls, 'put').mockImplementation(() => {
      throw new Error('locked')
    })
    const index = indexer()
    index.follow(hub)
    const records = record('run-a')
    records.append(started('c-1'))
    await index.flush()
    records.append(ended('c-1'))
    await index.flush()
    expect(await calls.call('c-1')).toBeUndefined()
    put.mockRestore()
    await index.flush()
    expect(await calls.call('c-1')).toMatchObject({ status: 'ok', caller: 'test', seq: 2 })
  })

  it('has at no moment anything that the file of the record has not, so that a kill leaves it behind at most', async () => {
    const index = indexer()
    const puts: { bytes: number; size: number; calls: readonly IndexedCall[]; text: string }[] = []
    const put = calls.put.bind(calls)
    vi.spyOn(calls, 'put').mockImplementation((batch) => {
      const text = readFileSync(eventsFile('run-a'), 'utf8')
      puts.push({ bytes: batch.runs[0]!.bytes, size: Buffer.byteLength(text), calls: batch.calls, text })
      return put(batch)
    })
    index.follow(hub)
    const records = record('run-a')
    const flushes: Promise<void>[] = []
    for (let number = 0; number < 300; number++) {
      records.append(started(`c-${number}`))
      if (number % 3 === 0) records.append(ended(`c-${number}`))
      if (number % 50 === 0) flushes.push(index.flush(), new Promise((resolve) => setImmediate(resolve)))
      if (number % 100 === 0) await Promise.all(flushes)
    }
    await index.flush()
    expect(puts.length).toBeGreaterThan(2)
    for (const { bytes, size, calls: rows, text } of puts) {
      expect(bytes).toBeLessThanOrEqual(size)
      for (const { callId, status } of rows) {
        const type = status === 'running' ? 'call-started' : 'call-ended'
        expect(text).toContain(`"type":"${type}","callId":"${callId}"`)
      }
    }
    const truth = createMemoryStore().calls
    await new RunIndexer({ calls: truth, runsFolder: folder }).catchUp()
    expect(await calls.calls({ limit: 1_000 })).toEqual(await truth.calls({ limit: 1_000 }))
    expect(await calls.run('run-a')).toEqual(await truth.run('run-a'))
  })
})

describe('RunIndexer, catching up', () => {
  it('reads records of other processes from where it was, and nothing when nothing changed', async () => {
    const other = record('run-b', { isHeard: false })
    other.append(started('c-1'))
    await other.written()
    const positions = vi.spyOn(calls, 'position')
    const index = indexer()
    expect(await index.catchUp()).toEqual({ runs: 1, calls: 1 })
    expect(await statusOf('c-1')).toBe('running')
    positions.mockClear()
    expect(await index.catchUp()).toEqual({ runs: 0, calls: 0 })
    expect(positions).not.toHaveBeenCalled()
    other.append(ended('c-1'))
    await other.written()
    expect(await index.catchUp()).toEqual({ runs: 1, calls: 1 })
    expect(await calls.call('c-1')).toMatchObject({ status: 'ok', seq: 2, caller: 'test' })
    expect((await calls.run('run-b'))?.calls).toBe(1)
  })

  it('waits for the other half of a line', async () => {
    const other = record('run-b', { isHeard: false })
    other.append(ended('c-1', { caller: 'test' }))
    await other.close()
    const whole = await readFile(eventsFile('run-b'))
    await truncate(eventsFile('run-b'), whole.length - 10)
    const index = indexer()
    await index.catchUp()
    expect(await statusOf('c-1')).toBe('ok')
    await appendFile(eventsFile('run-b'), whole.subarray(whole.length - 10))
    await index.catchUp()
    expect(await calls.position('run-b')).toBe(whole.length)
  })

  it('builds the index anew when a record is not the one that was read', async () => {
    const other = record('run-b', { isHeard: false })
    other.append(ended('c-1', { caller: 'test' }))
    await other.close()
    const index = indexer()
    await index.catchUp()
    const [first] = (await readFile(eventsFile('run-b'), 'utf8')).split('\n')
    await writeFile(eventsFile('run-b'), `${first}\n`)
    await index.catchUp()
    expect(await calls.call('c-1')).toBeUndefined()
    expect(await calls.position('run-b')).toBe(first!.length + 1)
  })

  it('continues past records that cannot be read', async () => {
    const other = record('run-b', { isHeard: false })
    other.append(ended('c-1', { caller: 'test' }))
    await other.close()
    await appendFile(eventsFile('run-b'), 'no json\n{"seq":99,"time":"x","type":"call-ended"}\n')
    const index = indexer()
    await index.catchUp()
    expect(await statusOf('c-1')).toBe('ok')
  })

  it('reads again what it had written when somebody empties the index meanwhile', async () => {
    const index = indexer()
    index.follow(hub)
    const records = record('run-a')
    records.append(ended('c-1', { caller: 'test' }))
    await index.flush()
    await calls.clear()
    records.append(ended('c-2', { caller: 'test' }))
    await index.flush()
    expect((await calls.run('run-a'))?.calls).toBe(2)
  })

  it('reindexes from the start also a run of which somebody has written the newest lines meanwhile', async () => {
    const other = record('run-b', { isHeard: false })
    other.append(ended('c-1', { caller: 'test' }))
    await other.close()
    const bytes = (await readFile(eventsFile('run-b'))).length
    const clear = vi.spyOn(calls, 'clear').mockImplementationOnce(() => {
      calls.clear()
      return calls.put({ calls: [], runs: [{ run: 'run-b', bytes, at: 1 }] })
    })
    await indexer().reindex()
    expect(clear).toHaveBeenCalled()
    expect(await statusOf('c-1')).toBe('ok')
  })

  it('tells what other processes do, but nothing of what was there before', async () => {
    const other = record('run-b', { isHeard: false })
    other.append(ended('c-old', { caller: 'test' }))
    await other.written()
    const clock = fakeClock()
    const index = indexer(clock)
    const told: string[] = []
    index.onCall(({ callId }) => told.push(callId))
    index.follow(hub)
    await clock.advance(0)
    await eventually(async () => expect(await statusOf('c-old')).toBe('ok'))
    await eventually(() => expect(clock.waiting).toBe(1))
    other.append(ended('c-new', { caller: 'test' }))
    await other.written()
    await clock.advance(2_000)
    await eventually(() => expect(told).toEqual(['c-new']))
  })

  it('reindexes everything, also what it follows', async () => {
    const index = indexer()
    index.follow(hub)
    const records = record('run-a')
    records.append(started('c-1'))
    await records.written()
    await calls.put({ calls: [], runs: [{ run: 'gone', bytes: 5, at: 1 }] })
    await index.reindex()
    records.append(ended('c-1'))
    await index.flush()
    expect(await calls.call('c-1')).toMatchObject({ status: 'ok', caller: 'test' })
    expect(await calls.run('gone')).toBeUndefined()
  })
})
