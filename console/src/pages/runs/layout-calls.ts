import type { CallEntry } from '../../api/types.ts'

/** A row of the waterfall: a call below the one that made it. */
export interface CallRow {
  readonly call: CallEntry
  readonly depth: number
  readonly children: number
  readonly isOpen: boolean
  readonly begin: number
  /** Undefined while it runs. */
  readonly end: number | undefined
}

interface LayoutOptions {
  /** Ids of calls whose children are not shown. */
  readonly closed?: ReadonlySet<string>
  /** Which calls are looked for; those that lead to them are shown too. */
  readonly isWanted?: (call: CallEntry) => boolean
}

/** The calls of a run as rows: by their start, each with the calls it made below it. */
export function layoutCalls(
  calls: readonly CallEntry[],
  { closed = new Set(), isWanted }: LayoutOptions = {},
): CallRow[] {
  const byId = new Map(calls.map((call) => [call.callId, call]))
  const children = groupByParent(calls, byId)
  const begins = findBegins(calls, byId)
  const shown = isWanted ? withParents(calls.filter(isWanted), byId) : undefined
  const rows: CallRow[] = []
  const seen = new Set<string>()
  const below = (id: string | undefined) => (children.get(id) ?? []).filter((call) => !shown || shown.has(call.callId))
  // Not recursive: how deep calls go is not ours to say.
  const waiting = below(undefined)
    .toReversed()
    .map((call) => ({ call, depth: 0 }))
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const { call, depth } = next
    if (seen.has(call.callId)) continue
    seen.add(call.callId)
    const own = below(call.callId)
    const isOpen = own.length > 0 && (shown !== undefined || !closed.has(call.callId))
    rows.push({ call, depth, children: own.length, isOpen, ...timesOf(call, begins) })
    if (isOpen) for (const child of own.toReversed()) waiting.push({ call: child, depth: depth + 1 })
  }
  return rows
}

/** Children by parent, in order; what has no parent here stands at the top. */
function groupByParent(
  calls: readonly CallEntry[],
  byId: ReadonlyMap<string, CallEntry>,
): Map<string | undefined, CallEntry[]> {
  const groups = new Map<string | undefined, CallEntry[]>()
  for (const call of calls.toSorted((a, b) => a.startedAt - b.startedAt || a.seq - b.seq)) {
    const parent = call.parent !== undefined && byId.has(call.parent) ? call.parent : undefined
    const group = groups.get(parent)
    if (group) group.push(call)
    else groups.set(parent, [call])
  }
  return groups
}

/** When calls began: never after one that they made, whose line may have come to the record first. */
function findBegins(calls: readonly CallEntry[], byId: ReadonlyMap<string, CallEntry>): Map<string, number> {
  const begins = new Map(calls.map((call) => [call.callId, call.startedAt]))
  for (const { startedAt, parent } of calls) {
    let above = parent
    while (above !== undefined && (begins.get(above) ?? 0) > startedAt) {
      begins.set(above, startedAt)
      above = byId.get(above)?.parent
    }
  }
  return begins
}

function withParents(calls: readonly CallEntry[], byId: ReadonlyMap<string, CallEntry>): Set<string> {
  const found = new Set<string>()
  for (const call of calls) {
    let current: CallEntry | undefined = call
    while (current && !found.has(current.callId)) {
      found.add(current.callId)
      current = current.parent === undefined ? undefined : byId.get(current.parent)
    }
  }
  return found
}

function timesOf({ callId, startedAt, durationMs, status }: CallEntry, begins: ReadonlyMap<string, number>) {
  const begin = begins.get(callId) ?? startedAt
  if (status === 'running') return { begin, end: undefined }
  return { begin, end: begin + (durationMs ?? 0) }
}
