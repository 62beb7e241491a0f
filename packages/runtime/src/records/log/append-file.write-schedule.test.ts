import { rm } from 'node:fs/promises'
import type { ToolError } from '@tool-hub/core/errors'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  ended,
  eventsOf,
  newRun,
  runsFolder,
  standingClock,
  started,
  TestDisk,
} from '../../../../../test/support/record-run.ts'
import { systemClock } from '../../../../core/src/context.ts'
import { RunRecords, type RunRecordsOptions } from './run-records.ts'
import { verifyRun } from './verify-run.ts'

let root: string
beforeAll(async () => {
  root = await runsFolder()
})
afterAll(() => rm(root, { recursive: true, force: true }))

const options: RunRecordsOptions = { durability: 'effects', clock: systemClock }

describe('writing', () => {
  it('has a single call in the file before written() returns, without a promise', async () => {
    const records = RunRecords.open(root, newRun(), options)
    records.append(started('c1'))
    records.append(ended('c1'))
    expect(records.written()).toBeUndefined()
    expect((await eventsOf(records.folder)).map((event) => event.type)).toEqual([
      'run-opened',
      'call-started',
      'call-ended',
    ])
    await records.close()
  })

  it('writes the ends of 10,000 concurrent calls in few writes, all of them before they return', async () => {
    const disk = new TestDisk()
    const records = RunRecords.open(root, newRun(), { ...options, disk })
    const ids = Array.from({ length: 10_000 }, (_, index) => `c${index}`)
    for (const id of ids) records.append(started(id))
    await Promise.all(
      ids.map(async (id) => {
        await Promise.resolve()
        records.append(ended(id))
        await records.written()
      }),
    )
    expect(disk.writes).toBeLessThan(200)
    const events = await eventsOf(records.folder)
    expect(events.filter((event) => event.type === 'call-ended')).toHaveLength(10_000)
    await records.close()
    expect(await verifyRun(records.folder)).toMatchObject({ ok: true, calls: 10_000 })
  })

  it('writes a start soon even when nobody waits for it', async () => {
    const records = RunRecords.open(root, newRun(), options)
    records.append(started('c1'))
    await new Promise((resolve) => setImmediate(resolve))
    expect((await eventsOf(records.folder)).at(-1)).toMatchObject({ type: 'call-started' })
    await records.close()
  })

  it('shares one fsync among 64 calls that wait together', async () => {
    const disk = new TestDisk()
    const records = RunRecords.open(root, newRun(), { ...options, disk })
    await Promise.all(
      Array.from({ length: 64 }, async (_, index) => {
        records.append(started(`c${index}`))
        await records.synced()
        records.append(ended(`c${index}`))
        await records.synced()
      }),
    )
    expect(disk.syncs).toBeLessThanOrEqual(4)
    await records.close()
  })

  it('takes written() for synced() when durability is full', async () => {
    const disk = new TestDisk()
    const records = RunRecords.open(root, newRun(), { ...options, durability: 'full', disk })
    records.append(started('c1'))
    await records.written()
    expect(disk.syncs).toBe(1)
    await records.close()
  })

  it('writes behind when told so: within 100 ms, at 64 KB, and all of it on close', async () => {
    const { clock, pass } = standingClock()
    const records = RunRecords.open(root, newRun(), { ...options, durability: 'behind', clock })
    records.append(started('c1'))
    expect(records.written()).toBeUndefined()
    expect(await eventsOf(records.folder)).toHaveLength(1)
    pass(100)
    expect(await eventsOf(records.folder)).toHaveLength(2)
    for (let index = 0; index < 300; index++) records.append(ended('c1'))
    expect((await eventsOf(records.folder)).length).toBeGreaterThan(100)
    await records.close()
    expect(await eventsOf(records.folder)).toHaveLength(303)
    expect(await verifyRun(records.folder)).toMatchObject({ ok: true })
  })

  it('tells of an event after the end of the run instead of losing it silently', async () => {
    const told: ToolError[] = []
    const records = RunRecords.open(root, newRun(), { ...options, onProblem: (error) => told.push(error) })
    await records.close()
    records.append(ended('late'))
    expect(told.map((error) => error.message)).toEqual([expect.stringContaining('closed')])
    await expect(records.close()).resolves.toBeUndefined()
  })
})
