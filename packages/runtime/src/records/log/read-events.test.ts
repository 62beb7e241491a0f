import { appendFile, mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ended, eventsOf, newRun, runsFolder, standingClock, started } from '../../../../../test/support/record-run.ts'
import { systemClock } from '../../../../core/src/context.ts'
import { listRuns } from './list-runs.ts'
import { readEvents, tailEvents } from './read-events.ts'
import { RunRecords, type RunRecordsOptions } from './run-records.ts'

let root: string
beforeAll(async () => {
  root = await runsFolder()
})
afterAll(() => rm(root, { recursive: true, force: true }))

const options: RunRecordsOptions = { durability: 'effects', clock: systemClock }

function openRun(...calls: string[]): RunRecords {
  const records = RunRecords.open(root, newRun(), options)
  for (const id of calls) {
    records.append(started(id))
    records.append(ended(id, id.startsWith('bad') ? { status: 'error' } : {}))
  }
  records.written()
  return records
}

describe('readEvents', () => {
  it('begins at the given position, and leaves out what is not an event', async () => {
    const records = openRun('a', 'b')
    await records.close()
    await appendFile(join(records.folder, 'events.jsonl'), 'noise\nnull\n[]\n{"seq":99')
    const seqs: number[] = []
    for await (const event of readEvents(records.folder, { from: 3 })) seqs.push(event.seq)
    expect(seqs).toEqual([3, 4, 5, 6])
  })

  it('reads long lines and many, across the borders of its chunks', async () => {
    const records = RunRecords.open(root, newRun(), options)
    for (let index = 0; index < 3_000; index++) records.append(ended(`c${index}`, { summary: 'é'.repeat(index % 500) }))
    await records.close()
    const events = await eventsOf(records.folder)
    expect(events).toHaveLength(3_002)
    expect(events[1_234]).toMatchObject({ callId: 'c1233', summary: 'é'.repeat(1_233 % 500) })
  })

  it('says that the run does not exist', async () => {
    await expect(eventsOf(join(root, 'nowhere'))).rejects.toMatchObject({
      code: 'NOT_FOUND',
      details: { folder: join(root, 'nowhere') },
    })
  })
})

describe('tailEvents', () => {
  it('gives events as they are written and ends with the run', async () => {
    const { clock, pass } = standingClock()
    const records = openRun('a')
    const types: string[] = []
    for await (const event of tailEvents(records.folder, {
      clock: { ...clock, after: (_ms, run) => clock.after(0, run) },
    })) {
      types.push(event.type)
      if (types.length === 3) {
        records.append(started('b'))
        records.written()
        setImmediate(pass, 1)
      }
      if (types.length === 4) await records.close()
    }
    expect(types).toEqual([
      'run-opened',
      'call-started',
      'call-ended',
      'call-started',
      'call-interrupted',
      'run-closed',
    ])
  })

  it('continues over an earlier end when the run was opened again', async () => {
    const records = openRun('a')
    await records.close()
    await RunRecords.open(root, records.run, options).close()
    const seqs: number[] = []
    for await (const event of tailEvents(records.folder, { from: 4 })) seqs.push(event.seq)
    expect(seqs).toEqual([4, 5, 6])
  })

  it('stops when its signal aborts, before, between and while it waits', async () => {
    const records = openRun('a')
    for (const abortAt of [0, 1, 3]) {
      const controller = new AbortController()
      if (abortAt === 0) controller.abort()
      let count = 0
      for await (const _ of tailEvents(records.folder, { signal: controller.signal })) {
        if (++count === abortAt) setImmediate(() => controller.abort())
        if (abortAt === 1) controller.abort()
      }
      expect(count).toBe(abortAt)
    }
    await records.close()
  })
})

describe('listRuns', () => {
  it('tells closed, open and crashed runs apart, with their counts', async () => {
    const folder = await runsFolder()
    const make = (run: string, clock = options.clock) => RunRecords.open(folder, run, { ...options, clock })
    const closed = make('closed')
    closed.append(started('a'))
    closed.append(ended('a'))
    await closed.close()
    const open = make('open')
    open.append(ended('bad', { status: 'denied' }))
    open.append(ended('good'))
    open.written()
    const crashed = make('crashed')
    crashed.append(ended('a'))
    await crashed.close()
    await rm(join(crashed.folder, 'head.json'))
    await mkdir(join(folder, 'not-a-run'))
    await writeFile(join(folder, 'a-file'), '')
    const runs = new Map((await listRuns(folder)).map((run) => [run.id, run]))
    expect([...runs.keys()].sort()).toEqual(['closed', 'crashed', 'open'])
    expect(runs.get('closed')).toMatchObject({ state: 'closed', calls: 1, failures: 0 })
    expect(runs.get('open')).toMatchObject({ state: 'open', calls: 2, failures: 1 })
    expect(runs.get('crashed')).toMatchObject({ state: 'crashed', calls: 1, failures: 0 })
    await open.close()
    await rm(folder, { recursive: true })
  })

  it('continues counting from the head of a run that was opened again', async () => {
    const folder = await runsFolder()
    const first = RunRecords.open(folder, 'r', options)
    first.append(ended('a', { status: 'error' }))
    await first.close()
    const second = RunRecords.open(folder, 'r', options)
    second.append(ended('b'))
    second.written()
    expect(await listRuns(folder)).toMatchObject([{ state: 'open', calls: 2, failures: 1 }])
    await second.close()
    expect(await listRuns(folder)).toMatchObject([{ state: 'closed', calls: 2, failures: 1 }])
    await rm(folder, { recursive: true })
  })

  it('has nothing to list where no run has been', async () => {
    expect(await listRuns(join(root, 'nowhere'))).toEqual([])
  })
})
