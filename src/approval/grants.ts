import { randomBytes } from 'node:crypto'
import type { Clock } from '../clock.ts'
import type { ToolError } from '../errors.ts'
import type { ApprovalReply, ApprovalRequest } from '../result.ts'
import { GrantsFile } from './grants-file.ts'
import { parseReply } from './parse-reply.ts'

/** An answer that was given once and holds for later calls. */
export interface Grant {
  readonly id: string
  readonly effect: 'allow' | 'deny'
  readonly tool: string
  /** The very call, or any call of the tool on these targets. */
  readonly covers: 'exact' | 'targets'
  readonly hash: string
  readonly targets: readonly string[]
  /** Holds only there; such a grant is never saved. */
  readonly session?: string
  readonly until?: string
  readonly by: string
  readonly reason?: string
  readonly createdAt: string
}

/** The call that may be covered already. */
interface GrantQuestion {
  readonly hash: string
  readonly tool: string
  readonly targets: readonly string[]
  /** Its session, or `run:` and its run when it has none. */
  readonly session?: string
  /** Only an answer to this very call counts. */
  readonly isExact?: boolean
}

const MOST_IN_MEMORY = 10_000

/**
 * Remembered answers: those of a session in memory, the others in a file that processes share. Without a file they
 * live as long as the process.
 */
export class Grants {
  readonly #memory = new Map<string, Grant>()
  readonly #file: GrantsFile | undefined
  readonly #clock: Clock

  constructor(options: { readonly file?: string; readonly clock: Clock }) {
    this.#clock = options.clock
    if (options.file !== undefined) this.#file = new GrantsFile(options.file)
  }

  /** Why the saved grants cannot be used, if so. */
  get problem(): ToolError | undefined {
    this.#file?.read()
    return this.#file?.problem
  }

  /** The answer that covers a call: the one for this very call first, and among equals the no. */
  find(call: GrantQuestion): Grant | undefined {
    let best: Grant | undefined
    for (const grant of this.#usable()) {
      if (covers(grant, call) && (!best || rank(grant) > rank(best))) best = grant
    }
    return best
  }

  /** Keeps an answer as long as it says; `undefined` when it was for once. */
  remember(request: ApprovalRequest, reply: ApprovalReply): Grant | undefined {
    const grant = this.#toGrant(request, parseReply(reply))
    if (!grant || !this.#isActive(grant)) return undefined
    if (grant.session !== undefined || !this.#file) this.#keep(grant)
    else
      this.#file.update((grants) => [
        ...grants.filter((other) => this.#isActive(other) && !isSame(other, grant)),
        grant,
      ])
    return grant
  }

  /** Every answer that holds now, oldest first. */
  list(): Grant[] {
    const saved = this.#file?.read() ?? []
    return [...saved, ...this.#memory.values()]
      .filter((grant) => this.#isActive(grant))
      .sort((a, b) => (a.createdAt < b.createdAt ? -1 : a.createdAt > b.createdAt ? 1 : 0))
  }

  /** Takes an answer back, for every process that uses the file; false when there is none with this id. */
  revoke(id: string): boolean {
    if (this.#memory.delete(id)) return true
    if (!this.#file || (!this.problem && !this.#file.read().some((grant) => grant.id === id))) return false
    let isFound = false
    this.#file.update((grants) => {
      const others = grants.filter((grant) => grant.id !== id)
      isFound = others.length < grants.length
      return isFound ? others : grants
    })
    return isFound
  }

  /** Forgets the answers that held in a session, or in a run without one, now that it is over. */
  endSession(session: string): void {
    for (const grant of this.#memory.values()) if (grant.session === session) this.#memory.delete(grant.id)
  }

  *#usable(): Iterable<Grant> {
    const saved = this.#file?.read() ?? []
    // A file that cannot be read may hold a no: until it can, nothing is allowed by what else is remembered.
    const onlyDeny = this.#file?.problem !== undefined
    for (const grant of saved) if (this.#isActive(grant)) yield grant
    for (const grant of this.#memory.values()) {
      if (this.#isActive(grant) && (grant.effect === 'deny' || !onlyDeny)) yield grant
    }
  }

  #isActive(grant: Grant): boolean {
    return grant.until === undefined || Date.parse(grant.until) > this.#clock.now()
  }

  #keep(grant: Grant): void {
    for (const other of this.#memory.values()) if (isSame(other, grant)) this.#memory.delete(other.id)
    this.#memory.set(grant.id, grant)
    if (this.#memory.size <= MOST_IN_MEMORY) return
    for (const id of this.#memory.keys()) {
      this.#memory.delete(id)
      return
    }
  }

  #toGrant(request: ApprovalRequest, reply: ApprovalReply): Grant | undefined {
    const { remember = 'once', covers = 'exact', reason, by = 'approver', decision: effect } = reply
    if (remember === 'once') return undefined
    const now = this.#clock.now()
    return {
      id: `grant-${randomBytes(8).toString('hex')}`,
      effect,
      tool: request.tool,
      covers,
      hash: request.hash,
      targets: [...request.targets],
      ...(remember === 'session' && { session: request.session ?? `run:${request.run}` }),
      ...(typeof remember === 'object' && { until: new Date(remember.until).toISOString() }),
      by,
      ...(reason !== undefined && { reason }),
      createdAt: new Date(now).toISOString(),
    }
  }
}

function covers(grant: Grant, call: GrantQuestion): boolean {
  if (grant.tool !== call.tool) return false
  if (grant.session !== undefined && grant.session !== call.session) return false
  if (grant.covers === 'exact' || (call.isExact && grant.effect === 'allow')) return grant.hash === call.hash
  // Nothing is within everything: a call that names no target is covered only by an answer to such a call.
  if (call.targets.length === 0) return grant.targets.length === 0
  return call.targets.every((target) => grant.targets.includes(target))
}

function rank(grant: Grant): number {
  return (grant.covers === 'exact' ? 2 : 0) + (grant.effect === 'deny' ? 1 : 0)
}

/** The same answer to the same question: the newer takes the place of the older. */
function isSame(a: Grant, b: Grant): boolean {
  if (a.tool !== b.tool || a.effect !== b.effect || a.covers !== b.covers || a.session !== b.session) return false
  if (a.covers === 'exact') return a.hash === b.hash
  return a.targets.length === b.targets.length && a.targets.every((target) => b.targets.includes(target))
}
