import { type FeatureHost, ToolError } from '@tool-hub/core'
import { LiveSession } from './live-session.ts'
import type { Mailbox } from './mailbox.ts'
import type { SessionsOptions } from './runner.ts'
import type { SessionEvents } from './session-events.ts'
import type { SessionRegistry } from './session-registry.ts'
import { type Beginner, planSession } from './spawn-session.ts'
import type { SessionEnd, StoredSession } from './store-types.ts'
import type { SpawnWish } from './types.ts'

/** The components of the sessions feature. */
export interface SessionRuntime {
  readonly options: SessionsOptions
  readonly host: FeatureHost
  readonly events: SessionEvents
  readonly registry: SessionRegistry
  readonly mailbox: Mailbox
  readonly live: LiveSessions
}

/** What all sessions of this process share. */
export interface LiveSessionsOptions {
  readonly options: SessionsOptions
  readonly host: FeatureHost
  readonly events: SessionEvents
  readonly registry: SessionRegistry
  readonly mailbox: Mailbox
  readonly owner: string
}

const DEFAULT_MAX_DEPTH = 5
const DEFAULT_MAX_RUNNING = 16
/** A process runs at most this many times `maxRunning` sessions, whatever their roots: each may be a program. */
const MAX_ROOTS = 16

const CLOSED = { state: 'failed', reason: 'The hub was closed before it was done.' } as const

/** The sessions whose runners work in this process. */
export class LiveSessions {
  readonly #options: LiveSessionsOptions
  readonly #live = new Map<string, LiveSession>()
  #isClosed = false

  constructor(options: LiveSessionsOptions) {
    this.#options = options
  }

  /** Starts a session, which continues after this returns. `onPlanned` runs before anything is stored. */
  async begin(
    wish: SpawnWish,
    beginner: Omit<Beginner, 'above'>,
    { session, onPlanned }: { readonly session?: string; readonly onPlanned?: () => Promise<void> } = {},
  ): Promise<StoredSession> {
    const { options, host, owner, events, registry, mailbox } = this.#options
    const { parent, isTainted } = beginner
    const { maxRunning = DEFAULT_MAX_RUNNING } = options
    const maxHere = MAX_ROOTS * maxRunning
    if (this.#live.size >= maxHere) throw tooMany(maxHere, 'in this process')
    if (parent) this.#assertMayBegin(parent)
    const above = parent ? await this.#above(parent) : []
    const {
      session: row,
      runner,
      rights,
      limits,
    } = planSession(wish, { ...beginner, above }, { options, clock: host.clock, owner })
    await onPlanned?.()
    const kept = { ...row, task: host.redact(row.task!) }
    const seq = await host.store.sessions.add(kept, { maxRunning })
    if (seq === undefined) throw tooMany(maxRunning, 'below this root')
    await this.#assertGoesOn(row.id, parent)
    const stored: StoredSession = { ...kept, seq, state: 'running' }
    const live = new LiveSession({
      ...{
        row: { ...stored, task: row.task! },
        runner,
        rights,
        session: session ?? row.id,
        isTainted,
        lifeMs: limits.wallMs,
      },
      ...{ host, events, registry, mailbox },
      onOver: (id) => this.#over(id),
    })
    this.#live.set(row.id, live)
    events.emit(row.id)
    return stored
  }

  /** Ends a session in any process, and all its children; returns false if it was over already. */
  async end(row: StoredSession, end: Omit<SessionEnd, 'at'>): Promise<boolean> {
    const live = this.#live.get(row.id)
    if (!live) {
      const hasEnded = await this.#options.registry.end(row.id, end)
      await this.#endChildren(row.id)
      return hasEnded
    }
    live.end(end)
    await live.whenOver
    return true
  }

  /** Ends the session of a run that is over. */
  async endRun(run: string): Promise<void> {
    this.#options.registry.leaveRoot(run)
    const row = await this.#options.host.store.sessions.find(run)
    if (row?.state === 'running') await this.end(row, { state: 'ended', reason: 'Its run was ended.' })
  }

  /** Starts no more sessions and ends the running ones. */
  calm(): void {
    this.#isClosed = true
    for (const live of this.#live.values()) live.end(CLOSED)
  }

  async close(): Promise<void> {
    this.calm()
    await Promise.all(Array.from(this.#live.values(), ({ whenOver }) => whenOver))
  }

  async #over(id: string): Promise<void> {
    this.#live.delete(id)
    await this.#endChildren(id)
  }

  async #endChildren(id: string): Promise<void> {
    const reason = overReason(id)
    const children = await this.#options.registry.children(id, 'running')
    await Promise.all(children.map((child) => this.end(child, { state: 'ended', reason })))
  }

  #assertMayBegin({ id, state, depth }: StoredSession): void {
    const { maxDepth = DEFAULT_MAX_DEPTH } = this.#options.options
    if (state !== 'running')
      throw new ToolError('CONFLICT', `The session ${id} is over, so it cannot start another one.`)
    if (depth < maxDepth) return
    throw new ToolError('BUDGET_EXCEEDED', `${depth} sessions lie above a new one, at most ${maxDepth} may.`, {
      fix: { key: 'sessions.maxDepth', hint: 'Do it in this session, or have the owner raise sessions.maxDepth.' },
    })
  }

  /** Its parent may have ended in the meantime and would no longer end it. */
  async #assertGoesOn(id: string, parent: StoredSession | undefined): Promise<void> {
    const { registry, host } = this.#options
    const now = parent && (await host.store.sessions.find(parent.id))
    if (!this.#isClosed && now?.state === parent?.state) return
    const end = this.#isClosed ? CLOSED : { state: 'ended' as const, reason: overReason(parent!.id) }
    await registry.end(id, end)
    throw new ToolError('ABORTED', end.reason)
  }

  async #above(parent: StoredSession): Promise<string[]> {
    const runs = [parent.id]
    let at: StoredSession | undefined = parent
    while (at?.parent !== undefined) {
      runs.push(at.parent)
      at = await this.#options.host.store.sessions.find(at.parent)
    }
    return runs
  }
}

function overReason(parent: string): string {
  return `The session that started it, ${parent}, is over.`
}

function tooMany(most: number, where: string): ToolError {
  return new ToolError('RATE_LIMITED', `${most} sessions are already running ${where}, which is the limit.`, {
    fix: { key: 'sessions.maxRunning', hint: 'Wait until one has ended; core/session.list shows them.' },
  })
}
