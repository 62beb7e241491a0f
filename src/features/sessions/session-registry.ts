import { type FeatureCall, type FeatureHost, ToolError } from '../../core/index.ts'
import { isOwnerAlive } from '../../system/index.ts'
import { OWNER, PARENT } from './bounds.ts'
import type { SessionEnd, SessionState, StoredSession } from './store-types.ts'
import type { SessionEvents } from './session-events.ts'

/** What the book works with. */
export interface SessionRegistryOptions {
  readonly host: Pick<FeatureHost, 'store' | 'clock' | 'isTainted'>
  readonly wakes: SessionEvents
  /** This process, as the owner of what lives in it. */
  readonly owner: string
  readonly visibility: 'tree' | 'principal'
}

const ROWS_A_LOOK = 200
const MAX_LOOKS = 20
/** As many as may go on at once, at the most. */
const MAX_CHILDREN = 256
const GONE = 'The process that it lived in is gone.'

/** Which sessions there are, who sees which, and how they end. */
export class SessionRegistry {
  readonly #options: SessionRegistryOptions
  /** Roots that somebody works in here. */
  readonly #roots = new Set<string>()

  constructor(options: SessionRegistryOptions) {
    this.#options = options
  }

  get #sessions() {
    return this.#options.host.store.sessions
  }

  /** The session of a call. A run gets one when it first asks about sessions. */
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

  /** One by its id; one whose process is gone is ended by whoever finds that out. */
  async find(id: string): Promise<StoredSession | undefined> {
    const row = await this.#sessions.find(id)
    if (!row || !this.#isOrphan(row)) return row
    await this.#endOrphan(row)
    return this.#sessions.find(id)
  }

  /** The session that somebody means by its id, its label, or `parent`; says no more of one out of sight than of none. */
  async resolve(own: StoredSession, name: string): Promise<StoredSession> {
    const found = await this.find(name === PARENT ? (own.parent ?? PARENT) : name)
    if (found && (await this.#sees(own, found))) return found
    const labelled = await this.#sessions.list({ ...this.#reach(own), label: name, limit: ROWS_A_LOOK })
    const seen: StoredSession[] = []
    for (const row of labelled) if (await this.#sees(own, row)) seen.push(row)
    return theOne(name, seen)
  }

  /** The same for the owner, who sees all; `run` is the one of this name where there is one. */
  async resolveAny(name: string, run?: StoredSession): Promise<StoredSession> {
    const known = (await this.find(name)) ?? run
    // An id with a runner is one that the hub made up; a run is called what its caller likes, maybe as another's label.
    if (known?.runner !== undefined) return known
    const labelled = await this.#sessions.list({ label: name, limit: ROWS_A_LOOK })
    if (!known) return theOne(name, labelled)
    const running = labelled.filter(isRunning)
    if (running.length > 0) throw ambiguous(name, [known, ...running])
    return known
  }

  /** What a session sees, newest first. */
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

  /** Those of some sessions that one of them sees. */
  async seen(own: StoredSession, ids: Iterable<string>): Promise<ReadonlySet<string>> {
    const seen = new Set<string>()
    for (const id of new Set(ids)) {
      const row = await this.#sessions.find(id)
      if (row && (await this.#sees(own, row))) seen.add(id)
    }
    return seen
  }

  /** Ends one that goes on; false when it does not any more. */
  async end(id: string, end: Omit<SessionEnd, 'at'>): Promise<boolean> {
    const hasEnded = await this.#sessions.end(id, { ...end, at: this.#options.host.clock.now() })
    if (hasEnded) this.#options.wakes.tell(id)
    return hasEnded
  }

  /** Whether it has read content from outside. */
  isTainted({ id, isTainted }: StoredSession): boolean {
    return isTainted || this.#options.host.isTainted(id)
  }

  /** Ends what a process left behind that was killed. */
  async endOrphans(): Promise<void> {
    for (const row of await this.#sessions.list({ state: 'running' }))
      if (this.#isOrphan(row)) await this.#endOrphan(row)
  }

  /** Nobody works here any more. */
  async leave(): Promise<void> {
    for (const root of this.#roots) await this.end(root, { state: 'ended' })
  }

  leaveRoot(run: string): void {
    this.#roots.delete(run)
  }

  #isOrphan({ state, owner }: StoredSession): boolean {
    return state === 'running' && owner !== this.#options.owner && !isOwnerAlive(owner)
  }

  /** A run may be gone on with by the next process; a runner is dead. */
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

  /** Where to look for what a session sees. */
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

/** Of several with one label those that go on count, if there are some. */
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
  return new ToolError('NOT_FOUND', `There is no session ${JSON.stringify(name.slice(0, 100))}.`, { hint })
}
