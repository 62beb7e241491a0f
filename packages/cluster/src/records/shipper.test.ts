import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { openStore } from '@tool-hub/library/stores'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { eventually } from '../../../../test/support/eventually.ts'
import { ended, newRun, started } from '../../../../test/support/record-run.ts'
import { newMachine, sharedText } from '../../../../test/support/shared-records.ts'
import { temporaryFolder } from '../../../../test/support/temporary-folder.ts'
import { UnsharedEnd } from '../../../runtime/src/records/log/shipment.ts'
import { fakeClock } from '../../../testing/src/fake-clock.ts'

const store = openStore(temporaryFolder('shared-store'))
afterAll(() => store.close())

const machine = (id: string, options = {}) => newMachine(store, temporaryFolder(id), id, options)
const fileOf = (root: string, run: string) => readFile(join(root, run, 'events.jsonl'), 'utf8')
const away = async (): Promise<never> => {
  throw new Error('connection refused')
}

describe('a record that is shared', () => {
  it('is in the store, line for line, when an intent or an end was waited for', async () => {
    const one = await machine('m1')
    const run = newRun()
    const records = await one.open(run)
    records.append(started('c1'))
    await records.synced()
    expect(await sharedText(store, run)).toBe(await fileOf(one.root, run))
    records.append(ended('c1', { summary: 'ä🙂\0' }))
    await records.ended()
    expect(await sharedText(store, run)).toBe(await fileOf(one.root, run))
    const [opened] = (await sharedText(store, run)).split('\n')
    expect(JSON.parse(opened!)).toMatchObject({ type: 'run-opened', durability: 'shared', process: 'm1', epoch: 1 })
    await records.close()
    expect(await sharedText(store, run)).toBe(await fileOf(one.root, run))
    expect(await store.segments.heads({ run })).toMatchObject([{ seq: 4, epoch: 1 }])
  })

  it('takes one insert for all runs that wait in a tick, and one more for those that come meanwhile', async () => {
    const one = await machine('m2')
    const batches: number[] = []
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    one.segments.append = async (batch) => {
      batches.push(batch.length)
      await held
      return store.segments.append(batch)
    }
    const all = await Promise.all(Array.from({ length: 100 }, () => one.open(newRun())))
    const first = Promise.all(all.map((records) => records.synced()))
    await eventually(() => expect(batches).toHaveLength(1))
    const later = Promise.all(
      all.map((records) => {
        records.append(started('c1'))
        return records.synced()
      }),
    )
    await new Promise((resolve) => setImmediate(resolve))
    expect(batches).toHaveLength(1)
    release()
    await Promise.all([first, later])
    expect(batches[0]! + batches[1]!).toBeGreaterThanOrEqual(100)
    expect(batches.length).toBeLessThanOrEqual(4)
    await Promise.all(all.map((records) => records.close()))
  })

  it('says how much of it is not shared yet, and how old that is', async () => {
    const clock = fakeClock()
    const one = await machine('m-lag', { clock })
    const records = await one.open(newRun())
    await records.synced()
    const { segments } = one.shipper.state()
    expect(one.shipper.state()).toEqual({ segments, waitingBytes: 0, lagMs: 0, isRefused: false })
    one.segments.append = away
    records.append(started('c1'))
    await clock.advance(5_000)
    await eventually(async () => {
      expect(one.shipper.state()).toMatchObject({ segments, lagMs: 5_000, isRefused: true })
      expect(one.shipper.state().waitingBytes).toBeGreaterThan(0)
    })
    one.segments.append = (batch) => store.segments.append(batch)
    await records.synced()
    expect(one.shipper.state()).toEqual({ segments: segments + 1, waitingBytes: 0, lagMs: 0, isRefused: false })
    await records.close()
  })

  it('is shared within a second if nobody waits, and at a megabyte immediately', async () => {
    const clock = fakeClock()
    const one = await machine('m3', { clock })
    const run = newRun()
    const records = await one.open(run)
    await clock.advance(1_000)
    await eventually(async () => expect(await store.segments.heads({ run })).toMatchObject([{ seq: 1 }]))
    const big = 'x'.repeat(30_000)
    for (let n = 0; n < 60; n++) records.append(ended(`c${n}`, { summary: big }))
    await records.written()
    await eventually(async () => expect((await store.segments.heads({ run }))[0]!.seq).toBeGreaterThan(20))
    const closing = records.close()
    await vi.waitFor(() => closing, { timeout: 100_000 })
    await records.drained()
    expect(await sharedText(store, run)).toBe(await fileOf(one.root, run))
    const pieces = await store.segments.read(run, { from: 1, limit: 100 })
    expect(Math.max(...pieces.map(({ lines = '' }) => lines.length))).toBeLessThanOrEqual(1024 * 1024)
  })
})

