import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createToolHub } from '@tool-hub/library/create-tool-hub'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { openBelow } from '../../../../test/support/left-behind.ts'
import { defineTool } from '../../../core/src/tool.ts'
import { type FakeClock, fakeClock } from '../../../testing/src/fake-clock.ts'
import { verifyRun } from '../records/log/verify-run.ts'
import { IdleRuns, type ReleasableRun } from './idle-runs.ts'

const gate = { begun: () => {}, open: () => {} }
const hold = defineTool({
  name: 'hold',
  description: 'Waits, for tests.',
  input: z.strictObject({}),
  capabilities: ['remote'],
  timeoutMs: 600_000,
  execute: () =>
    new Promise<string>((resolve) => {
      gate.open = () => resolve('held')
      gate.begun()
    }),
})
const note = defineTool({
  name: 'note',
  description: 'Notes something, for tests.',
  input: z.strictObject({ text: z.string() }),
  capabilities: ['remote'],
  execute: ({ text }) => text,
})

describe('a run that nobody uses', () => {
  let folder: string
  let clock: FakeClock
  const open = () =>
    createToolHub({
      tools: [hold, note],
      policy: [{ allow: 'remote' }],
      runs: join(folder, 'runs'),
      data: join(folder, 'data'),
      run: 'a',
      clock,
    })
  const openRecords = () => openBelow(join(folder, 'runs'))
  const typesOf = (run: string) =>
    readFileSync(join(folder, 'runs', run, 'events.jsonl'), 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).type)

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'tool-hub-idle-'))
    clock = fakeClock()
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  it('stays tainted when it is closed for others, although the hub keeps no records', async () => {
    const hub = createToolHub({
      tools: [note],
      policy: [{ allow: 'remote' }, { deny: 'remote', when: { tainted: true } }],
      runs: false,
      data: join(folder, 'data'),
    })
    const isAllowed = async (run: string) => (await hub.call(note, { text: 'x' }, { run })).ok
    expect([await isAllowed('first'), await isAllowed('first')]).toEqual([true, false])
    for (let each = 0; each < 300; each++) await hub.call('core/util.time.now', {}, { run: `run-${each}` })
    expect(await isAllowed('first')).toBe(false)
    await hub.clearTaint('first', { by: 'user:ada', reason: 'I have read it.' })
    for (let each = 0; each < 300; each++) await hub.call('core/util.time.now', {}, { run: `run-${each}` })
    expect(await isAllowed('first')).toBe(true)
    await hub.close()
  })

  it('holds no descriptor after a minute, and continues in the same chain at its next call', async () => {
    const hub = open()
    expect((await hub.call(note, { text: 'first' })).ok).toBe(true)
    await clock.advance(29_000)
    expect(openRecords()).toHaveLength(3)
    await clock.advance(31_000)
    expect(openRecords()).toEqual([])
    expect(await hub.call(note, { text: 'second' })).toMatchObject({ ok: true, data: 'second' })
    expect(openRecords().length).toBeGreaterThan(0)
    await clock.advance(60_000)
    expect(openRecords()).toEqual([])
    await hub.close()
    expect(typesOf('a')).toEqual([
      'run-opened',
      'call-started',
      'run-tainted',
      'call-ended',
      'call-started',
      'call-ended',
      'run-closed',
    ])
    expect(await verifyRun(join(folder, 'runs', 'a'))).toMatchObject({ ok: true, calls: 2 })
  })

  it('stays open while a call is under way, however long it takes', async () => {
    const hub = open()
    const begun = new Promise<void>((resolve) => {
      gate.begun = resolve
    })
    const call = hub.call(hold, {})
    await begun
    await clock.advance(300_000)
    expect(openRecords()).toHaveLength(3)
    gate.open()
    expect(await call).toMatchObject({ ok: true, data: 'held' })
    await clock.advance(60_000)
    expect(openRecords()).toEqual([])
    await hub.close()
  })

  it('is begun anew when somebody has removed its folder meanwhile', async () => {
    const hub = open()
    await hub.call(note, { text: 'first' })
    await clock.advance(60_000)
    rmSync(join(folder, 'runs', 'a'), { recursive: true })
    expect((await hub.call(note, { text: 'second' })).ok).toBe(true)
    await hub.close()
    expect(await verifyRun(join(folder, 'runs', 'a'))).toMatchObject({ ok: true, calls: 1 })
  })

  it('refuses effects when somebody has put another record in its place', async () => {
    const hub = open()
    await hub.call(note, { text: 'first' })
    await clock.advance(60_000)
    const file = join(folder, 'runs', 'a', 'events.jsonl')
    appendFileSync(file, '{}\n')
    const refused = await hub.call(note, { text: 'second' })
    expect(refused.error).toMatchObject({
      code: 'RECORDS_UNAVAILABLE',
      message: expect.stringContaining('was changed'),
    })
    await hub.close().catch(() => {})
  })
})

describe('many runs', () => {
  function release(this: ReleasableRun): void {
    this.isReleased = true
  }
  /** Runs that are open at the same time, used in their order, under a limit of descriptors. */
  function useRuns(count: number, descriptors: number, inFlight = 0) {
    const runs: ReleasableRun[] = []
    const idle = new IdleRuns(
      fakeClock(),
      () => runs,
      () => descriptors,
    )
    for (let n = 0; n < count; n += 1) {
      const run = { inFlight, isActive: false, isReleased: false, release }
      runs.push(run)
      idle.add(run)
    }
    return { runs, idle }
  }

  it('take at most a quarter of the descriptors with their records: the one idle for longest gives up its own', () => {
    const { runs } = useRuns(100, 1_024)
    expect(runs.map(({ isReleased }) => isReleased)).toEqual([...Array(15).fill(true), ...Array(85).fill(false)])
  })

  it('keep those of 16 runs at least, and of all that have calls under way', () => {
    expect(useRuns(17, 64).runs.filter(({ isReleased }) => isReleased)).toHaveLength(1)
    expect(useRuns(30, 64, 1).runs.filter(({ isReleased }) => isReleased)).toHaveLength(0)
  })

  it('are closed when their two folders would take more than an eighth of the descriptors, or there are 256', () => {
    const { idle: few } = useRuns(0, 1_024)
    expect([few.isFull(63), few.isFull(64)]).toEqual([false, true])
    const { idle: many } = useRuns(0, Number.POSITIVE_INFINITY)
    expect([many.isFull(255), many.isFull(256)]).toEqual([false, true])
    const { idle: least } = useRuns(0, 16)
    expect([least.isFull(15), least.isFull(16)]).toEqual([false, true])
  })
})
