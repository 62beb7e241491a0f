import { type Feature, type FeatureHost, type IndexedRun, ToolError } from '../../core/index.ts'
import { newOwner, retireOwner } from '../../system/index.ts'
import { OWNER } from './bounds.ts'
import { describeSession } from './describe-session.ts'
import { LiveSessions } from './live-sessions.ts'
import { Mailbox } from './mailbox.ts'
import { createSessionHandle, readCursor, untilOver } from './session-handle.ts'
import { readHistory } from './session-history.ts'
import type { SessionRuntime } from './live-sessions.ts'
import { SessionRegistry } from './session-registry.ts'
import type { StoredSession } from './store-types.ts'
import { runnerBriefs } from './spawn-session.ts'
import { OWNER_SENDER, toEntry } from './describe-session.ts'
import type {
  Runner,
  SessionEntry,
  SessionHandle,
  SessionListing,
  SessionPage,
  SessionService,
  SessionsOptions,
} from './types.ts'
import { SessionEvents } from './session-events.ts'

const LIMIT = 50

const MAX_LISTED = 200

const NAME = /^[A-Za-z][A-Za-z0-9_-]{0,31}$/

const MAX_DEPTH = 10

const MAX_RUNNING = 256

/** Sessions: agents that see, write to and begin each other, each known by its run. */
export async function createSessions(
  options: SessionsOptions,
  host: FeatureHost,
): Promise<Feature<SessionHandle, SessionService>> {
  checkSessionsOptions(options)
  const owner = newOwner()
  const wakes = new SessionEvents(host)
  const book = new SessionRegistry({ host, wakes, owner, visibility: options.visibility ?? 'tree' })
  const post = new Mailbox(host, wakes, book)
  const live = new LiveSessions({ options, host, wakes, book, post, owner })
  const parts = { options, host, wakes, book, post, live }
  await book.endOrphans()
  return {
    handle: (call) => createSessionHandle(parts, call),
    service: createSessionService(parts),
    endRun: (run) => live.endRun(run),
    calm() {
      live.calm()
      wakes.close()
    },
    async close() {
      await live.close()
      wakes.close()
      await book.leave()
      retireOwner(owner)
    },
  }
}

/** Refuses options that no session could begin with, when sessions are first used. */
export function checkSessionsOptions({ runners = {}, maxDepth, maxRunning }: SessionsOptions): void {
  assertWithin('maxDepth', maxDepth, MAX_DEPTH)
  assertWithin('maxRunning', maxRunning, MAX_RUNNING)
  for (const [name, runner] of Object.entries(runners)) {
    const problem = NAME.test(name)
      ? problemOf(runner)
      : 'a name has letters, digits, _ and -, at most 32, a letter first'
    if (problem === undefined) continue
    throw new ToolError(
      'CONFIG_INVALID',
      `The runner ${JSON.stringify(name.slice(0, 60))} cannot be used: ${problem}.`,
      {
        fix: { key: 'sessions.runners', hint: 'See docs/reference/sessions.md for what a runner is.' },
      },
    )
  }
}

function problemOf(runner: Runner): string | undefined {
  if (runner.type === 'command') return runner.argv.length > 0 ? undefined : 'argv needs a program'
  if (runner.type !== 'url') return typeof runner.run === 'function' ? undefined : 'run must be a function'
  if (!URL.canParse(runner.url) || !/^https?:$/.test(new URL(runner.url).protocol))
    return 'url must be an address of http or https'
  // A config names a variable for it; one that is not set must not make the service take unsigned turns for ours.
  return runner.secret === '' ? 'its secret is empty; set the environment variable that holds it' : undefined
}

function assertWithin(key: 'maxDepth' | 'maxRunning', value: number | undefined, most: number): void {
  if (value === undefined || (Number.isInteger(value) && value >= 1 && value <= most)) return
  throw new ToolError('CONFIG_INVALID', `sessions.${key} is ${value}; it must be a whole number from 1 to ${most}.`, {
    fix: { key: `sessions.${key}`, hint: `Use a whole number from 1 to ${most}.` },
  })
}

