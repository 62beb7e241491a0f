import { setImmediate } from 'node:timers/promises'
import { z } from 'zod'
import type { Clock } from '../../clock.ts'
import { ToolError } from '../../errors.ts'
import type { Hub } from '../../hub.ts'
import type { Ask, Store } from '../../store.ts'
import type { Approval, Question } from '../api/asks.ts'
import { requireScope } from '../auth/require-scope.ts'
import type { AskDesk, AskFilter, EventFeed, Visitor } from '../service.ts'
import { isAfter, pickFairly, placeOf, readPlace } from './pick-fairly.ts'
import { ShortViews } from './short-views.ts'
import { toApproval, toQuestion } from './to-view.ts'

/** What the desk works with. */
export interface AskDeskOptions {
  readonly hub: Pick<Hub, 'approvals' | 'questions'>
  readonly store: Pick<Store, 'asks' | 'events' | 'tokens'>
  readonly feed: Pick<EventFeed, 'publish'>
  readonly clock: Clock
}

type View<T> = (ask: Ask, now: number, visitor?: Visitor) => T

const MOST_LISTED = 200
/** So many are looked through for one page: all that wait, and the latest of those that are over. */
const MOST_WAITING = 10_000
const MOST_PAST = 2_000
/** So much is read before others have their turn; an ask counts as so much at least. */
const CHARS_A_TURN = 200_000
const MIN_CHARS = 5_000
const newsSchema = z.object({ id: z.string() })

/** What waits for people in the store, whichever process asked, and their answers; tells the feed as asks come and go. */
export function createAskDesk({ hub, store, feed, clock }: AskDeskOptions): AskDesk & { close(): void } {
  // One after the other: the feed must not say that something waits after it said that it was answered.
  let telling = Promise.resolve()
  const short = new ShortViews()
  const approvalOf: View<Approval> = (...ask) => short.approval(...ask)
  const questionOf: View<Question> = (...ask) => short.question(...ask)
  const stop = store.events.watch(({ topic, body }) => {
    if (topic === 'ask') telling = telling.then(() => tellFeed({ store, feed, clock, short }, body))
  })
  const find = async <T extends Approval | Question>(
    visitor: Visitor,
    id: string,
    kind: Ask['kind'],
    view: View<T>,
  ) => {
    const ask = await store.asks.find(id)
    const shown = ask?.kind === kind ? view(ask, clock.now(), visitor) : undefined
    if (shown && mayLook(visitor, shown)) return (await markRevoked(store, [shown]))[0]!
    throw new ToolError('NOT_FOUND', `There is no ${kind} ${JSON.stringify(id.slice(0, 100))}.`, {
      hint: 'List what waits now.',
    })
  }
  return {
    async approvals(visitor, filter) {
      const wanted = { ...filter, kind: 'approval', view: approvalOf } as const
      const { shown: approvals, ...more } = await list({ store, clock }, visitor, wanted)
      return { approvals, ...more }
    },
    approval: (visitor, id) => find(visitor, id, 'approval', toApproval),
    async answer(visitor, id, answer, via) {
      requireScope(visitor, 'approve')
      await find(visitor, id, 'approval', toApproval)
      const won = (await hub.approvals.answer(id, { ...answer, by: visitor.name, via })) === true
      return { won, approval: await find(visitor, id, 'approval', toApproval) }
    },
    async questions(visitor, filter) {
      const wanted = { ...filter, kind: 'question', view: questionOf } as const
      const { shown: questions, ...more } = await list({ store, clock }, visitor, wanted)
      return { questions, ...more }
    },
    question: (visitor, id) => find(visitor, id, 'question', toQuestion),
    async reply(visitor, id, { answer, values }, via) {
      requireScope(visitor, 'approve')
      await find(visitor, id, 'question', toQuestion)
      const reply = values ?? answer
      if (reply === undefined) throw new ToolError('INPUT_SCHEMA_INVALID', 'The reply has neither answer nor values.')
      const won = (await hub.questions.answer(id, reply, { by: visitor.name, via })) === true
      return { won, question: await find(visitor, id, 'question', toQuestion) }
    },
    attend({ scopes }) {
      // Whoever only looks on would let calls wait for nobody.
      if (!scopes.has('approve')) return () => {}
      const leave = [hub.approvals.watch(() => {}), hub.questions.watch(() => {})]
      return () => {
        for (const each of leave.splice(0)) each()
      }
    },
    close: stop,
  }
}

/** Whoever may neither answer nor look sees its own asks only. */
function mayLook(visitor: Visitor, { caller }: Approval | Question): boolean {
  return seesAll(visitor) || caller === visitor.name
}

function seesAll({ scopes }: Visitor): boolean {
  return scopes.has('approve') || scopes.has('read')
}

/** Newest first, from the store without the asks themselves, which are read one by one: they may be large. */
async function list<T extends Approval | Question>(
  { store, clock }: Pick<AskDeskOptions, 'store' | 'clock'>,
  visitor: Visitor,
  { kind, view, state = 'waiting', before, limit = MOST_LISTED }: AskFilter & { kind: Ask['kind']; view: View<T> },
): Promise<{ shown: T[]; next?: string }> {
  const now = clock.now()
  const isWaiting = state === 'waiting'
  const place = before === undefined ? undefined : readPlace(before)
  const most = isWaiting ? MOST_WAITING : MOST_PAST
  const found = await store.asks.briefs({
    kind,
    limit: most,
    ...(isWaiting && { state: 'waiting' }),
    ...(!seesAll(visitor) && { caller: visitor.name }),
    ...(place && { before: place.askedAt + 1 }),
  })
  const asks = found.filter((ask) => (!place || isAfter(place, ask)) && (!isWaiting || ask.expiresAt > now))
  const isEnd = found.length < most
  const { picked, next = isEnd ? undefined : placeOf(found.at(-1)!) } = pickFairly(asks, limit)
  const shown: T[] = []
  let charsRead = 0
  for (const { id } of picked) {
    const ask = await store.asks.find(id)
    const each = ask && viewIfReadable(view, ask, now, visitor)
    if (each && (!isWaiting || each.state === 'waiting')) shown.push(each)
    charsRead += MIN_CHARS + (ask?.request.length ?? 0)
    if (charsRead < CHARS_A_TURN) continue
    charsRead = 0
    await setImmediate()
  }
  return { shown: await markRevoked(store, shown), ...(next !== undefined && { next }) }
}

/** Says of what waits that the token of its caller is gone; an agent that a token started has its name after a slash. */
async function markRevoked<T extends Approval | Question>(
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

/** One that cannot be read keeps nobody from the others; nobody can answer it, so it ends with its time. */
function viewIfReadable<T>(view: View<T>, ask: Ask, now: number, visitor: Visitor): T | undefined {
  try {
    return view(ask, now, visitor)
  } catch {
    return undefined
  }
}

/** In short: the feed keeps thousands of events for those who were away. */
async function tellFeed(
  { store, feed, clock, short }: Pick<AskDeskOptions, 'store' | 'feed' | 'clock'> & { short: ShortViews },
  body: string,
) {
  try {
    const { id } = newsSchema.parse(JSON.parse(body))
    const ask = await store.asks.find(id)
    if (ask?.kind === 'approval') feed.publish({ type: 'approval', approval: short.approval(ask, clock.now()) })
    if (ask?.kind === 'question') feed.publish({ type: 'question', question: short.question(ask, clock.now()) })
  } catch {
    // Whoever watches looks at the list again with the next event; a store that fails is told by its readiness.
  }
}
