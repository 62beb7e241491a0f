import { join, resolve } from 'node:path'
import type { Store } from '../../store.ts'
import { createAsks } from './asks.ts'
import { backUp } from './backup.ts'
import { createBudgets } from './budgets.ts'
import { createCalls } from './calls.ts'
import { createCanvases } from './canvases.ts'
import { Connection } from './connection.ts'
import { durable } from './durable.ts'
import { createEvents } from './events.ts'
import { createGrants } from './grants.ts'
import { createHeads } from './heads.ts'
import { createInbox } from './inbox.ts'
import { createJobs } from './jobs.ts'
import { createKeys } from './keys.ts'
import type { SyncFile } from './log-sync.ts'
import { createMail } from './mail.ts'
import { createNotes } from './notes.ts'
import { createRates } from './rates.ts'
import { createSchedules } from './schedules.ts'
import { createSessions } from './sessions.ts'
import { createSignIns } from './sign-ins.ts'
import { createSlots } from './slots.ts'
import { createSweep } from './sweep.ts'
import { createTokens } from './tokens.ts'

/** How a store file is used. */
export interface OpenStoreOptions {
  /** How long a write waits for another process, in which this one does nothing else; 2 s unless said. */
  readonly busyTimeoutMs?: number
  /** How often it is looked for events of other processes while somebody watches; every 200 ms unless said. */
  readonly pollMs?: number
  /** The most pages of 4 KB that the file may have; as many as fit on the disk unless said. */
  readonly maxPages?: number
  /** Dates events whose cause says no time; the machine's clock unless said. */
  readonly now?: () => number
  /** How long after a write that must last the file `store.generation` says so. Default: 1 s. */
  readonly markMs?: number
  /** Syncs the log of the file; for tests of a failing disk. */
  readonly syncFile?: SyncFile
}

/** The store of a data folder, in its file `store.db`: made and opened at the first use, shared by processes. */
export function openStore(folder: string, options: OpenStoreOptions = {}): Store {
  const { busyTimeoutMs = 2_000, pollMs = 200, maxPages, now = Date.now, markMs = 1_000, syncFile } = options
  const connection = new Connection(join(resolve(folder), 'store.db'), { busyTimeoutMs, maxPages, markMs, syncFile })
  const events = createEvents(connection, pollMs)
  const write = connection.statement(
    `INSERT INTO counters (name, value) VALUES ('check', 1) ON CONFLICT (name) DO UPDATE SET value = counters.value + 1`,
  )
  const takeBack = connection.statement(`DELETE FROM counters WHERE name = 'check'`)
  return {
    keys: durable(connection, 'keys', createKeys(connection)),
    budgets: createBudgets(connection),
    rates: createRates(connection),
    asks: durable(connection, 'asks', createAsks(connection, events, now)),
    grants: durable(connection, 'grants', createGrants(connection)),
    tokens: durable(connection, 'tokens', createTokens(connection)),
    signIns: durable(connection, 'signIns', createSignIns(connection)),
    jobs: durable(connection, 'jobs', createJobs(connection)),
    slots: createSlots(connection),
    memory: durable(connection, 'memory', createNotes(connection)),
    sessions: durable(connection, 'sessions', createSessions(connection)),
    mail: durable(connection, 'mail', createMail(connection)),
    calls: createCalls(connection),
    heads: durable(connection, 'heads', createHeads(connection)),
    canvases: durable(connection, 'canvases', createCanvases(connection)),
    schedules: durable(connection, 'schedules', createSchedules(connection)),
    events,
    inbox: durable(connection, 'inbox', createInbox(connection)),
    async check() {
      connection.assertIntact()
      connection.generation.assertCurrent()
      write.run()
      takeBack.run()
      await connection.synced()
      connection.assertInPlace()
    },
    backup: (path) => backUp(connection, path),
    sweep: createSweep(connection),
    async close() {
      events.close()
      await connection.close()
    },
  }
}
