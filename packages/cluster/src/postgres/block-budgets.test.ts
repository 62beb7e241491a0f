import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'
import { type BudgetLimits, type Store, systemClock } from '@tool-hub/core'
import { perform } from '@tool-hub/core/sql'
import { openPostgresStore } from '@tool-hub/library/stores'
import { BudgetLedger } from '@tool-hub/runtime/limits'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { ALL_TABLES } from '../../../../test/support/all-tables.ts'
import { startPostgres, type TestPostgres } from '../../../../test/support/postgres.ts'
import { sweepBlocks } from '../../../runtime/src/store/sql/limits.ts'
import { closeDatabase, openDatabase } from '../../../runtime/src/store/sqlite/database.ts'
import { SqliteDriver } from '../../../runtime/src/store/sqlite/driver.ts'
import { BlockBudgets } from './block-budgets.ts'
import type { BlockBudgetOptions } from './budget-blocks.ts'

let folder: string
let drivers: SqliteDriver[]
let hubs: BlockBudgets[]
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tool-hub-blocks-'))
  drivers = []
  hubs = []
})
afterEach(async () => {
  for (const hub of hubs) await hub.close()
  for (const driver of drivers) await driver.close()
  await rm(folder, { recursive: true, force: true })
})

function openDriver(): SqliteDriver {
  const driver = new SqliteDriver({
    open: () => openDatabase(join(folder, 'store.db'), { tables: ALL_TABLES, busyTimeoutMs: 5_000 }),
    close: closeDatabase,
  })
  drivers.push(driver)
  return driver
}

/** The budgets of one process. Nothing is reported or returned by itself unless a test says so. */
function openBudgets(options: BlockBudgetOptions = {}): BlockBudgets {
  const hub = new BlockBudgets(openDriver(), { reportMs: 3_600_000, idleMs: 3_600_000, recallMs: 0, ...options })
  hubs.push(hub)
  return hub
}

const account = (limits: BudgetLimits, name = 'run:a') => [{ account: name, limits }]

/** How many of so many calls are served. */
async function serve(
  budgets: BlockBudgets,
  limits: BudgetLimits,
  { calls, cost = 0 }: { calls: number; cost?: number },
) {
  let served = 0
  for (let n = 0; n < calls; n++) if ((await budgets.reserve(account(limits), cost)).ok) served++
  return served
}

function stored(name = 'run:a') {
  const driver = openDriver()
  const row = driver.get('SELECT calls, cost FROM budgets WHERE account = ?', [name])
  const blocks = driver.all('SELECT calls, cost FROM budget_blocks WHERE account = ?', [name])
  return { row, blocks }
}

