import { join, resolve } from 'node:path'
import type { Awaitable, Store } from '../core/index.ts'
import { perform } from '../core/sql/index.ts'
import { featureStores } from '../features/generated/stores/index.ts'
import { createEvents } from './sql/events.ts'
import { bindAll, createRepositories, type StoreParts, sweep } from './sql/repositories.ts'
import type { SyncFile } from './sqlite/log-sync.ts'
import { StoreFile } from './sqlite/store-file.ts'

/** Options of `openStore`. */
export interface OpenStoreOptions {
  /** How long a write waits for another process; the thread is blocked meanwhile. Default: 2 s. */
  readonly busyTimeoutMs?: number
  /** How often to look for events of other processes while somebody watches. Default: every 200 ms. */
  readonly pollMs?: number
  /** Maximum number of 4 KB pages of the file. Default: as many as fit on the disk. */
  readonly maxPages?: number
  /** Dates events whose cause has no time of its own. Default: the clock of the machine. */
  readonly now?: () => number
  /** How long after a durable write the file `store.generation` is updated. Default: 1 s. */
  readonly markMs?: number
  /** Syncs the log of the file; for tests of a failing disk. */
  readonly syncFile?: SyncFile
}

/** The store of a data folder, in its file `store.db`: created and opened at its first use, shared by processes. */
export function openStore(folder: string, options: OpenStoreOptions = {}): Store {
  const { busyTimeoutMs = 2_000, pollMs = 200, maxPages, now = Date.now, markMs = 1_000, syncFile } = options
  const path = join(resolve(folder), 'store.db')
  const file = new StoreFile(path, { busyTimeoutMs, maxPages, pollMs, markMs, syncFile })
  const { driver } = file
  const events = createEvents(driver)
  return {
    ...withDurability(file, bindAll(driver, createRepositories({ events, now }))),
    events: { append: events.append, watch: events.watch },
    async check() {
      file.assertIntact()
      file.generation.assertCurrent()
      driver.run(WRITE_CHECK)
      driver.run(`DELETE FROM counters WHERE name = 'check'`)
      await file.synced()
      file.assertInPlace()
    },
    backup: (target) => file.backUp(target),
    sweep: (time) => perform(driver, sweep(time)),
    async close() {
      events.close()
      await file.close()
    },
  }
}

const WRITE_CHECK = `INSERT INTO counters (name, value) VALUES ('check', 1)
 ON CONFLICT (name) DO UPDATE SET value = counters.value + 1`

/**
 * The methods that resolve only once what they wrote survives a loss of power, because a person or a caller relies on it:
 * a key that is claimed, an answer that is used and a schedule that fires are on disk before their side effect, which must
 * not happen twice. Everything else is synced within a second: budgets, rates, the index, events, leases, the last use of
 * a token.
 */
const DURABLE: Readonly<Record<string, readonly string[] | undefined>> = Object.assign(
  {
    keys: ['claim', 'finish'],
    approvals: ['file', 'answer', 'adopt', 'use'],
    grants: ['put', 'remove'],
    tokens: ['add', 'remove'],
    signIns: ['add', 'remove', 'removeOf'],
    jobs: ['add'],
    heads: ['put', 'remove'],
  } satisfies { readonly [Part in keyof StoreParts]?: readonly (keyof StoreParts[Part])[] },
  ...featureStores.map(({ durable }) => durable),
)

type Method = (...values: never[]) => Awaitable<unknown>

/** The same parts, whose durable methods wait until the log of the file is synced. */
function withDurability(file: StoreFile, parts: StoreParts): StoreParts {
  const durable = Object.entries(DURABLE).map(([name, methods]) => {
    const part: Readonly<Record<string, Method>> = { ...parts[name as keyof StoreParts] }
    const waiting = (methods ?? []).map((method) => [method, untilSynced(file, part[method]!)])
    return [name, { ...part, ...Object.fromEntries(waiting) }]
  })
  return { ...parts, ...Object.fromEntries(durable) }
}

function untilSynced(file: StoreFile, write: Method): Method {
  return (...values) => {
    const outcome = write(...values)
    const syncing = file.synced()
    if (!syncing) return outcome
    file.generation.request()
    return syncing.then(() => outcome)
  }
}
