import { z } from 'zod'
import type { Clock } from '../../clock.ts'
import { ToolError } from '../../errors.ts'
import type { Hub } from '../../hub.ts'
import type { Ask, Store } from '../../store.ts'
import type { Approval, Question } from '../api/asks.ts'
import { requireScope } from '../auth/require-scope.ts'
import type { AskDesk, EventFeed, Visitor } from '../service.ts'
import { toApproval, toQuestion } from './to-view.ts'

/** What the desk works with. */
export interface AskDeskOptions {
  readonly hub: Pick<Hub, 'approvals' | 'questions'>
  readonly store: Pick<Store, 'asks' | 'events'>
  readonly feed: Pick<EventFeed, 'publish'>
  readonly clock: Clock
}

type View<T> = (ask: Ask, now: number, visitor?: Visitor) => T

const MOST_LISTED = 200
/** Looked through for those that a visitor may see, at most this often and so many at once. */
const MOST_PAGES = 20
const PAGE = 500
const newsSchema = z.object({ id: z.string() })

/** What waits for people in the store, whichever process asked, and their answers; tells the feed as asks come and go. */
export function createAskDesk({ hub, store, feed, clock }: AskDeskOptions): AskDesk & { close(): void } {
  // One after the other: the feed must not say that something waits after it said that it was answered.
  let telling = Promise.resolve()
  const stop = store.events.watch(({ topic, body }) => {
    if (topic === 'ask') telling = telling.then(() => tellFeed({ store, feed, clock }, body))
  })
  const find = async <T extends Approval | Question>(
    visitor: Visitor,
    id: string,
    kind: Ask['kind'],
    view: View<T>,
  ) => {
    const ask = await store.asks.find(id)
    const shown = ask?.kind === kind ? view(ask, clock.now(), visitor) : undefined
    if (shown && mayLook(visitor, shown)) return shown
    throw new ToolError('NOT_FOUND', `There is no ${kind} ${JSON.stringify(id.slice(0, 100))}.`, {
      hint: 'List what waits now.',
    })
  }
  return {
    approvals: (visitor, filter) => list({ store, clock }, visitor, { ...filter, kind: 'approval', view: toApproval }),
    approval: (visitor, id) => find(visitor, id, 'approval', toApproval),
    async answer(visitor, id, answer, via) {
      requireScope(visitor, 'approve')
      await find(visitor, id, 'approval', toApproval)
      const won = (await hub.approvals.answer(id, { ...answer, by: visitor.name, via })) === true
      return { won, approval: await find(visitor, id, 'approval', toApproval) }
    },
    questions: (visitor, filter) => list({ store, clock }, visitor, { ...filter, kind: 'question', view: toQuestion }),
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
function mayLook({ scopes, name }: Visitor, { caller }: Approval | Question): boolean {
  return scopes.has('approve') || scopes.has('read') || caller === name
}

/** Newest first; pages go on until there is enough of what this visitor may see. */
async function list<T extends Approval | Question>(
  { store, clock }: Pick<AskDeskOptions, 'store' | 'clock'>,
  visitor: Visitor,
  wanted: { kind: Ask['kind']; view: View<T>; state?: 'waiting' | 'all'; limit?: number },
): Promise<T[]> {
  const { kind, view, state = 'waiting', limit = MOST_LISTED } = wanted
  const filter = { kind, limit: PAGE, ...(state === 'waiting' && { state }) }
  const now = clock.now()
  const shown = new Map<string, T | undefined>()
  const found = () => [...shown.values()].filter((each) => each !== undefined).slice(0, limit)
  let before: number | undefined
  for (let page = 0; page < MOST_PAGES; page++) {
    const asks = await store.asks.list({ ...filter, ...(before !== undefined && { before }) })
    const fresh = asks.filter(({ id }) => !shown.has(id))
    for (const ask of fresh) {
      const each = viewIfReadable(view, ask, now, visitor)
      const isWanted = each && mayLook(visitor, each) && (state === 'all' || each.state === 'waiting')
      shown.set(ask.id, isWanted ? each : undefined)
    }
    if (asks.length < PAGE || found().length >= limit) break
    // Several may have been asked in the same millisecond, but not pages of them.
    before = asks.at(-1)!.askedAt + (fresh.length > 0 ? 1 : 0)
  }
  return found()
}

/** One that cannot be read keeps nobody from the others; nobody can answer it, so it ends with its time. */
function viewIfReadable<T>(view: View<T>, ask: Ask, now: number, visitor: Visitor): T | undefined {
  try {
    return view(ask, now, visitor)
  } catch {
    return undefined
  }
}

async function tellFeed({ store, feed, clock }: Pick<AskDeskOptions, 'store' | 'feed' | 'clock'>, body: string) {
  try {
    const { id } = newsSchema.parse(JSON.parse(body))
    const ask = await store.asks.find(id)
    if (ask?.kind === 'approval') feed.publish({ type: 'approval', approval: toApproval(ask, clock.now()) })
    if (ask?.kind === 'question') feed.publish({ type: 'question', question: toQuestion(ask, clock.now()) })
  } catch {
    // Whoever watches looks at the list again with the next event; a store that fails is told by its readiness.
  }
}
