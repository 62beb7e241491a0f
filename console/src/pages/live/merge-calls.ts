import type { CallEntry } from '../../api/types.ts'

/**
 * The list, newest first, with what was heard of calls: known ones change in place, or leave when they fit no more, new
 * ones go where they began. Of one call the later word counts, in whichever order they come.
 */
export function mergeCalls(
  rows: readonly CallEntry[],
  heard: Iterable<CallEntry>,
  { fits, most }: { fits: (call: CallEntry) => boolean; most: number },
): CallEntry[] {
  const news = new Map<string, CallEntry>()
  for (const call of heard) {
    const known = news.get(call.callId)
    news.set(call.callId, known ? laterOf(known, call) : call)
  }
  const kept: CallEntry[] = []
  for (const row of rows) {
    const next = news.get(row.callId)
    news.delete(row.callId)
    const call = next ? laterOf(row, next) : row
    if (call === row || fits(call)) kept.push(call)
  }
  const fresh = [...news.values()].filter(fits).sort(newestFirst)
  return weave(fresh, kept).slice(0, most)
}

/** What is known of a call from two words of it: an end is never taken back by the start. */
function laterOf(known: CallEntry, next: CallEntry): CallEntry {
  if (next.status === 'running' && known.status !== 'running') return known
  return next.seq < known.seq ? known : next
}

function newestFirst(a: CallEntry, b: CallEntry): number {
  return b.startedAt - a.startedAt || b.seq - a.seq
}

// Both are in order, and nearly always the fresh ones all come first: much less than sorting 100,000.
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