describe('calls and cost of processes that share a store', () => {
  it.each([1, 10, 1000])(
    'never pass a limit of %i calls, and are refused only when it is used up',
    async (limit) => {
      const processes = [openBudgets(), openBudgets(), openBudgets()].map((budgets) => ({ budgets }))
      hubs.push(openBudgets())
      // They report and return what others need, as they do in a service.
      const live = processes.map(() => openBudgets({ reportMs: 5, recallMs: 20_000 }))
      const served = await Promise.all(live.map((budgets) => serve(budgets, { calls: limit }, { calls: limit })))
      expect(served.reduce((sum, count) => sum + count)).toBe(limit)
      expect(await live[0]!.used('run:a')).toMatchObject({ calls: limit })
    },
    60_000,
  )

  it('never pass a limit when many calls start at the same time', async () => {
    const live = [1, 2, 3].map(() => openBudgets({ reportMs: 5, recallMs: 20_000 }))
    const outcomes = await Promise.all(
      live.flatMap((budgets) => Array.from({ length: 100 }, () => budgets.reserve(account({ calls: 150 }), 1))),
    )
    expect(outcomes.filter(({ ok }) => ok)).toHaveLength(150)
  }, 60_000)

  it('count costs with fractions up to the limit', async () => {
    const live = [1, 2].map(() => openBudgets({ reportMs: 5, recallMs: 20_000 }))
    const served = await Promise.all(live.map((budgets) => serve(budgets, { cost: 1 }, { calls: 600, cost: 0.001 })))
    expect(served[0]! + served[1]!).toBe(1000)
    const exact = openBudgets({ reportMs: 5, recallMs: 20_000 })
    let tenths = 0
    for (let n = 0; n < 20; n++) if ((await exact.reserve(account({ cost: 1 }, 'run:b'), 0.1)).ok) tenths++
    expect(tenths).toBe(10)
  }, 60_000)

  it('are taken from all accounts of a call, or from none', async () => {
    const budgets = openBudgets()
    const accounts = [...account({ calls: 1000 }, 'run:wide'), ...account({ calls: 2 }, 'run:narrow')]
    const outcomes = []
    for (let n = 0; n < 4; n++) outcomes.push(await budgets.reserve(accounts, 1))
    expect(outcomes.map(({ ok }) => ok)).toEqual([true, true, false, false])
    expect(outcomes[2]).toMatchObject({ account: 'run:narrow', used: { calls: 2 } })
    expect(await budgets.used('run:wide')).toMatchObject({ calls: 2, cost: 2 })
  })

  it('are served from a block without the store until it is used up', async () => {
    const driver = openDriver()
    const budgets = new BlockBudgets(driver, { reportMs: 3_600_000 })
    hubs.push(budgets)
    const transaction = vi.spyOn(driver, 'transaction')
    expect(await serve(budgets, { calls: 1000, cost: 1000 }, { calls: 50, cost: 1 })).toBe(50)
    expect(transaction).toHaveBeenCalledTimes(1)
    expect(budgets.reserve(account({ calls: 1000, cost: 1000 }), 1)).toBeInstanceOf(Promise)
    await budgets.used('run:a')
  })

  it('are counted when no limit bounds them', async () => {
    const budgets = openBudgets()
    expect(await serve(budgets, { wallMs: 1000 }, { calls: 500, cost: 2 })).toBe(500)
    await budgets.close()
    expect(stored()).toEqual({ row: { calls: 500, cost: 1000 }, blocks: [] })
  })

  it('follow a limit that was changed', async () => {
    const budgets = openBudgets()
    expect(await serve(budgets, { calls: 1000 }, { calls: 10 })).toBe(10)
    expect(await serve(budgets, { calls: 12 }, { calls: 10 })).toBe(2)
  })

  it('refuse a limit that is not a number', async () => {
    expect(await serve(openBudgets(), { calls: Number.NaN }, { calls: 1 })).toBe(0)
    expect(await serve(openBudgets(), { cost: Number.NaN }, { calls: 1, cost: 1 })).toBe(0)
  })
})

describe('a block', () => {
  it('is returned when it is idle', async () => {
    const budgets = openBudgets({ reportMs: 5, idleMs: 20 })
    expect(await serve(budgets, { calls: 1000, cost: 10 }, { calls: 3, cost: 0.5 })).toBe(3)
    await vi.waitFor(() => expect(stored()).toEqual({ row: { calls: 3, cost: 1.5 }, blocks: [] }), 300_000)
  })

  it('is returned at close, with calls that never ran', async () => {
    const budgets = openBudgets()
    expect(await serve(budgets, { calls: 1000, cost: 10 }, { calls: 3, cost: 0.5 })).toBe(3)
    await budgets.release(['run:a'], 0.5)
    await budgets.close()
    expect(stored()).toEqual({ row: { calls: 2, cost: 1 }, blocks: [] })
  })

  it('of a killed process is released when its lease has expired, without what it has reported', async () => {
    const killed = openBudgets({ reportMs: 5, leaseMs: 50 })
    expect(await serve(killed, { calls: 1000 }, { calls: 10 })).toBe(10)
    const reported = { row: { calls: 60, cost: 0 }, blocks: [{ calls: 50, cost: 0 }] }
    await vi.waitFor(() => expect(stored()).toEqual(reported), 300_000)
    await drivers[0]!.close()
    hubs = []
    const other = openBudgets({ recallMs: 0 })
    await vi.waitFor(async () => {
      expect(await serve(other, { calls: 50 }, { calls: 1 })).toBe(1)
    }, 300_000)
    expect(await serve(other, { calls: 50 }, { calls: 100 })).toBe(39)
  })

  it('is not used after its lease has expired: its process may have been stopped meanwhile', async () => {
    const stopped = openBudgets({ leaseMs: 20 })
    expect(await serve(stopped, { calls: 1000 }, { calls: 10 })).toBe(10)
    const limits = { calls: 1000 }
    await vi.waitFor(() => {
      const outcome = stopped.reserve(account(limits), 0)
      expect(outcome).toBeInstanceOf(Promise)
    }, 300_000)
  })

  it('that has expired is swept, and what its process used of it is counted when it reports', async () => {
    const slow = openBudgets({ leaseMs: 1 })
    expect(await serve(slow, { calls: 1000 }, { calls: 10 })).toBe(10)
    await perform(openDriver(), sweepBlocks(Date.now() + 10_000))
    expect(stored().blocks).toEqual([])
    await slow.close()
    expect(stored()).toEqual({ row: { calls: 10, cost: 0 }, blocks: [] })
  })

  it('is returned when another process needs what is left', async () => {
    const holder = openBudgets({ reportMs: 5 })
    expect(await serve(holder, { calls: 20 }, { calls: 1 })).toBe(1)
    const rest = openBudgets({ reportMs: 5, recallMs: 20_000 })
    expect(await serve(rest, { calls: 20 }, { calls: 19 })).toBe(19)
  })

  it('of a process that does not answer delays a refusal only for a short time', async () => {
    const silent = openBudgets()
    expect(await serve(silent, { calls: 100 }, { calls: 1 })).toBe(1)
    const other = openBudgets({ recallMs: 100 })
    expect(await serve(other, { calls: 100 }, { calls: 100 })).toBe(95)
    expect(await other.reserve(account({ calls: 100 }), 0)).toMatchObject({ ok: false, used: { calls: 100 } })
  })
})

