import { randomBytes } from 'node:crypto'
import {
  type ApprovalReply,
  type ApprovalRequest,
  type Clock,
  type GrantStore,
  type StoredGrant,
  ToolError,
} from '@tool-hub/core'
import { parseJson } from '@tool-hub/core/lib'
import { z } from 'zod'
import { parseReply } from './call-approvals.ts'

/** A value that a person has approved for an argument of a tool. */
export interface ApprovedValue {
  /** The name of the argument, or a JSON pointer. */
  readonly argument: string
  /** SHA-256 of the value as canonical JSON: the value itself may be private. */
  readonly hash: string
}

/** A script that a command names, as it was: a remembered yes ends when it changes. */
export interface NamedScript {
  /** For people and to compare: `/srv/app/build.js`, `script "dev" of /srv/app/package.json`. */
  readonly name: string
  /** SHA-256 of its content. */
  readonly hash: string
}

/** A remembered answer, which holds for later calls. */
export interface Grant {
  /** Revoke with this id: `hub.grants.revoke(id)`. */
  readonly id: string
  /** What was answered: later calls it covers run or are denied without a new request. */
  readonly effect: 'allow' | 'deny'
  /** Canonical name of the tool it covers. */
  readonly tool: string
  /**
   * The exact call, any call of the tool on these targets, any that the pattern would allow as a rule, or some values of
   * its arguments, together: a call whose other values come from the user.
   */
  readonly covers: 'exact' | 'targets' | 'pattern' | 'values'
  /** Binds an `exact` grant to tool, arguments, targets and sandbox level. */
  readonly hash: string
  /** The targets that a `targets` grant covers, one line each: `write:fs /srv/notes.md`. */
  readonly targets: readonly string[]
  /** Of `pattern`: what it matches, as in `on` of a rule, and how people read it. */
  readonly pattern?: {
    /** The patterns, in the form that `on` of a rule takes. */
    readonly on: readonly string[]
    /** The same for people, in one line. */
    readonly shown: string
    /** It covers every tool whose name begins so, not only `tool`. */
    readonly tools?: string
  }
  /** Of commands: the scripts that they name, as they were when the answer was given. */
  readonly scripts?: readonly NamedScript[]
  /** Of `values`: the arguments and the hash of each approved value. */
  readonly values?: readonly ApprovedValue[]
  /** Whose calls it covers, where the hub serves several principals. */
  readonly principal?: string
  /** Holds only there; such a grant is never saved. */
  readonly session?: string
  /** When it ends, as ISO 8601; absent when it holds until it is revoked or its session ends. */
  readonly until?: string
  /** Who answered. */
  readonly by: string
  /** Why, as the person said. */
  readonly reason?: string
  /** When it was given, as ISO 8601. */
  readonly createdAt: string
}

/** The request that was answered. */
type GrantRequest = Pick<ApprovalRequest, 'tool' | 'hash' | 'targets' | 'principal' | 'session' | 'run'> &
  Pick<Grant, 'pattern' | 'scripts' | 'values'>

/** The call that a grant may cover. */
interface CoveredCall {
  readonly hash: string
  readonly tool: string
  readonly targets: readonly string[]
  readonly principal?: string
  /** Its session, or `run:` and its run when it has none. */
  readonly session?: string
  /** Only an answer to this exact call counts. */
  readonly isExact?: boolean
  /** Whether the rules would allow the call if the pattern were one of them. */
  readonly permits?: (pattern: NonNullable<Grant['pattern']>) => boolean
  /** The scripts of the call that are not as they were when the answer was given, by their names. */
  readonly changedScripts?: (grant: Grant) => readonly string[]
}

const MAX_IN_MEMORY = 10_000

const MAX_GRANTS = 10_000
const text = z.string().min(1).max(10_000)
const bodySchema = z.strictObject({
  effect: z.enum(['allow', 'deny']),
  covers: z.enum(['exact', 'targets', 'pattern', 'values']),
  hash: z.string().min(1).max(128),
  targets: z.array(text).max(10_000),
  pattern: z.strictObject({ on: z.array(text).min(1).max(100), shown: text, tools: text.optional() }).optional(),
  scripts: z
    .array(z.strictObject({ name: text, hash: text }))
    .max(1_000)
    .optional(),
  values: z
    .array(z.strictObject({ argument: text, hash: text }))
    .max(1_000)
    .optional(),
  principal: z.string().max(200).optional(),
  until: z.iso.datetime().optional(),
  by: z.string().max(200),
  reason: z.string().max(2_000).optional(),
})

