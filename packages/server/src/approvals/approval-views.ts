import { type StoredApproval, ToolError } from '@tool-hub/core'
import {
  type Approval,
  approval,
  approvalRequest,
  type QuestionEntry,
  questionReply,
  questionRequest,
  type ServiceEvent,
} from '@tool-hub/core/protocol'
import { isOwnCall } from '@tool-hub/runtime/approvals'
import { isOwnerAlive } from '@tool-hub/sandbox/system'
import { z } from 'zod'
import type { Caller } from '../auth/caller.ts'

/** Columns of the store, which count more than the same fields in the stored request. */
const COLUMNS = { id: true, callId: true, run: true, tool: true, askedAt: true, expiresAt: true } as const
const approvalFacts = approvalRequest.omit({ ...COLUMNS, session: true })
const questionFacts = questionRequest.omit(COLUMNS)
const { decision, reason, remember } = approval.shape.answered.unwrap().shape
const decisionFacts = z.object({ decision, reason, remember: remember.catch(undefined), input: z.unknown().optional() })

/** What a request says, for every viewer and in every state. */
type ApprovalFacts = z.infer<typeof approvalFacts>
type QuestionFacts = z.infer<typeof questionFacts>

/** Makes the view of a stored request for one viewer; without a viewer, for everybody who may answer. */
export type View<T> = (stored: StoredApproval, now: number, viewer?: Caller) => T

/** A call that waits for approval. */
export const toApproval: View<Approval> = (stored, now, viewer) =>
  showApproval(readJson(approvalFacts, stored, stored.request), stored, now, viewer)

/** A question of a tool; the caller may answer it, too: it is the person behind the agent. */
export const toQuestion: View<QuestionEntry> = (stored, now, viewer) =>
  showQuestion(readJson(questionFacts, stored, stored.request), stored, now, viewer)

const MAX_KEPT = 2_000

/** Short views for lists and events. A request is read once, because lists are read again and again. */
export class ShortViews {
  readonly #approvals = new Map<string, ShortFacts<ApprovalFacts>>()
  readonly #questions = new Map<string, ShortFacts<QuestionFacts>>()