describe('time and bytes', () => {
  it('are known immediately in this process, and in others after a report', async () => {
    const budgets = openBudgets({ reportMs: 5 })
    await budgets.reserve(account({ wallMs: 100 }), 0)
    expect(await budgets.settle(['run:a'], { wallMs: 60, bytes: 7 })).toEqual([
      { calls: 1, wallMs: 60, bytes: 7, cost: 0 },
    ])
    const other = openBudgets({ reportMs: 5 })
    await vi.waitFor(async () => expect(await other.used('run:a')).toMatchObject({ wallMs: 60, bytes: 7 }), 300_000)
    await budgets.reserve(account({ wallMs: 100 }), 0)
    await budgets.settle(['run:a'], { wallMs: 40, bytes: 0 })
    expect(await budgets.reserve(account({ wallMs: 100 }), 0)).toMatchObject({ ok: false, used: { wallMs: 100 } })
    await vi.waitFor(
      async () => expect(await other.reserve(account({ wallMs: 100 }), 0)).toMatchObject({ ok: false }),
      300_000,
    )
  })

  it('of a call that outlives its block are counted', async () => {
    const budgets = openBudgets({ reportMs: 5, idleMs: 10 })
    await budgets.reserve(account({ calls: 100 }), 0)
    await vi.waitFor(() => expect(stored().blocks).toEqual([]), 300_000)
    await vi.waitFor(async () => {
      const [used] = await budgets.settle(['run:a'], { wallMs: 0, bytes: 0 })
      expect(used).toMatchObject({ calls: 1 })
    }, 300_000)
    await budgets.settle(['run:a'], { wallMs: 5, bytes: 6 })
    expect(await budgets.used('run:a')).toEqual({ calls: 1, wallMs: 5, bytes: 6, cost: 0 })
  })
})

describe('an account', () => {
  it('starts at zero after it was forgotten, also for what another process holds', async () => {
    const [one, two] = [openBudgets({ reportMs: 5 }), openBudgets({ reportMs: 5 })]
    expect(await serve(one, { calls: 1000 }, { calls: 10 })).toBe(10)
    expect(await serve(two, { calls: 1000 }, { calls: 10 })).toBe(10)
    await one.forget('run:a')
    expect(stored()).toEqual({ row: undefined, blocks: [] })
    await two.settle(['run:a'], { wallMs: 3, bytes: 3 })
    await two.close()
    await one.close()
    expect(stored()).toEqual({ row: undefined, blocks: [] })
  })

  it('keeps what its process could not report', async () => {
    const driver = openDriver()
    const budgets = new BlockBudgets(driver, { reportMs: 1 })
    hubs.push(budgets)
    expect(await serve(budgets, { calls: 1000 }, { calls: 1 })).toBe(1)
    const away = vi.spyOn(driver, 'transaction').mockImplementation(() => {
      throw new Error('The database is away.')
    })
    await budgets.reserve(account({ calls: 1000 }), 0)
    await budgets.settle(['run:a'], { wallMs: 7, bytes: 0 })
    await vi.waitFor(() => expect(away.mock.calls.length).toBeGreaterThan(1), 300_000)
    away.mockRestore()
    await budgets.close()
    expect(await budgets.used('run:a')).toMatchObject({ calls: 2, wallMs: 7 })
  })

  it('of another day is another one, and the block of yesterday is returned', async () => {
    const budgets = openBudgets({ reportMs: 5, idleMs: 20 })
    await budgets.reserve(account({ calls: 1000 }, 'principal:2026-11-17:token:ci'), 0)
    await budgets.reserve(account({ calls: 1000 }, 'principal:2026-11-18:token:ci'), 0)
    await vi.waitFor(() => {
      expect(stored('principal:2026-11-17:token:ci')).toEqual({ row: { calls: 1, cost: 0 }, blocks: [] })
    }, 300_000)
  })
})

