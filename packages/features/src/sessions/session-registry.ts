import { type FeatureCall, type FeatureHost, ToolError } from '@tool-hub/core'
import { isOwnerAlive } from '@tool-hub/sandbox/system'
import type { SessionEvents } from './session-events.ts'
import type { SessionEnd, SessionState, StoredSession } from './store-types.ts'
import { OWNER, PARENT } from './types.ts'

/** What the registry works with. */
export interface SessionRegistryOptions {
  readonly host: Pick<FeatureHost, 'store' | 'clock' | 'isTainted'>
  readonly events: SessionEvents
  /** This process, as the owner of its sessions. */
  readonly owner: string
  readonly visibility: 'tree' | 'principal'
}

const ROWS_A_LOOK = 200
const MAX_LOOKS = 20
/** The upper bound of `maxRunning`. */
const MAX_CHILDREN = 256
const GONE = 'The process that it ran in is gone.'

/** Finds sessions, decides which of them a session sees, and ends them. */
export class SessionRegistry {
  readonly #options: SessionRegistryOptions
  /** Root sessions that are active in this process. */
  readonly #roots = new Set<string>()

  constructor(options: SessionRegistryOptions) {
    this.#options = options
  }

  get #sessions() {
    return this.#options.host.store.sessions
  }

  /** The session of a call, created when a run first uses sessions. */
  async own({ run, principal, isTainted }: FeatureCall): Promise<StoredSession> {
    if (run === OWNER || run === PARENT) throw notFound(run, 'A run of this name has no session; use another one.')
    const known = await this.#sessions.find(run)
    const row = known ?? (await this.#addRoot(run, principal, isTainted))
    if (row.principal !== principal) throw notFound(run)
    if (isTainted && !row.isTainted) await this.#sessions.taint(run)
    if (row.runner !== undefined) return { ...row, isTainted: row.isTainted || isTainted }
    this.#roots.add(run)
    const { owner } = this.#options
    const isAway = row.state !== 'running' || (row.owner !== owner && !isOwnerAlive(row.owner))
    if (isAway) await this.#sessions.reopen(run, owner)
    return { ...row, state: 'running', isTainted: row.isTainted || isTainted }
  }

  /** Finds a session by id; ends it first if its process is gone. */
  async find(id: string): Promise<StoredSession | undefined> {
    const row = await this.#sessions.find(id)
    if (!row || !this.#isOrphan(row)) return row
    await this.#endOrphan(row)
    return this.#sessions.find(id)
  }

  /** Finds a session by id, label or `parent`. A session that is out of sight gives the same error as one that does not exist. */
  async resolve(own: StoredSession, name: string): Promise<StoredSession> {
    const found = await this.find(name === PARENT ? (own.parent ?? PARENT) : name)
    if (found && (await this.#sees(own, found))) return found
    const labelled = await this.#sessions.list({ ...this.#reach(own), label: name, limit: ROWS_A_LOOK })
    const seen: StoredSession[] = []
    for (const row of labelled) if (await this.#sees(own, row)) seen.push(row)
    return theOne(name, seen)
  }

  /** The same for the owner, who sees all sessions; `run` is the run of this name, if there is one. */
  async resolveAny(name: string, run?: StoredSession): Promise<StoredSession> {
    const known = (await this.find(name)) ?? run
    // The hub generates the ids of sessions with a runner; a caller chooses the name of a run, which may equal a label.
    if (known?.runner !== undefined) return known
    const labelled = await this.#sessions.list({ label: name, limit: ROWS_A_LOOK })
    if (!known) return theOne(name, labelled)
    const running = labelled.filter(isRunning)
    if (running.length > 0) throw ambiguous(name, [known, ...running])
    return known
  }

  /** The sessions that a session sees, newest first. */
  async list(
    own: StoredSession,
    { state, before, limit }: { state?: SessionState; before?: number; limit: number },
  ): Promise<{ rows: StoredSession[]; next?: number }> {
    const rows: StoredSession[] = []
    let place = before
    for (let look = 0; look < MAX_LOOKS; look++) {
      const found = await this.#sessions.list({ ...this.#reach(own), state, before: place, limit: ROWS_A_LOOK })
      for (const row of found) {
        if (rows.length >= limit) return { rows, next: place }
        place = row.seq
        if (await this.#sees(own, row)) rows.push(row)
      }
      if (found.length < ROWS_A_LOOK) return { rows }
    }
    return { rows, next: place }
  }

  async children(id: string, state?: SessionState): Promise<readonly StoredSession[]> {
    return this.#sessions.list({ parent: id, state, limit: MAX_CHILDREN })
  }

  /** The ids among `ids` that a session sees. */
  async seen(own: StoredSession, ids: Iterable<string>): Promise<ReadonlySet<string>> {
    const seen = new Set<string>()
    for (const id of new Set(ids)) {
      const row = await this.#sessions.find(id)
      if (row && (await this.#sees(own, row))) seen.add(id)
    }
    return seen
  }

  /** Ends a running session; returns false if it is over already. */
  async end(id: string, end: Omit<SessionEnd, 'at'>): Promise<boolean> {
    const hasEnded = await this.#sessions.end(id, { ...end, at: this.#options.host.clock.now() })
    if (hasEnded) this.#options.events.emit(id)
    return hasEnded
  }

  /** Whether it has read untrusted content. */
  async isTainted({ id, isTainted }: StoredSession): Promise<boolean> {
    return isTainted || this.#options.host.isTainted(id)
  }

  /** Ends the sessions of processes that no longer exist. */
  async endOrphans(): Promise<void> {
    for (const row of await this.#sessions.list({ state: 'running' }))
      if (this.#isOrphan(row)) await this.#endOrphan(row)
  }

  /** Ends the root sessions of this process. */
  async leave(): Promise<void> {
    for (const root of this.#roots) await this.end(root, { state: 'ended' })
  }

  leaveRoot(run: string): void {
    this.#roots.delete(run)
  }

  #isOrphan({ state, owner }: StoredSession): boolean {
    return state === 'running' && owner !== this.#options.owner && !isOwnerAlive(owner)
  }

  /** Another process may continue a run, but a runner is dead. */
  #endOrphan({ id, runner }: StoredSession): Promise<boolean> {
    return this.end(id, runner === undefined ? { state: 'ended', reason: GONE } : { state: 'failed', reason: GONE })
  }

  async #addRoot(run: string, principal: string | undefined, isTainted: boolean): Promise<StoredSession> {
    const { host, owner } = this.#options
    const whose = { ...(principal !== undefined && { principal }), rootPrincipal: principal ?? OWNER }
    await this.#sessions.add({
      ...{ id: run, root: run, depth: 0, ...whose, isTainted },
      createdAt: host.clock.now(),
      owner,
    })
    return (await this.#sessions.find(run))!
  }

  /** The filter for what a session may see. */
  #reach({ root, rootPrincipal }: StoredSession): { root: string } | { rootPrincipal: string } {
    return this.#options.visibility === 'principal' ? { rootPrincipal } : { root }
  }

  async #sees(own: StoredSession, other: StoredSession): Promise<boolean> {
    if (own.id === other.id) return true
    if (this.#options.visibility === 'principal' && own.rootPrincipal === other.rootPrincipal) return true
    if (own.root !== other.root || own.depth === other.depth) return false
    return own.depth < other.depth ? this.#isAbove(own, other) : this.#isAbove(other, own)
  }

  async #isAbove(above: StoredSession, below: StoredSession): Promise<boolean> {
    let at: StoredSession | undefined = below
    while (at && at.depth > above.depth) {
      if (at.parent === above.id) return true
      at = at.parent === undefined ? undefined : await this.#sessions.find(at.parent)
    }
    return false
  }
}

/** Of several sessions with one label, running ones take precedence. */
function theOne(name: string, rows: readonly StoredSession[]): StoredSession {
  const running = rows.filter(isRunning)
  const [first, second] = running.length > 0 ? running : rows
  if (!first) throw notFound(name)
  if (!second || running.length === 0) return first
  throw ambiguous(name, running)
}

function isRunning({ state }: StoredSession): boolean {
  return state === 'running'
}

function ambiguous(name: string, rows: readonly StoredSession[]): ToolError {
  const ids = rows.slice(0, 5).map(({ id }) => id)
  return new ToolError('CONFLICT', `${rows.length} sessions are called ${JSON.stringify(name)}.`, {
    hint: `Name one by its id: ${ids.join(', ')}.`,
  })
}

function notFound(name: string, hint = 'List the sessions that you see with core/session.list.'): ToolError {
  return new ToolError('NOT_FOUND', `Session ${JSON.stringify(name.slice(0, 100))} not found.`, { hint })
}
