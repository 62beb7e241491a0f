import type { CallEntry } from '../../api/types.ts'
import { createValue, type WatchedValue } from '../../state/create-value.ts'
import { mergeCalls } from './merge-calls.ts'

/** The list as it is shown. */
export interface LiveSnapshot {
  readonly rows: readonly CallEntry[]
  /** New calls that are kept back while somebody reads. */
  readonly waiting: number
  readonly isLoading: boolean
  readonly error: Error | undefined
  /** There are no older ones, or no room for them. */
  readonly isComplete: boolean
}

/** A list of calls that grows at the top as they happen, and at the end as somebody scrolls. */
export interface LiveList extends Pick<WatchedValue<LiveSnapshot>, 'get' | 'watch'> {
  reload(): Promise<void>
  loadMore(): Promise<void>
  hear(call: CallEntry): void
  /** While held, new calls wait; those in the list still change. */
  hold(isHeld: boolean): void
  close(): void
}

interface LiveListOptions {
  readonly fits: (call: CallEntry) => boolean
  readonly load: (before?: number) => Promise<{ calls: CallEntry[]; next?: number }>
  /** To show until the first page is there. */
  readonly seed?: readonly CallEntry[]
  readonly most?: number
  readonly batchMs?: number
}

const MOST_ROWS = 100_000
const BATCH_MS = 200

/** Makes a live list; `reload` fetches its first page. */
export function createLiveList({
  fits,
  load,
  seed = [],
  most = MOST_ROWS,
  batchMs = BATCH_MS,
}: LiveListOptions): LiveList {
  const value = createValue<LiveSnapshot>({
    rows: seed,
    waiting: 0,
    isLoading: true,
    error: undefined,
    isComplete: false,
  })
  const change = (part: Partial<LiveSnapshot>) => value.set({ ...value.get(), ...part })
  let shown = new Set<string>()
  let heard: CallEntry[] = []
  let aside: CallEntry[] = []
  let next: number | undefined
  let isHeld = false
  let isFetching = false
  let timer: ReturnType<typeof setTimeout> | undefined

  const show = (calls: readonly CallEntry[], rows = value.get().rows) => {
    const merged = mergeCalls(rows, calls, { fits, most })
    for (const { callId } of calls) shown.add(callId)
    return merged
  }
  const flush = () => {
    clearTimeout(timer)
    timer = undefined
    // Without a first page there is nothing yet to put them into.
    if (value.get().isLoading) return
    const [now, later] = isHeld ? split(heard, shown) : [[...aside, ...heard], []]
    aside = isHeld ? mergeCalls(aside, later, { fits, most }) : []
    heard = []
    const rows = now.length > 0 ? show(now) : value.get().rows
    if (rows !== value.get().rows || value.get().waiting !== aside.length) change({ rows, waiting: aside.length })
  }
  const fetchPage = async (before: number | undefined, begin: readonly CallEntry[] | undefined) => {
    if (isFetching) return
    isFetching = true
    try {
      const page = await load(before)
      if (begin) shown = new Set()
      next = page.next
      const rows = show(page.calls, begin)
      change({ rows, isLoading: false, error: undefined, isComplete: next === undefined || rows.length >= most })
    } catch (error) {
      change({ isLoading: false, error: error as Error })
    } finally {
      isFetching = false
    }
    flush()
  }
  return {
    get: value.get,
    watch: value.watch,
    reload: () => fetchPage(undefined, []),
    async loadMore() {
      if (!value.get().isComplete && next !== undefined) await fetchPage(next, undefined)
    },
    hear(call) {
      heard.push(call)
      timer ??= setTimeout(flush, batchMs)
    },
    hold(wanted) {
      if (wanted === isHeld) return
      isHeld = wanted
      if (!isHeld) flush()
    },
    close: () => clearTimeout(timer),
  }
}

function split(calls: readonly CallEntry[], shown: ReadonlySet<string>): [CallEntry[], CallEntry[]] {
  return [calls.filter(({ callId }) => shown.has(callId)), calls.filter(({ callId }) => !shown.has(callId))]
}
