import { setImmediate } from 'node:timers/promises'
import { type ApprovalBrief, type Clock, type Store, type StoredApproval, ToolError, watchTopic } from '@tool-hub/core'
import type { Approval, ApprovalAnswer, approvalQuery, QuestionEntry, questionAnswer } from '@tool-hub/core/protocol'
import type { Hub } from '@tool-hub/runtime/hub'
import { z } from 'zod'
import { type Caller, requireScope } from '../auth/caller.ts'
import type { EventHub } from '../services/event-hub.ts'
import { ShortViews, toApproval, toQuestion, type View } from './approval-views.ts'

interface ApprovalServiceOptions {
  readonly hub: Pick<Hub, 'approvals' | 'questions'>
  readonly store: Pick<Store, 'approvals' | 'events' | 'tokens'>
  readonly events: Pick<EventHub, 'publish'>
  readonly clock: Clock
}

/** Which requests are listed; `before` is the `next` of an earlier page. */
type Filter = Partial<z.output<typeof approvalQuery>>

/** Pending approvals and questions as one caller may see and answer them; nobody approves their own calls. */
export type ApprovalService = ReturnType<typeof createApprovalService>

const MAX_LISTED = 200
/** How many are searched for one page: all that wait, and the latest of the others. */
const MAX_WAITING = 10_000
const MAX_PAST = 2_000
/** Characters read before other work gets a turn; a request counts as `MIN_CHARS` at least. */
const CHARS_PER_TURN = 200_000
const MIN_CHARS = 5_000
const eventSchema = z.object({ id: z.string() })

/**
 * What each caller may see and answer of the pending approvals and questions, whichever process made the call. Publishes an
 * event for every change.
 */
export function createApprovalService({ hub, store, events, clock }: ApprovalServiceOptions) {
  const short = new ShortViews()
  // In order: an event for a pending request must not follow the one that it was answered.
  let publishing = Promise.resolve()
  const stop = watchTopic(store.events, 'ask', (body) => {
    publishing = publishing.then(() => publishChange({ store, events, clock, short }, body))
  })
  const find = async <T extends Approval | QuestionEntry>(
    viewer: Caller,
    id: string,
    kind: StoredApproval['kind'],
    view: View<T>,
  ) => {
    const stored = await store.approvals.find(id)
    const shown = stored?.kind === kind ? view(stored, clock.now(), viewer) : undefined
    if (shown && maySee(viewer, shown)) return (await markRevoked(store, [shown]))[0]!
    throw new ToolError('NOT_FOUND', `Unknown ${kind} ${JSON.stringify(id.slice(0, 100))}.`, {
      hint: 'List what waits now.',
    })
  }
  const approval = (viewer: Caller, id: string) => find(viewer, id, 'approval', toApproval)
  const question = (viewer: Caller, id: string) => find(viewer, id, 'question', toQuestion)
  return {
    /** Newest first, with a share for every caller, long requests shortened; the next page may repeat some. */
    async approvals(viewer: Caller, filter?: Filter): Promise<{ approvals: readonly Approval[]; next?: string }> {
      const wanted = { ...filter, kind: 'approval', view: short.approval } as const
      const { shown: approvals, ...more } = await list({ store, clock }, viewer, wanted)
      return { approvals, ...more }
    },
    approval,
    /** The first answer wins. */
    async answer(viewer: Caller, id: string, answer: ApprovalAnswer, via: string) {
      requireScope(viewer, 'approve')
      // What cannot be shown to the caller cannot be answered either.
      await approval(viewer, id)
      const won = (await hub.approvals.answer(id, { ...answer, by: viewer.name, via })) === true
      return { won, approval: await approval(viewer, id) }
    },
    /** As `approvals`. */
    async questions(viewer: Caller, filter?: Filter): Promise<{ questions: readonly QuestionEntry[]; next?: string }> {
      const wanted = { ...filter, kind: 'question', view: short.question } as const
      const { shown: questions, ...more } = await list({ store, clock }, viewer, wanted)
      return { questions, ...more }
    },
    question,
    /** Answers a question. */
    async reply(viewer: Caller, id: string, { answer, values }: z.output<typeof questionAnswer>, via: string) {
      requireScope(viewer, 'approve')
      await question(viewer, id)
      const reply = values ?? answer
      if (reply === undefined) throw new ToolError('INPUT_SCHEMA_INVALID', 'The reply has neither answer nor values.')
      const won = (await hub.questions.answer(id, reply, { by: viewer.name, via })) === true
      return { won, question: await question(viewer, id) }
    },
    /** Makes a caller that may answer reachable, so that calls wait; returns a function that ends it. */
    attend({ scopes }: Caller): () => void {
      // A caller that cannot answer would let calls wait for nobody.
      if (!scopes.has('approve')) return () => {}
      const leave = [hub.approvals.watch(() => {}), hub.questions.watch(() => {})]
      return () => {
        for (const each of leave.splice(0)) each()
      }
    },
    close: stop,
  }
}

/** A caller that may neither answer nor read sees only its own calls. */
function maySee(viewer: Caller, { caller }: Approval | QuestionEntry): boolean {
  return seesAll(viewer) || caller === viewer.name
}

function seesAll({ scopes }: Caller): boolean {
  return scopes.has('approve') || scopes.has('read')
}