  readonly approval: View<Approval> = (stored, now, viewer) => {
    const { facts, isCut } = keep(this.#approvals, stored, approvalFacts)
    return withShortAnswer(showApproval(facts, stored, now, viewer), isCut)
  }

  readonly question: View<QuestionEntry> = (stored, now, viewer) => {
    const { facts, isCut } = keep(this.#questions, stored, questionFacts)
    return withShortAnswer(showQuestion(facts, stored, now, viewer), isCut)
  }
}

/** An event as one caller gets it: whether it may answer is up to its scopes, and nobody approves their own calls. */
export function eventFor({ name, scopes }: Pick<Caller, 'name' | 'scopes'>, event: ServiceEvent): ServiceEvent {
  if (event.type === 'question') {
    const { question } = event
    return { ...event, question: { ...question, mayAnswer: question.mayAnswer && scopes.has('approve') } }
  }
  if (event.type !== 'approval') return event
  const { approval } = event
  const mayAnswer = approval.mayAnswer && scopes.has('approve') && approval.caller !== name
  return { ...event, approval: { ...approval, mayAnswer } }
}

interface ShortFacts<T> {
  readonly facts: T
  readonly isCut: boolean
}

/** How much is kept: characters of a text, entries of a list. */
interface Cut {
  readonly chars: number
  readonly items: number
}

/** Bytes of one request in a list, approximately: it is read at a glance, and a page of 500 stays small. */
const MAX_BYTES = 4_096
const CUTS: readonly Cut[] = [
  { chars: 500, items: 10 },
  { chars: 150, items: 4 },
  { chars: 50, items: 2 },
  { chars: 20, items: 1 },
]

/** Shortens a request if it is long: keeps the ends of texts and the beginnings of lists; arguments become a text. */
export function cutFacts<T extends object>(facts: T): ShortFacts<T> {
  if (bytesOf(facts) <= MAX_BYTES) return { facts, isCut: false }
  let cut = facts
  for (const step of CUTS) {
    cut = Object.fromEntries(Object.entries(facts).flatMap((entry) => cutFact(entry, step))) as T
    if (bytesOf(cut) <= MAX_BYTES) break
  }
  return { facts: cut, isCut: true }
}

function showApproval(
  { caller, principal = caller, ...facts }: ApprovalFacts,
  stored: StoredApproval,
  now: number,
  viewer?: Caller,
): Approval {
  const progress = progressOf(stored, now, viewer)
  const mayAnswer = progress.mayAnswer && !isOwnCall(principal, viewer?.name)
  const view = { ...facts, ...progress, caller: principal, mayAnswer }
  if (!stored.answer) return view
  return { ...view, answered: { ...answererOf(stored.answer), ...decisionOf(stored, stored.answer.reply) } }
}

function showQuestion(
  { caller, principal = caller, ...facts }: QuestionFacts,
  stored: StoredApproval,
  now: number,
  viewer?: Caller,
): QuestionEntry {
  const view = { ...facts, ...progressOf(stored, now, viewer), caller: principal }
  if (!stored.answer) return view
  const answer = readJson(questionReply, stored, stored.answer.reply)
  return { ...view, answered: { ...answererOf(stored.answer), answer } }
}

/** The columns, and what has become of the request. */
function progressOf(stored: StoredApproval, now: number, viewer: Caller | undefined) {
  const { id, callId, run, tool } = stored
  // A process that is gone cannot mark its request as expired.
  const state = stored.state === 'waiting' && stored.expiresAt <= now ? 'expired' : stored.state
  const isWaiting = state === 'waiting'
  const { owner } = stored
  return {
    id,
    callId,
    run,
    tool,
    askedAt: new Date(stored.askedAt).toISOString(),
    expiresAt: new Date(stored.expiresAt).toISOString(),
    state,
    isOrphan: isWaiting && owner !== null && !isOwnerAlive(owner),
    ...(isWaiting && owner === null && { isLeft: true as const }),
    mayAnswer: isWaiting && (viewer === undefined || viewer.scopes.has('approve')),
  }
}

function answererOf({ by, via, at }: NonNullable<StoredApproval['answer']>) {
  return { by, via, at: new Date(at).toISOString() }
}

function decisionOf(stored: StoredApproval, reply: string) {
  const { decision, reason, remember, input } = readJson(decisionFacts, stored, reply)
  return {
    decision,
    reason,
    remember,
    ...(input !== undefined && { changed: true as const }),
  }
}

function keep<T extends { readonly caller: string; readonly principal?: string }>(
  kept: Map<string, ShortFacts<T>>,
  stored: StoredApproval,
  schema: z.ZodType<T>,
): ShortFacts<T> {
  const known = kept.get(stored.id)
  if (known) return known
  const facts = readJson(schema, stored, stored.request)
  const short = cutFacts(facts)
  // The caller decides who may answer, and is never shortened.
  const whole = { ...short.facts, caller: facts.caller, ...(facts.principal && { principal: facts.principal }) }
  const added = { facts: whole, isCut: short.isCut }
  if (kept.size >= MAX_KEPT) kept.delete(kept.keys().next().value!)
  kept.set(stored.id, added)
  return added
}

function withShortAnswer<T extends Approval | QuestionEntry>(view: T, isCut: boolean): T {
  const short = view.answered && cutFacts(view.answered)
  return { ...view, ...(short && { answered: short.facts }), ...((isCut || short?.isCut) && { isCut: true }) }
}

/** Arguments and answers have any shape; a form without some of its fields would be another form, so it is left out. */
function cutFact([name, value]: [string, unknown], cut: Cut): [string, unknown][] {
  if (name === 'input' || name === 'answer') return [[name, cutJson(value, cut)]]
  if (name === 'form') return []
  // Both are compared, not read.
  if (name === 'hash' || name === 'script') return [[name, value]]
  return [[name, cutValue(value, cut)]]
}

function cutJson(value: unknown, { chars }: Cut): unknown {
  const json = JSON.stringify(value) ?? ''
  return json.length > chars ? cutMiddle(json, chars) : value
}

function cutValue(value: unknown, cut: Cut): unknown {
  if (typeof value === 'string') return value.length > cut.chars ? cutMiddle(value, cut.chars) : value
  if (Array.isArray(value)) return value.slice(0, cut.items).map((each) => cutValue(each, cut))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, cutValue(each, cut)]))
}

/** Keeps both ends: something dangerous could be hidden at the end. */
function cutMiddle(text: string, chars: number): string {
  const half = Math.ceil(chars / 2)
  return `${text.slice(0, half)} …(${text.length - 2 * half} characters)… ${text.slice(-half)}`
}

function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value))
}

function readJson<T>(schema: z.ZodType<T>, { id }: StoredApproval, json: string): T {
  try {
    return schema.parse(JSON.parse(json))
  } catch (cause) {
    throw new ToolError('INTERNAL', `What the store has of ${id} cannot be read.`, { cause })
  }
}
