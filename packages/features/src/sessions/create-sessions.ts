import { type Feature, type FeatureHost, type IndexedRun, ToolError } from '@tool-hub/core'
import { newOwner, retireOwner } from '@tool-hub/sandbox/system'
import { describeSession, OWNER_SENDER, toEntry } from './describe-session.ts'
import { LiveSessions, type SessionRuntime } from './live-sessions.ts'
import { Mailbox } from './mailbox.ts'
import type { Runner, SessionsOptions } from './runner.ts'
import { SessionEvents } from './session-events.ts'
import { createSessionHandle, readCursor, untilOver } from './session-handle.ts'
import { readHistory } from './session-history.ts'
import { SessionRegistry } from './session-registry.ts'
import { runnerBriefs } from './spawn-session.ts'
import type { StoredSession } from './store-types.ts'
import {
  OWNER,
  type SessionEntry,
  type SessionHandle,
  type SessionListing,
  type SessionPage,
  type SessionService,
} from './types.ts'

const LIMIT = 50

const MAX_LISTED = 200

const NAME = /^[A-Za-z][A-Za-z0-9_-]{0,31}$/

const MAX_DEPTH = 10

const MAX_RUNNING = 256

/** Creates the sessions feature: agents that start each other and exchange messages. */
export async function createSessions(
  options: SessionsOptions,
  host: FeatureHost,
): Promise<Feature<SessionHandle, SessionService>> {
  checkSessionsOptions(options)
  const owner = newOwner(host.process)
  const events = new SessionEvents(host)
  const registry = new SessionRegistry({ host, events, owner, visibility: options.visibility ?? 'tree' })
  const mailbox = new Mailbox(host, events, registry)
  const live = new LiveSessions({ options, host, events, registry, mailbox, owner })
  const parts = { options, host, events, registry, mailbox, live }
  await registry.endOrphans()
  return {
    handle: (call) => createSessionHandle(parts, call),
    service: createSessionService(parts),
    endRun: (run) => live.endRun(run),
    calm() {
      live.calm()
      events.close()
    },
    async close() {
      await live.close()
      events.close()
      await registry.leave()
      retireOwner(owner)
    },
  }
}

/** Throws `CONFIG_INVALID` for options that no session could start with. */
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
  // The config names a variable; if it is not set, unsigned requests must not pass as ours.
  return runner.secret === '' ? 'its secret is empty; set the environment variable that holds it' : undefined
}

function assertWithin(key: 'maxDepth' | 'maxRunning', value: number | undefined, most: number): void {
  if (value === undefined || (Number.isInteger(value) && value >= 1 && value <= most)) return
  throw new ToolError('CONFIG_INVALID', `sessions.${key} is ${value}; it must be a whole number from 1 to ${most}.`, {
    fix: { key: `sessions.${key}`, hint: `Use a whole number from 1 to ${most}.` },
  })
}

/** The sessions as the owner of a hub sees them: all sessions and every indexed run. */
function createSessionService(parts: SessionRuntime): SessionService {
  const { options, host, registry, mailbox, live } = parts
  const find = async (name: string): Promise<StoredSession> => {
    const run = await host.store.calls.run(name)
    return registry.resolveAny(name, run && toRow(run))
  }
  return {
    async list(wish = {}) {
      await registry.endOrphans()
      return listAll(parts, wish)
    },

    async find(session) {
      return describeSession(parts, await find(session))
    },

    async history(session, wish = {}) {
      const { id } = await find(session)
      await mailbox.readAsOwner(id)
      return readHistory(host, id, wish)
    },

    async send(session, { by, text, replyTo, waitMs = 0 }) {
      const to = await find(session)
      const sent = await mailbox.sendAsOwner(to, { text, ...(replyTo !== undefined && { replyTo }) })
      await host.recordChange({ by, change: 'message-sent', subject: `session ${to.id}` })
      if (waitMs <= 0) return { message: sent.id, session: to.id, status: 'sent', state: to.state }
      return mailbox.answer(sent, to, { from: OWNER_SENDER, waitMs })
    },

    async spawn({ by, waitMs = 0, ...wish }) {
      const rights = { caller: by }
      const row = await live.begin(wish, { rights, isTainted: false })
      await host.recordChange({ by, change: 'session-begun', subject: row.id })
      return toEntry((await untilOver(parts, row, { waitMs })) ?? row)
    },

    async end(session, { by, reason }) {
      const row = await find(session)
      if (row.seq === 0) throw new ToolError('CONFLICT', `${row.id} is a run without a session.`)
      const why = `It was ended by ${by}${reason === undefined ? '' : `: ${reason}`}.`
      const hasEnded = await live.end(row, { state: 'ended', reason: host.redact(why) })
      if (hasEnded) await host.recordChange({ by, change: 'session-ended', subject: row.id })
      return hasEnded
    },

    runners: async () => runnerBriefs(options),
  }
}

/** Sessions and runs in one list, newest first; a page never splits those that started in the same millisecond. */
async function listAll(
  { host, registry }: SessionRuntime,
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
  // Whether a run that is only in the index is still running is unknown.
  const runs =
    state === 'running' ? [] : await host.store.calls.runs({ caller: principal, before: time, limit: most + 1 })
  const known = await Promise.all(runs.map(({ run }) => host.store.sessions.find(run)))
  const all = [...sessions, ...runs.filter((_, index) => !known[index] && state !== 'failed').map(toRow)]
  all.sort((a, b) => b.createdAt - a.createdAt)
  const entries = (rows: readonly StoredSession[]) =>
    Promise.all(rows.map(async (row) => toEntry(row, await registry.isTainted(row))))
  const isMore = sessions.length > most || runs.length > most || all.length > most
  if (!isMore) return { sessions: await entries(all) }
  const cut = all[Math.min(most, all.length - 1)]?.createdAt ?? 0
  const whole = all.filter(({ createdAt }) => createdAt > cut)
  if (whole.length > 0) return { sessions: await entries(whole), next: String(cut + 1) }
  return { sessions: await entries(all.filter(({ createdAt }) => createdAt === cut)), next: String(cut) }
}

/** A run that has never used sessions. */
function toRow({ run, caller, principal = caller, startedAt, endedAt }: IndexedRun): StoredSession {
  return {
    ...{ id: run, root: run, seq: 0, depth: 0, owner: '', isTainted: false, state: 'ended' },
    ...{ principal, rootPrincipal: OWNER, createdAt: startedAt, endedAt },
  }
}