describe('budgets in PostgreSQL', () => {
  let server: TestPostgres
  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(() => server.close())

  it('are never passed by processes that use them concurrently, and used up to the last call', async () => {
    const stores: Store[] = [1, 2, 3].map(() => openPostgresStore(server.url, { schema: 'concurrent' }))
    const accounts = [
      { account: 'run:a', limits: { calls: 500 } },
      { account: 'principal:x', limits: { cost: 500 } },
    ]
    const lanes = stores.flatMap((store) => Array.from({ length: 10 }, () => store))
    const served = await Promise.all(
      lanes.map(async (store) => {
        let count = 0
        while ((await store.budgets.reserve(accounts, 1)).ok) {
          await store.budgets.settle(['run:a', 'principal:x'], { wallMs: 1, bytes: 2 })
          count++
        }
        return count
      }),
    )
    expect(served.reduce((sum, count) => sum + count)).toBe(500)
    for (const store of stores) await store.close()
    const after = openPostgresStore(server.url, { schema: 'concurrent' })
    expect(await after.budgets.used('run:a')).toEqual({ calls: 500, wallMs: 500, bytes: 1000, cost: 500 })
    await after.close()
  }, 120_000)

  it('stop the calls of several hubs at their limit, after a notice at three quarters, and start again', async () => {
    const stores = [1, 2].map(() => openPostgresStore(server.url, { schema: 'ledgers' }))
    const limits = { session: { calls: 40 }, run: { calls: 10 } }
    const ledgers = stores.map((store) => new BudgetLedger(limits, store.budgets, systemClock))
    const notices: string[] = []
    const call = async (n: number, run: string) => {
      const reservation = await ledgers[n % 2]!.reserve({ run, session: 's', tool: 't', cost: 0 })
      notices.push(...reservation.notices, ...(await reservation.settle({ wallMs: 1, bytes: 1 })))
    }
    for (let n = 0; n < 40; n++) await call(n, `run-${n}`)
    await expect(call(0, 'run-40')).rejects.toMatchObject({ code: 'BUDGET_EXCEEDED', details: { used: 40, limit: 40 } })
    expect(notices.filter((notice) => /of 40 calls/.test(notice)).length).toBeGreaterThanOrEqual(1)
    const alone = new BudgetLedger({ run: limits.run }, stores[0]!.budgets, systemClock)
    const use = async () => (await alone.reserve({ run: 'r', tool: 't', cost: 0 })).settle({ wallMs: 1, bytes: 1 })
    for (let n = 0; n < 10; n++) await use()
    await expect(use()).rejects.toMatchObject({ code: 'BUDGET_EXCEEDED' })
    await alone.endRun('r')
    await use()
    // A call that never ran is released, also when its block is full.
    const held = await alone.reserve({ run: 'r', tool: 't', cost: 0 })
    await held.release()
    expect(await stores[0]!.budgets.used('run:r')).toMatchObject({ calls: 1 })
    for (const store of stores) await store.close()
  }, 120_000)

  it('are passed by at most one block when a process is killed', async () => {
    const store = openPostgresStore(server.url, { schema: 'killed' })
    await store.check()
    const module = pathToFileURL(join(import.meta.dirname, '../../../library/src/stores.ts')).href
    const loader = pathToFileURL(join(import.meta.dirname, '../../../../test/support/load-typescript.mjs')).href
    const source = `
      import { writeSync } from 'node:fs'
      import { openPostgresStore } from ${JSON.stringify(module)}
      const store = openPostgresStore(${JSON.stringify(server.url)}, { schema: 'killed' })
      for (;;) {
        const { ok } = await store.budgets.reserve([{ account: 'run:a', limits: { calls: 1000 } }], 0)
        writeSync(1, ok ? '.\\n' : 'refused\\n')
        await new Promise(setImmediate)
      }`
    const child = spawn(process.execPath, ['--import', loader, '--input-type=module', '-e', source], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const ended = once(child, 'close')
    let killed = 0
    for await (const _ of createInterface({ input: child.stdout })) {
      killed++
      if (killed === 200) child.kill('SIGKILL')
    }
    await ended
    expect(killed).toBeGreaterThanOrEqual(200)
    // As if its lease had expired long ago.
    await store.sweep(Date.now() + 60_000)
    let rest = 0
    while ((await store.budgets.reserve([{ account: 'run:a', limits: { calls: 1000 } }], 0)).ok) rest++
    await store.close()
    expect(killed + rest).toBeGreaterThanOrEqual(950)
    expect(killed + rest).toBeLessThanOrEqual(1050)
  }, 120_000)
})