describe('a store that is away', () => {
  it('refuses an intent immediately, keeps the line, and shares it when the store is back', async () => {
    const one = await machine('m4')
    const run = newRun()
    const records = await one.open(run)
    await records.synced()
    one.segments.append = away
    records.append(started('c1'))
    await expect(records.synced()).rejects.toMatchObject({ code: 'RECORDS_UNAVAILABLE', retryable: true })
    expect(records.problem).toBeUndefined()
    one.segments.append = store.segments.append
    await eventually(async () => expect(await sharedText(store, run)).toBe(await fileOf(one.root, run)))
    records.append(started('c2'))
    await records.synced()
    await records.close()
  })

  it('is waited for by the end of a call', async () => {
    const one = await machine('m5')
    const records = await one.open(newRun())
    records.append(ended('c1'))
    let tries = 0
    one.segments.append = async (batch) => (++tries < 4 ? away() : store.segments.append(batch))
    await records.ended()
    expect(tries).toBe(4)
    await records.close()
  })

  it('ends the wait of an end after 30 s, with an error that says so', async () => {
    const clock = fakeClock()
    const one = await machine('m6', { clock })
    const records = await one.open(newRun())
    one.segments.append = away
    records.append(ended('c1'))
    const ending = records.ended().catch((error) => error)
    await eventually(async () => {
      await clock.advance(10_000)
      expect(await Promise.race([ending, 'waiting'])).toBeInstanceOf(UnsharedEnd)
    })
    one.segments.append = store.segments.append
    await records.close()
  })

  it('does not keep a run from being closed: its lines stay in the file and are shared later', async () => {
    const one = await machine('m7')
    const run = newRun()
    const records = await one.open(run)
    one.segments.append = away
    await records.close()
    const drained = records.drained()
    await expect(fileOf(one.root, run)).resolves.toContain('run-closed')
    expect(await store.segments.heads({ run })).toEqual([])
    one.segments.append = store.segments.append
    await drained
    expect(await sharedText(store, run)).toBe(await fileOf(one.root, run))
  })

  it('may have taken lines whose answer was lost: they are not sent twice, and nothing is missing', async () => {
    const one = await machine('m8')
    const run = newRun()
    const records = await one.open(run)
    let isLost = false
    one.segments.append = async (batch) => {
      const outcome = await store.segments.append(batch)
      if (isLost) return outcome
      isLost = true
      throw new Error('connection reset')
    }
    records.append(ended('c1'))
    await records.ended()
    records.append(ended('c2'))
    await records.ended()
    expect(await sharedText(store, run)).toBe(await fileOf(one.root, run))
    await records.close()
  })
})

describe('a run that another process has taken', () => {
  it('refuses everything here: its waiting calls end, and nothing else begins', async () => {
    const [one, two] = [await machine('m9'), await machine('m10')]
    const run = newRun()
    const records = await one.open(run)
    records.append(started('c1'))
    await records.synced()
    await one.end()
    const taken = await two.open(run)
    records.append(ended('c1'))
    await expect(records.ended()).rejects.toMatchObject({ cause: { code: 'RUN_MOVED', retryable: true } })
    expect(one.moved).toEqual([run])
    expect(records.problem).toMatchObject({ code: 'RUN_MOVED' })
    await expect(records.synced()).rejects.toMatchObject({ code: 'RUN_MOVED' })
    await records.close()
    await taken.close()
    expect(await sharedText(store, run)).toBe(await fileOf(two.root, run))
    expect(await sharedText(store, run)).toContain('call-interrupted')
  })
})
