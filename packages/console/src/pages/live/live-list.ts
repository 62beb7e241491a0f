import type { CallEntry } from '../../api/types.ts'
import { createValue, type WatchedValue } from '../../lib/watched-value.ts'

/** The state of the list. */
export interface LiveSnapshot {
  readonly rows: readonly CallEntry[]
  /** The number of new calls that are held back while the user reads. */
  readonly waiting: number
  readonly isLoading: boolean
  readonly error: Error | undefined
  /** There are no older calls, or no room for them. */
  readonly isComplete: boolean
}

/** A list of calls that grows at the top as they happen, and at the end as the user scrolls. */
export interface LiveList extends Pick<WatchedValue<LiveSnapshot>, 'get' | 'watch'> {
  reload(): Promise<void>
  loadMore(): Promise<void>
  add(call: CallEntry): void
  /** While held, new calls are held back; calls in the list are still updated. */
  hold(isHeld: boolean): void
  close(): void
}

interface LiveListOptions {
  readonly fits: (call: CallEntry) => boolean
  readonly load: (before?: number) => Promise<{ calls: CallEntry[]; next?: number }>
  /** Shown until the first page is loaded. */
  readonly seed?: readonly CallEntry[]
  readonly most?: number
  readonly batchMs?: number
}

const MAX_ROWS = 100_000
const BATCH_MS = 200

/** Creates a live list; `reload` fetches its first page. */
export function createLiveList({
  fits,
  load,
  seed = [],
  most = MAX_ROWS,
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
  let received: CallEntry[] = []
  let heldBack: CallEntry[] = []
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
    // Before the first page, no list exists to add them to.
    if (value.get().isLoading) return
    const [now, later] = isHeld ? split(received, shown) : [[...heldBack, ...received], []]
    heldBack = isHeld ? mergeCalls(heldBack, later, { fits, most }) : []
    received = []
    const rows = now.length > 0 ? show(now) : value.get().rows
    if (rows !== value.get().rows || value.get().waiting !== heldBack.length) change({ rows, waiting: heldBack.length })
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
    add(call) {
      received.push(call)
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

/**
 * Merges calls from events into the list, newest first. Known calls are updated in place, or removed if they no longer
 * match; new calls are added. Of one call the later state counts, regardless of the order in which they arrive.
 */
export function mergeCalls(
  rows: readonly CallEntry[],
  received: Iterable<CallEntry>,
  { fits, most }: { fits: (call: CallEntry) => boolean; most: number },
): CallEntry[] {
  const latest = new Map<string, CallEntry>()
  for (const call of received) {
    const known = latest.get(call.callId)
    latest.set(call.callId, known ? laterOf(known, call) : call)
  }
  const kept: CallEntry[] = []
  for (const row of rows) {
    const next = latest.get(row.callId)
    latest.delete(row.callId)
    const call = next ? laterOf(row, next) : row
    if (call === row || fits(call)) kept.push(call)
  }
  const fresh = [...latest.values()].filter(fits).sort(newestFirst)
  return weave(fresh, kept).slice(0, most)
}

/** The later of two states of a call: a start never replaces an end. */
function laterOf(known: CallEntry, next: CallEntry): CallEntry {
  if (next.status === 'running' && known.status !== 'running') return known
  return next.seq < known.seq ? known : next
}

function newestFirst(a: CallEntry, b: CallEntry): number {
  return b.startedAt - a.startedAt || b.seq - a.seq
}

// Both are sorted, and new calls are nearly always first: much cheaper than sorting 100,000 rows.
function weave(fresh: readonly CallEntry[], kept: readonly CallEntry[]): CallEntry[] {
  const woven: CallEntry[] = []
  let at = 0
  for (const row of kept) {
    for (let next = fresh[at]; next && next.startedAt >= row.startedAt; next = fresh[at]) {
      woven.push(next)
      at += 1
    }
    woven.push(row)
  }
  for (; at < fresh.length; at += 1) woven.push(fresh[at] as CallEntry)
  return woven
}
