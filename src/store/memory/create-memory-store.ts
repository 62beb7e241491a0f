import { ToolError } from '../../errors.ts'
import type { Store } from '../../store.ts'
import { MemoryAsks } from './asks.ts'
import { MemoryBudgets } from './budgets.ts'
import { MemoryCalls } from './calls.ts'
import { MemoryCanvases } from './canvases.ts'
import { MemoryEvents } from './events.ts'
import { MemoryGrants } from './grants.ts'
import { MemoryHeads } from './heads.ts'
import { MemoryInbox } from './inbox.ts'
import { MemoryJobs } from './jobs.ts'
import { MemoryKeys } from './keys.ts'
import { MemoryMail } from './mail.ts'
import { MemoryNotes } from './notes.ts'
import { MemoryRates } from './rates.ts'
import { MemorySchedules } from './schedules.ts'
import { MemorySessions } from './sessions.ts'
import { MemorySignIns } from './sign-ins.ts'
import { MemorySlots } from './slots.ts'
import { MemoryTokens } from './tokens.ts'

/** How much is held; what was used longest ago makes room where nobody counts on it. */
export interface MemoryStoreOptions {
  /** Finished idempotency keys; 10,000 unless said. */
  readonly maxKeys?: number
  /** Characters of all results kept with keys; 64 million unless said. */
  readonly maxResultChars?: number
  /** Of everything else, entries of each kind; 10,000 unless said. */
  readonly maxEntries?: number
  /** Dates events whose cause says no time; the machine's clock unless said. */
  readonly now?: () => number
}

/** A store in this process: it answers at once, never with a promise, and is gone with the process. */
export function createMemoryStore(options: MemoryStoreOptions = {}): Store {
  const { maxKeys = 10_000, maxResultChars = 64 * 1024 * 1024, maxEntries = 10_000, now = Date.now } = options
  const keys = new MemoryKeys({ maxKeys, maxResultChars })
  const budgets = new MemoryBudgets(maxEntries)
  const rates = new MemoryRates(maxEntries)
  const events = new MemoryEvents()
  const asks = new MemoryAsks({ maxAsks: maxEntries, events, now })
  const grants = new MemoryGrants(maxEntries)
  const signIns = new MemorySignIns(maxEntries)
  const slots = new MemorySlots(maxEntries)
  const sessions = new MemorySessions(maxEntries)
  const mail = new MemoryMail(maxEntries)
  return {
    keys,
    budgets,
    rates,
    asks,
    grants,
    tokens: new MemoryTokens(maxEntries),
    signIns,
    jobs: new MemoryJobs(maxEntries),
    slots,
    memory: new MemoryNotes(maxEntries),
    sessions,
    mail,
    calls: new MemoryCalls(maxEntries, (run) =>
      [sessions.find(run), ...sessions.list({ root: run })].map((each) => each?.task),
    ),
    heads: new MemoryHeads(maxEntries),
    canvases: new MemoryCanvases(maxEntries),
    schedules: new MemorySchedules(maxEntries),
    events,
    inbox: new MemoryInbox(),
    check: async () => {},
    backup: async () => {
      throw new ToolError('CONFIG_INVALID', 'This store is in memory only, so there is no file to copy.', {
        hint: 'Give the hub a store in a folder: openStore(folder).',
      })
    },
    sweep(now) {
      for (const part of [keys, budgets, asks, grants, signIns, slots, sessions, mail]) part.sweep(now)
    },
    close: async () => events.close(),
  }
}
