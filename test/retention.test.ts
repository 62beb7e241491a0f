import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createToolHub } from '@tool-hub/library/create-tool-hub'
import { openStore } from '@tool-hub/library/stores'
import { afterEach, describe, expect, it } from 'vitest'
import { pruneRuns, type Retention } from '../packages/runtime/src/hub/prune-runs.ts'
import { RunIndexer } from '../packages/runtime/src/hub/run-index/run-indexer.ts'
import { readEvents } from '../packages/runtime/src/records/log/read-events.ts'
import { FolderCheck } from '../packages/runtime/src/records/log/verify-folder.ts'
import { startService } from '../packages/server/src/start-service.ts'
import { eventually } from './support/eventually.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

const DAY_MS = 86_400_000
const closers: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

/** Records runs of one call each, a day apart, the last one today. */
async function record(home: string, runs: readonly string[]) {
  const runsFolder = join(home, 'runs')
  const store = openStore(join(home, 'data'))
  const hub = createToolHub({ runs: runsFolder, data: join(home, 'data'), store })
  for (const run of runs) await hub.callDynamic('core/util.time.now', {}, { run })
  await hub.close()
  for (const [index, run] of runs.entries()) setAge(home, run, (runs.length - index) * DAY_MS)
  return { runsFolder, store }
}

function setAge(home: string, run: string, ms: number): void {
  const at = new Date(Date.now() - ms)
  utimesSync(join(home, 'runs', run, 'events.jsonl'), at, at)
}

/** Prunes as `tool-hub runs prune` does. */
async function prune(home: string, { runsFolder, store }: Awaited<ReturnType<typeof record>>, bounds: Retention) {
  const hub = createToolHub({ runs: runsFolder, data: join(home, 'data'), store })
  const by = 'cli:test'
  const shared = { runsFolder, store, retention: hub.retention, by, now: Date.now(), except: [hub.run] }
  const report = await pruneRuns({ ...bounds, ...shared, record: (change) => hub.recordChange(change) })
  await hub.close()
  return { report, own: hub.run }
}

const verifyAll = async ({ runsFolder, store }: Awaited<ReturnType<typeof record>>) => {
  const check = await FolderCheck.open(runsFolder, store.heads)
  const runs = readdirSync(runsFolder, { withFileTypes: true }).filter((entry) => entry.isDirectory())
  const reports = await Promise.all(runs.map(({ name }) => check.verify(name)))
  return [...reports, ...check.missing()].filter(({ ok }) => !ok)
}

describe('retention of runs', () => {
  it('removes what is too old, and what was removed stays provable', async () => {
    const home = temporaryFolder()
    const made = await record(home, ['oldest', 'older', 'new'])
    closers.push(() => made.store.close())
    const indexer = new RunIndexer({ calls: made.store.calls, runsFolder: made.runsFolder })
    await indexer.flush()
    await indexer.close()
    const { hash, seq } = JSON.parse(readFileSync(join(made.runsFolder, 'oldest', 'head.json'), 'utf8'))
    const { report, own } = await prune(home, made, { keepMs: 1.5 * DAY_MS })
    expect(report.removed.map(({ run }) => run)).toEqual(['oldest', 'older'])
    expect(existsSync(join(made.runsFolder, 'older'))).toBe(false)
    expect(existsSync(join(made.runsFolder, 'new'))).toBe(true)
    // Nothing is missing: the removal is on record, with the hash that covers all events of the run.
    expect(await verifyAll(made)).toEqual([])
    const events: unknown[] = []
    for await (const event of readEvents(join(made.runsFolder, own))) events.push(event)
    expect(events).toContainEqual(
      expect.objectContaining({ change: 'run-removed', subject: 'oldest', by: 'cli:test', head: { seq, hash } }),
    )
    expect(await made.store.heads.list({ run: 'oldest' })).toMatchObject([{ seq, hash, removedBy: 'cli:test' }])
    expect(await made.store.calls.run('oldest')).toBeUndefined()
    expect(await made.store.calls.calls({ run: 'oldest', limit: 10 })).toEqual([])
  })

  it('removes the oldest until the rest is small enough', async () => {
    const home = temporaryFolder()
    const made = await record(home, ['a', 'b', 'c'])
    closers.push(() => made.store.close())
    for (const run of ['a', 'b', 'c']) {
      mkdirSync(join(made.runsFolder, run, 'workspace'), { recursive: true })
      writeFileSync(join(made.runsFolder, run, 'workspace', 'large.bin'), Buffer.alloc(1_000_000))
    }
    const { report } = await prune(home, made, { maxBytes: 2_500_000 })
    expect(report.removed.map(({ run }) => run)).toEqual(['a'])
    expect(report.bytes).toBeGreaterThan(2_000_000)
    expect(report.bytes).toBeLessThan(2_500_000)
  })

  it('keeps a run that does not verify, and one that is open', async () => {
    const home = temporaryFolder()
    const made = await record(home, ['changed', 'open'])
    closers.push(() => made.store.close())
    const file = join(made.runsFolder, 'changed', 'events.jsonl')
    writeFileSync(file, readFileSync(file, 'utf8').replace('core/util.time.now', 'core/util.time.not'))
    const hub = createToolHub({ runs: made.runsFolder, data: join(home, 'data'), store: made.store })
    closers.push(() => hub.close())
    await hub.callDynamic('core/util.time.now', {}, { run: 'open' })
    for (const run of ['changed', 'open']) setAge(home, run, 9 * DAY_MS)
    const { report } = await prune(home, made, { keepMs: DAY_MS })
    expect(report.removed).toEqual([])
    const why = Object.fromEntries(report.kept.map((each) => [each.run, each.why]))
    expect(why).toMatchObject({ open: 'It is open in a process.', changed: expect.stringContaining('does not verify') })
  })

  it('finishes what a killed process began to remove', async () => {
    const home = temporaryFolder()
    const made = await record(home, ['a'])
    closers.push(() => made.store.close())
    cpSync(join(made.runsFolder, 'a'), join(made.runsFolder, '.removing-gone'), { recursive: true })
    await prune(home, made, { keepMs: 9 * DAY_MS })
    expect(existsSync(join(made.runsFolder, '.removing-gone'))).toBe(false)
  })

  it('is applied by the service, at the start', async () => {
    const home = temporaryFolder()
    const { runsFolder, store } = await record(home, ['oldest', 'new'])
    await store.close()
    const service = await startService(
      { runs: runsFolder, data: join(home, 'data') },
      { port: 0, retention: { keepMs: 1.5 * DAY_MS } },
    )
    closers.push(() => service.close())
    await eventually(() => expect(existsSync(join(runsFolder, 'oldest'))).toBe(false))
    expect(existsSync(join(runsFolder, 'new'))).toBe(true)
    await eventually(async () => {
      const events: unknown[] = []
      for await (const event of readEvents(join(runsFolder, service.hub.run))) events.push(event)
      expect(events).toContainEqual(expect.objectContaining({ by: 'retention', subject: 'oldest' }))
    })
  })
})