/** Remembered answers: those of a session in memory, the others in the store that processes share. */
export class Grants {
  /** Each answer by its subject, see `subjectOf`. */
  readonly #memory = new Map<string, Grant>()
  readonly #saved: SavedGrants
  readonly #clock: Clock

  constructor(options: { readonly store: GrantStore; readonly clock: Clock }) {
    this.#clock = options.clock
    this.#saved = new SavedGrants(options.store, options.clock)
  }

  /** The grant that covers a call. Exact grants win over broader ones, then deny over allow, then the oldest. */
  async find(call: CoveredCall): Promise<Grant | undefined> {
    let best: Grant | undefined
    for (const grant of await this.#usable(call.tool)) {
      if (!covers(grant, call) || changesOf(grant, call).length > 0) continue
      if (!best || isStronger(grant, best)) best = grant
    }
    return best
  }

  /** Scripts that changed since a yes that would cover the call, by their names. Empty if grants cannot be read. */
  async findChangedScripts(call: CoveredCall): Promise<readonly string[]> {
    const covering = (await this.#usable(call.tool)).filter((grant) => covers(grant, call))
    return [...new Set(covering.flatMap((grant) => changesOf(grant, call)))]
  }

  /**
   * The answers that cover values of a tool. Each stands for the values that were approved together: values of several
   * answers do not add up. Empty if they cannot be read.
   */
  async approvedValues(call: Pick<CoveredCall, 'tool' | 'principal' | 'session'>): Promise<readonly Grant[]> {
    const isOfCall = ({ tool, principal, session }: Grant) =>
      tool === call.tool && principal === call.principal && (session === undefined || session === call.session)
    return (await this.#usable(call.tool)).filter(({ covers }) => covers === 'values').filter(isOfCall)
  }

  /** Remembers an answer for as long as it says; `undefined` if it was for once. */
  async remember(request: GrantRequest, reply: ApprovalReply): Promise<Grant | undefined> {
    const grant = this.#toGrant(request, parseReply(reply))
    if (!grant || (grant.until !== undefined && Date.parse(grant.until) <= this.#clock.now())) return undefined
    if (grant.session !== undefined) this.#keep(grant)
    else await this.#saved.put(grant, (other) => subjectOf(other) === subjectOf(grant))
    return grant
  }

  /** Every grant that holds now, oldest first. */
  async list(): Promise<Grant[]> {
    const all = [...(await this.#saved.list()), ...this.#memory.values()]
    return all.sort((a, b) => Date.parse(a.createdAt) - Date.parse(b.createdAt))
  }

  /** Revokes a grant for every process that uses the store; false if there is none with this id. */
  async revoke(id: string): Promise<boolean> {
    for (const [subject, grant] of this.#memory) if (grant.id === id) return this.#memory.delete(subject)
    return this.#saved.remove(id)
  }

  /** Forgets the grants of a session, or of a run without one, when it is over. */
  endSession(session: string): void {
    for (const [subject, grant] of this.#memory) if (grant.session === session) this.#memory.delete(subject)
  }

  async #usable(tool: string): Promise<Grant[]> {
    const ofSession = [...this.#memory.values()]
    try {
      const saved = tool.startsWith('mcp/') ? await this.#saved.list() : await this.#saved.list({ tool })
      return [...saved, ...ofSession]
    } catch {
      // A grant that cannot be read may be a no: until it can be read, no grant allows anything, and a person is asked.
      return ofSession.filter(({ effect }) => effect === 'deny')
    }
  }

  #keep(grant: Grant): void {
    const subject = subjectOf(grant)
    this.#memory.delete(subject)
    this.#memory.set(subject, grant)
    const [oldest] = this.#memory.keys()
    if (this.#memory.size > MAX_IN_MEMORY) this.#memory.delete(oldest!)
  }

  #toGrant(request: GrantRequest, reply: ApprovalReply): Grant | undefined {
    const { remember = 'once', covers: wanted = 'exact', reason, by = 'approver', decision: effect } = reply
    if (remember === 'once') return undefined
    // Only a yes covers a pattern, and only one that was offered; everything else covers this call.
    const pattern = wanted === 'pattern' && effect === 'allow' ? request.pattern : undefined
    // The same holds for values.
    const values = wanted === 'values' && effect === 'allow' ? request.values : undefined
    const isOffered = wanted === 'pattern' ? pattern : wanted === 'values' ? values : true
    const covers = isOffered ? wanted : 'exact'
    const now = this.#clock.now()
    return {
      id: `grant-${randomBytes(8).toString('hex')}`,
      effect,
      tool: request.tool,
      covers,
      hash: request.hash,
      targets: [...request.targets],
      ...(pattern && { pattern }),
      ...(values && { values }),
      ...(request.scripts?.length && effect === 'allow' && { scripts: request.scripts }),
      ...(request.principal !== undefined && { principal: request.principal }),
      ...(remember === 'session' && { session: request.session ?? `run:${request.run}` }),
      ...(typeof remember === 'object' && { until: new Date(remember.until).toISOString() }),
      by,
      ...(reason !== undefined && { reason }),
      createdAt: new Date(now).toISOString(),
    }
  }
}

function covers(grant: Grant, call: CoveredCall): boolean {
  // These prove values, see `approvedValues`; they do not answer for a call.
  if (grant.covers === 'values') return false
  const isOfTool = grant.tool === call.tool || (grant.pattern?.tools && call.tool.startsWith(grant.pattern.tools))
  if (!isOfTool || grant.principal !== call.principal) return false
  if (grant.session !== undefined && grant.session !== call.session) return false
  if (grant.covers === 'pattern')
    return !call.isExact && grant.pattern !== undefined && call.permits?.(grant.pattern) === true
  if (grant.covers === 'exact' || (call.isExact && grant.effect === 'allow')) return grant.hash === call.hash
  // A call without targets is covered only by an answer to such a call.
  if (call.targets.length === 0) return grant.targets.length === 0
  return call.targets.every((target) => grant.targets.includes(target))
}

/** A no covers the call whatever its scripts hold. */
function changesOf(grant: Grant, call: CoveredCall): readonly string[] {
  return grant.effect === 'allow' ? (call.changedScripts?.(grant) ?? []) : []
}

function isStronger(a: Grant, b: Grant): boolean {
  const isExact = a.covers === 'exact'
  if (isExact !== (b.covers === 'exact')) return isExact
  return a.effect === 'deny' && b.effect === 'allow'
}

/** What a grant says, and about what: a newer one replaces the older with the same subject. */
function subjectOf({ tool, effect, covers, session, principal, hash, pattern, values, targets }: Grant): string {
  const scope = { exact: hash, pattern: pattern?.on, values, targets: targets.toSorted() }[covers]
  return JSON.stringify([tool, effect, covers, session, principal, scope])
}

/** The grants in the store, which processes share. One that cannot be read throws: it may be a no. */
export class SavedGrants {
  readonly #store: GrantStore
  readonly #clock: Clock

  constructor(store: GrantStore, clock: Clock) {
    this.#store = store
    this.#clock = clock
  }

  /** The grants that hold now, oldest first. */
  async list(filter?: { readonly tool: string }): Promise<Grant[]> {
    const now = this.#clock.now()
    const stored = await this.#store.list(filter)
    return stored.filter(({ expiresAt }) => expiresAt === undefined || expiresAt > now).map(readGrant)
  }

  /** Stores a grant in place of those that say the same. */
  async put(grant: Grant, isSame: (other: Grant) => boolean): Promise<void> {
    const { id, tool, createdAt, session: _, ...body } = grant
    const others = await this.list({ tool })
    if ((await this.#store.list()).length >= MAX_GRANTS) throw tooMany()
    const times = {
      createdAt: Date.parse(createdAt),
      ...(grant.until !== undefined && { expiresAt: Date.parse(grant.until) }),
    }
    const stored = { id, tool, body: JSON.stringify(body), ...times }
    // One that cannot be read back would keep all others from being used.
    readGrant(stored)
    await this.#store.put(stored)
    for (const other of others) if (isSame(other)) await this.#store.remove(other.id)
  }

  async remove(id: string): Promise<boolean> {
    return this.#store.remove(id)
  }
}

function readGrant({ id, tool, body, createdAt }: StoredGrant): Grant {
  const parsed = bodySchema.safeParse(parseJson(body))
  if (!parsed.success) {
    throw new ToolError('CONFIG_INVALID', `The saved grant ${id} cannot be used: ${z.prettifyError(parsed.error)}`, {
      hint: `Revoke it: tool-hub grants revoke ${id}. Until then, grants allow no call of ${tool}.`,
    })
  }
  return { id, tool, ...parsed.data, createdAt: new Date(createdAt).toISOString() }
}

function tooMany(): ToolError {
  return new ToolError('FILE_TOO_LARGE', `The store holds ${MAX_GRANTS} grants already.`, {
    hint: 'Revoke some: tool-hub grants.',
  })
}