/** The sessions as the owner of a hub sees them: all of them, and every run that is in the index. */
function createSessionService(parts: SessionRuntime): SessionService {
  const { options, host, book, post, live } = parts
  const find = async (name: string): Promise<StoredSession> => {
    const run = await host.store.calls.run(name)
    return book.resolveAny(name, run && toRow(run))
  }
  return {
    async list(wish = {}) {
      await book.endOrphans()
      return listAll(parts, wish)
    },

    async find(session) {
      return describeSession(parts, await find(session))
    },

    async history(session, wish = {}) {
      const { id } = await find(session)
      await post.readAsOwner(id)
      return readHistory(host, id, wish)
    },

    async send(session, { by, text, replyTo, waitMs = 0 }) {
      const to = await find(session)
      const sent = await post.sendAsOwner(to, { text, ...(replyTo !== undefined && { replyTo }) })
      await host.recordChange({ by, change: 'message-sent', subject: `session ${to.id}` })
      if (waitMs <= 0) return { message: sent.id, session: to.id, status: 'sent', state: to.state }
      return post.answer(sent, to, { from: OWNER_SENDER, waitMs })
    },

    async spawn({ by, waitMs = 0, ...wish }) {
      const rights = { caller: by }
      const row = await live.begin(wish, { rights, isTainted: false })
      await host.recordChange({ by, change: 'session-begun', subject: row.id })
      return toEntry((await untilOver(parts, row, { waitMs })) ?? row)
    },

    async end(session, { by, reason }) {
      const row = await find(session)
      if (row.seq === 0) throw new ToolError('CONFLICT', `${row.id} is a run that no session is known of.`)
      const why = `It was ended by ${by}${reason === undefined ? '' : `: ${reason}`}.`
      const hasEnded = await live.end(row, { state: 'ended', reason: host.redact(why) })
      if (hasEnded) await host.recordChange({ by, change: 'session-ended', subject: row.id })
      return hasEnded
    },

    runners: async () => runnerBriefs(options),
  }
}

/** Sessions and runs in one list, newest first; a page does not split what began in one millisecond. */
async function listAll(
  { host, book }: SessionRuntime,
  { state, before, principal, limit = LIMIT }: SessionListing & { readonly principal?: string },
): Promise<SessionPage<SessionEntry>> {
  const most = Math.min(Math.max(1, Math.trunc(limit)), MAX_LISTED)
  const time = readCursor(before)
  const sessions = await host.store.sessions.list({
    state,
    rootPrincipal: principal,
    createdBefore: time,
    limit: most + 1,
  })
  // Of a run that is only in the index nobody knows whether it goes on.
  const runs =
    state === 'running' ? [] : await host.store.calls.runs({ caller: principal, before: time, limit: most + 1 })
  const known = await Promise.all(runs.map(({ run }) => host.store.sessions.find(run)))
  const all = [...sessions, ...runs.filter((_, index) => !known[index] && state !== 'failed').map(toRow)]
  all.sort((a, b) => b.createdAt - a.createdAt)
  const entries = (rows: readonly StoredSession[]) => rows.map((row) => toEntry(row, book.isTainted(row)))
  const isMore = sessions.length > most || runs.length > most || all.length > most
  if (!isMore) return { sessions: entries(all) }
  const cut = all[Math.min(most, all.length - 1)]?.createdAt ?? 0
  const whole = all.filter(({ createdAt }) => createdAt > cut)
  if (whole.length > 0) return { sessions: entries(whole), next: String(cut + 1) }
  return { sessions: entries(all.filter(({ createdAt }) => createdAt === cut)), next: String(cut) }
}

/** A run that never asked about sessions. */
function toRow({ run, caller, principal = caller, startedAt, endedAt }: IndexedRun): StoredSession {
  return {
    ...{ id: run, root: run, seq: 0, depth: 0, owner: '', isTainted: false, state: 'ended' },
    ...{ principal, rootPrincipal: OWNER, createdAt: startedAt, endedAt },
  }
}
