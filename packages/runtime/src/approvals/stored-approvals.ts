import {
  type ApprovalRequest,
  type Clock,
  messageOf,
  type QuestionRequest,
  type Store,
  type StoredAnswer,
  type StoredApproval,
  type StoredEvent,
  ToolError,
} from '@tool-hub/core'
import { parseJson } from '@tool-hub/core/lib'
import { approvalRequest, questionRequest } from '@tool-hub/core/protocol'
import { z } from 'zod'
import type { Answerer, ApprovalKind, PendingRequest, QueueStore } from './pending-request.ts'

/** A request of any process, with what the person is shown. */
export type StoredRequest =
  | { readonly kind: 'approval'; readonly stored: StoredApproval; readonly request: ApprovalRequest }
  | { readonly kind: 'question'; readonly stored: StoredApproval; readonly request: QuestionRequest }

/** Pending requests of one principal; more would hide those of others. */
const MAX_PENDING_OF_PRINCIPAL = 100
/** The same for a hub without principals, where the owner makes all calls. */
const MAX_PENDING = 10_000

/** Finding out whether an answer is used, and using it, takes milliseconds. */
const CLAIM_MS = 60_000
/** For how long an answer that came while no call waited can be used. */
const ANSWER_LIFETIME_MS = 24 * 3_600_000

/** How long to wait after the store could not be read. */
const LOOK_AGAIN_MS = 500

const MAX_STORED_CHARS = 1_000_000
const SHOWN_INPUT_CHARS = 200_000

/** What an answer from another process must know of the request. */
const targetSchema = z.object({
  principal: approvalRequest.shape.principal,
  form: questionRequest.shape.form,
})
/** Topic of the store's events about requests. */
const TOPIC = 'ask'
const eventSchema = z.object({ id: z.string() })

/** Stores a request for every process to see; RATE_LIMITED if too many of its principal wait. */
export async function storeRequest(
  { approvals }: QueueStore,
  request: PendingRequest,
  { kind, hash, owner }: Pick<StoredApproval, 'kind' | 'hash'> & { readonly owner: string | null },
): Promise<void> {
  const { id, callId, run, tool, principal, caller } = request
  const names = { id, kind, callId, run, tool, caller: principal ?? caller, hash }
  const times = { askedAt: Date.parse(request.askedAt), expiresAt: Date.parse(request.expiresAt) }
  const maxWaiting = principal === undefined ? MAX_PENDING : MAX_PENDING_OF_PRINCIPAL
  const row = { ...names, ...times, request: encodeRequest(request), owner }
  await approvals.file(row, { maxWaiting })
}

/**
 * The request as other processes read it. Arguments that are too long to be read are stored as their two ends, and the
 * reason says so.
 */
export function encodeRequest(request: PendingRequest): string {
  const json = JSON.stringify(request)
  if (json.length <= MAX_STORED_CHARS || !('input' in request)) return json
  const input = JSON.stringify(request.input) ?? ''
  const left = input.length - SHOWN_INPUT_CHARS
  if (left <= 0) return json
  const half = SHOWN_INPUT_CHARS / 2
  const ends = `${input.slice(0, half)} … ${left} characters in between are not shown … ${input.slice(-half)}`
  const warning = `WARNING: the arguments have ${input.length} characters, and ${left} in the middle of them are not shown.`
  const reason = 'reason' in request ? `${request.reason} ${warning}` : warning
  return JSON.stringify({ ...request, input: ends, reason })
}

/** Whether other processes would see only the ends of its arguments. */
export function isStoredInPart(request: PendingRequest): boolean {
  return JSON.stringify(request).length > MAX_STORED_CHARS
}

/**
 * Takes over the request of the same call that waits, or whose answer no call has used: of a process that is gone, or of a
 * call that did not wait.
 */
export async function adoptRequest(
  { approvals }: QueueStore,
  wanted: { readonly hash: string; readonly caller: string; readonly owner: string | null; readonly now: number },
): Promise<StoredApproval | undefined> {
  const found = await approvals.adopt(wanted)
  const { now } = wanted
  const isUsable = found?.answer ? found.answer.at + ANSWER_LIFETIME_MS > now : found && found.expiresAt > now
  return isUsable ? found : undefined
}

/** Stores an answer. The first one wins: returns whether this one did, and the request as it is now. */
export async function storeAnswer(
  { approvals }: QueueStore,
  id: string,
  answer: StoredAnswer,
): Promise<{ readonly won: boolean; readonly ask: StoredApproval } | undefined> {
  try {
    return await approvals.answer(id, answer)
  } catch (cause) {
    // The first answer wins, so it may be given again whatever the store has kept.
    const isUnknown = ToolError.is(cause) && cause.details?.outcome === 'unknown'
    throw new ToolError('RECORDS_UNAVAILABLE', `The answer to ${id} was not stored: ${messageOf(cause)}`, {
      hint: isUnknown
        ? `Whether ${id} was answered is not known: answer again, the first answer counts.`
        : `Nothing was decided, and ${id} still waits: answer again when the store can be written.`,
      cause,
    })
  }
}

