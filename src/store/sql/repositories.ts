import { SESSION_AGE_MS } from '../../core/store/sessions.ts'
import type { Store } from '../../core/store.ts'
import { bind, type Driver, type Repository, run, transaction, type Work } from '../driver.ts'
import { APPROVAL_AGE_MS, createApprovals, grants } from './approvals.ts'
import { canvases } from './canvases.ts'
import { EVENT_AGE_MS, type EventLog } from './events.ts'
import { inbox } from './inbox.ts'
import { jobs, slots } from './jobs.ts'
import { budgets, keys, rates } from './limits.ts'
import { notes } from './notes.ts'
import { calls, heads } from './records.ts'
import { schedules } from './schedules.ts'
import { mail, sessions } from './sessions.ts'
import { signIns, tokens } from './tokens.ts'

/** The parts of a store that are repositories. */
export type StoreParts = Omit<Store, 'events' | 'check' | 'backup' | 'sweep' | 'close'>

/** The repositories of all parts. */
export type Repositories = { readonly [Name in keyof StoreParts]: Repository<StoreParts[Name]> }

/** The repositories of a store. */
export function createRepositories(options: { readonly events: EventLog; readonly now: () => number }): Repositories {
  return {
    keys,
    budgets,
    rates,
    approvals: createApprovals(options),
    grants,
    tokens,
    signIns,
    jobs,
    slots,
    memory: notes,
    sessions,
    mail,
    calls,
    heads,
    canvases,
    schedules,
    inbox,
  }
}

/** The parts of a store that the repositories are on this database. */
export function bindAll<R extends Partial<Repositories>>(
  driver: Driver,
  repositories: R,
): Pick<StoreParts, keyof R & keyof StoreParts> {
  const parts = Object.entries(repositories).map(([name, repository]) => [
    name,
    bind(driver, repository as Repository<object>),
  ])
  return Object.fromEntries(parts)
}

/** Deletes what has expired, in all tables. */
export function sweep(now: number): Work<void> {
  return transaction(function* () {
    yield* run(`DELETE FROM idempotency_keys WHERE expires_at <= ? AND state = 'finished'`, now)
    yield* run('DELETE FROM budgets WHERE expires_at <= ?', now)
    yield* run('DELETE FROM rates WHERE full_at <= ?', now)
    yield* run('DELETE FROM grants WHERE expires_at <= ?', now)
    yield* run('DELETE FROM sessions WHERE expires_at <= ?', now)
    yield* run('DELETE FROM slots WHERE leased_until <= ?', now)
    const longAgo = now - APPROVAL_AGE_MS
    yield* run(`DELETE FROM asks WHERE expires_at < ? OR (asked_at < ? AND state <> 'waiting')`, longAgo, longAgo)
    yield* run('DELETE FROM events WHERE created_at < ?', now - EVENT_AGE_MS)
    yield* run('DELETE FROM agent_sessions WHERE ended_at < ?', now - SESSION_AGE_MS)
    yield* run('DELETE FROM agent_mail WHERE sent_at < ?', now - SESSION_AGE_MS)
  })
}