/** Newest first. The store lists briefs; the requests are read one by one, because they may be large. */
async function list<T extends Approval | QuestionEntry>(
  { store, clock }: Pick<ApprovalServiceOptions, 'store' | 'clock'>,
  viewer: Caller,
  {
    kind,
    view,
    state = 'waiting',
    before,
    limit = MAX_LISTED,
  }: Filter & { kind: StoredApproval['kind']; view: View<T> },
): Promise<{ shown: T[]; next?: string }> {
  const now = clock.now()
  const isWaiting = state === 'waiting'
  const start = before === undefined ? undefined : readPosition(before)
  const maxSearched = isWaiting ? MAX_WAITING : MAX_PAST
  const found = await store.approvals.briefs({
    kind,
    limit: maxSearched,
    state: isWaiting ? 'waiting' : undefined,
    caller: seesAll(viewer) ? undefined : viewer.name,
    before: start && start.askedAt + 1,
  })
  const briefs = found.filter((brief) => (!start || isAfter(start, brief)) && (!isWaiting || brief.expiresAt > now))
  const isEnd = found.length < maxSearched
  const { picked, next = isEnd ? undefined : positionOf(found.at(-1)!) } = pickFairly(briefs, limit)
  const shown: T[] = []
  let charsRead = 0
  for (const { id } of picked) {
    const stored = await store.approvals.find(id)
    const each = stored && viewIfReadable(view, stored, now, viewer)
    if (each && (!isWaiting || each.state === 'waiting')) shown.push(each)
    charsRead += MIN_CHARS + (stored?.request.length ?? 0)
    if (charsRead < CHARS_PER_TURN) continue
    charsRead = 0
    await setImmediate()
  }
  return { shown: await markRevoked(store, shown), next }
}

/** A position between two requests, newest first. */
interface Position {
  readonly askedAt: number
  /** Of several in one millisecond. */
  readonly id?: string
}

const POSITION = /^(\d{1,15})(?:~(\S{1,250}))?$/

/**
 * Picks requests so that every caller has a share: the newest of each caller first, then the second newest. `next` is the
 * position up to which all were picked; the page that starts there misses nothing, and may repeat some.
 */
function pickFairly(briefs: readonly ApprovalBrief[], limit: number): { picked: ApprovalBrief[]; next?: string } {
  const turns = new Map<string, number>()
  const inTurn = briefs.map(({ caller }, index) => {
    const turn = turns.get(caller) ?? 0
    turns.set(caller, turn + 1)
    return { index, turn }
  })
  const chosen = inTurn.sort((a, b) => a.turn - b.turn || a.index - b.index).slice(0, limit)
  const indexes = new Set(chosen.map(({ index }) => index))
  const firstLeft = briefs.findIndex((_, index) => !indexes.has(index))
  const last = briefs[firstLeft - 1]
  return { picked: briefs.filter((_, index) => indexes.has(index)), next: last && positionOf(last) }
}

function positionOf({ askedAt, id }: ApprovalBrief): string {
  return `${askedAt}~${id}`
}

/** Reads the `next` of a page, or a time in milliseconds. */
function readPosition(text: string): Position {
  const [, time, id] = POSITION.exec(text) ?? []
  if (time !== undefined) return { askedAt: Number(time), id }
  throw new ToolError('INPUT_SCHEMA_INVALID', 'before is not a position in the list.', {
    hint: 'Pass the next of the page before.',
  })
}

function isAfter({ askedAt, id }: Position, brief: ApprovalBrief): boolean {
  return brief.askedAt < askedAt || (brief.askedAt === askedAt && id !== undefined && brief.id < id)
}

/** Marks the requests whose caller's token was revoked; an agent that a token started has its name after a slash. */
async function markRevoked<T extends Approval | QuestionEntry>(
  { tokens }: Pick<Store, 'tokens'>,
  shown: readonly T[],
): Promise<T[]> {
  const isOfToken = ({ state, caller }: T) => state === 'waiting' && caller.startsWith('token:')
  if (!shown.some(isOfToken)) return [...shown]
  const known = new Set((await tokens.list()).map(({ name }) => `token:${name}`))
  return shown.map((each) =>
    isOfToken(each) && !known.has(each.caller.split('/')[0]!) ? { ...each, isRevoked: true } : each,
  )
}

/** A request that cannot be read must not hide the others; nobody can answer it, so it expires. */
function viewIfReadable<T>(view: View<T>, stored: StoredApproval, now: number, viewer: Caller): T | undefined {
  try {
    return view(stored, now, viewer)
  } catch {
    return undefined
  }
}

/** Short views: the event stream keeps thousands of events for clients that reconnect. */
async function publishChange(
  { store, events, clock, short }: Pick<ApprovalServiceOptions, 'store' | 'events' | 'clock'> & { short: ShortViews },
  body: string,
) {
  try {
    const { id } = eventSchema.parse(JSON.parse(body))
    const stored = await store.approvals.find(id)
    if (stored?.kind === 'approval') events.publish({ type: 'approval', approval: short.approval(stored, clock.now()) })
    if (stored?.kind === 'question') events.publish({ type: 'question', question: short.question(stored, clock.now()) })
  } catch {
    // Clients read the list again with the next event; the readiness check reports a store that fails.
  }
}