/** Claims an answer for one call; false if another call has used it, perhaps in another process. */
export async function claimAnswer(
  { approvals, slots }: QueueStore,
  { id, callId, now }: { readonly id: string; readonly callId: string; readonly now: number },
): Promise<boolean> {
  const slot = `ask:${id}`
  if (!(await slots.lease(slot, { owner: callId, now, until: now + CLAIM_MS }))) return false
  try {
    const found = await approvals.find(id)
    if (found?.state !== 'answered' || found.used) return false
    await approvals.use(id)
    return true
  } finally {
    await slots.release(slot, callId)
  }
}

/**
 * Answers a request of any process: false if it no longer waits, `undefined` if there is none with this id. An answer
 * that does not fit is refused.
 */
export async function answerStored<Request, Answer extends Answerer>(
  { store, clock, kind }: { store: QueueStore; clock: Clock; kind: ApprovalKind<Request, Answer> },
  id: string,
  given: unknown,
  answerer?: Answerer,
): Promise<boolean | undefined> {
  const answer = kind.parse(given, answerer)
  const found = await store.approvals.find(id)
  if (found?.kind !== kind.kind) return undefined
  if (found.state !== 'waiting') return false
  if (found.expiresAt <= clock.now()) {
    await store.approvals.withdraw(id, 'expired')
    return false
  }
  const target = { tool: found.tool, ...readTarget(found) }
  await kind.check?.(answer, target)
  kind.assertFits(answer, target)
  return (await storeAnswer(store, id, { ...kind.encode(answer), at: clock.now() }))?.won
}

/** The requests that wait in any process, oldest first; those of another version that cannot be read are left out. */
export async function listPending({ approvals }: Pick<Store, 'approvals'>, clock: Clock): Promise<StoredRequest[]> {
  const now = clock.now()
  const waiting = (await approvals.list({ state: 'waiting' })).filter(({ expiresAt }) => expiresAt > now)
  return waiting.reverse().flatMap((each) => readRequest(each) ?? [])
}

/** Reads a request from the store; `undefined` if another version wrote it and it cannot be understood. */
export function readRequest(stored: StoredApproval): StoredRequest | undefined {
  const json = parseJson(stored.request)
  if (stored.kind === 'approval') {
    const { data: request } = approvalRequest.safeParse(json)
    return request && { kind: 'approval', stored, request }
  }
  const { data: request } = questionRequest.safeParse(json)
  return request && { kind: 'question', stored, request }
}

function readTarget({ id, request }: StoredApproval): z.infer<typeof targetSchema> {
  const parsed = targetSchema.safeParse(parseJson(request))
  if (parsed.success) return parsed.data
  throw new ToolError('INTERNAL', `The request of ${id} in the store cannot be read.`)
}

/** Notifies of the end of requests in any process; watches the store only while there is a listener. */
export class RequestEnds {
  readonly #store: QueueStore
  readonly #clock: Clock
  readonly #listeners = new Map<string, (stored: StoredApproval) => void>()
  #stopWatching: (() => void) | undefined

  constructor(store: QueueStore, clock: Clock) {
    this.#store = store
    this.#clock = clock
  }

  /** Calls the listener when a request was answered or withdrawn. Returns a function that removes it. */
  on(id: string, listener: (stored: StoredApproval) => void): () => void {
    this.#stopWatching ??= this.#store.events.watch((event) => this.#onEvent(event))
    this.#listeners.set(id, listener)
    return () => {
      this.#listeners.delete(id)
      if (this.#listeners.size > 0) return
      this.#stopWatching?.()
      this.#stopWatching = undefined
    }
  }

  #onEvent({ topic, body }: StoredEvent): void {
    const id = topic === TOPIC ? eventSchema.safeParse(parseJson(body)).data?.id : undefined
    if (id !== undefined) void this.look(id)
  }

  /** Looks whether a request has ended, again until the store says so. */
  async look(id: string): Promise<void> {
    if (!this.#listeners.has(id)) return
    try {
      const stored = await this.#store.approvals.find(id)
      if (stored && stored.state !== 'waiting') this.#listeners.get(id)?.(stored)
    } catch {
      this.#clock.after(LOOK_AGAIN_MS, () => void this.look(id), { background: true })
    }
  }
}
