import type { CallEntry, RunDetail } from '../../api/types.ts'
import { countsAsFailure, hasStatus } from '../../calls/call.ts'

/** A row of the waterfall. */
export interface CallRow {
  readonly call: CallEntry
  readonly depth: number
  readonly children: number
  readonly isOpen: boolean
  readonly begin: number
  /** Undefined while the call is running, or waits for a person. */
  readonly end: number | undefined
  /** When it waited for a person. */
  readonly waits: readonly Wait[]
}

/** A time in which a call waited for a person. */
export interface Wait {
  readonly from: number
  /** Undefined while it waits. */
  readonly to: number | undefined
}

interface LayoutOptions {
  /** Ids of collapsed calls. */
  readonly closed?: ReadonlySet<string>
  /** The filter; parents of matching calls are shown too. */
  readonly isWanted?: (call: CallEntry) => boolean
  /** When calls waited for a person, by call. */
  readonly waits?: ReadonlyMap<string, readonly Wait[]>
}

/** The calls of a run as rows, by their start, each with its child calls below it. */
export function layoutCalls(
  calls: readonly CallEntry[],
  { closed = new Set(), isWanted, waits = new Map() }: LayoutOptions = {},
): CallRow[] {
  const byId = new Map(calls.map((call) => [call.callId, call]))
  const children = groupByParent(calls, byId)
  const begins = findBegins(calls, byId)
  const shown = isWanted ? withParents(calls.filter(isWanted), byId) : undefined
  const rows: CallRow[] = []
  const seen = new Set<string>()
  const below = (id: string | undefined) => (children.get(id) ?? []).filter((call) => !shown || shown.has(call.callId))
  // Not recursive: calls can be nested deeply.
  const waiting = below(undefined)
    .toReversed()
    .map((call) => ({ call, depth: 0 }))
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const { call, depth } = next
    if (seen.has(call.callId)) continue
    seen.add(call.callId)
    const own = below(call.callId)
    const isOpen = own.length > 0 && (shown !== undefined || !closed.has(call.callId))
    rows.push({ call, depth, children: own.length, isOpen, ...timesOf(call, begins, waits.get(call.callId) ?? []) })
    if (isOpen) for (const child of own.toReversed()) waiting.push({ call: child, depth: depth + 1 })
  }
  return rows
}

/** Children by parent, in order; calls with an unknown parent are roots. */
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

/** The start of each call: never after that of a child, whose line may have been recorded first. */
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

function timesOf(
  { callId, startedAt, durationMs, status }: CallEntry,
  begins: ReadonlyMap<string, number>,
  waits: readonly Wait[],
) {
  const begin = begins.get(callId) ?? startedAt
  if (status === 'running' || status === 'waiting') return { begin, end: undefined, waits }
  // The duration does not contain the waiting.
  const waitedMs = waits.reduce((sum, { from, to = from }) => sum + Math.max(0, to - from), 0)
  return { begin, end: begin + (durationMs ?? 0) + waitedMs, waits }
}

/** Merges calls from events into a fetched run, and updates its counts. */
export function mergeIntoRun(fetched: RunDetail, live: ReadonlyMap<string, CallEntry>): RunDetail {
  if (live.size === 0) return fetched
  const byId = new Map(fetched.calls.map((call) => [call.callId, call]))
  let { calls: count, failures, denials, endedAt } = fetched.run
  // The run was fetched before the caller of its first call was on record.
  const caller = fetched.run.caller || ([...live.values()].find((call) => call.caller !== '')?.caller ?? '')
  for (const [id, call] of live) {
    const known = byId.get(id)
    // An event may be older than the response: it never replaces the end of a call.
    if (known && known.status !== 'running') continue
    byId.set(id, call)
    endedAt = Math.max(endedAt, call.startedAt + (call.durationMs ?? 0))
    if (!known) count += 1
    if (countsAsFailure(call.status)) failures += 1
    if (call.status === 'denied') denials += 1
  }
  const run = { ...fetched.run, caller, calls: count, failures, denials, endedAt }
  return { ...fetched, run, calls: [...byId.values()] }
}

/** Whether a call matches the filter of the timeline; '' matches everything. */
export function isWantedCall(call: CallEntry, { text, status }: { text: string; status: string }): boolean {
  if (!hasStatus(call, status)) return false
  if (text === '') return true
  const { callId, tool, summary = '', error = '', targets = [] } = call
  return [callId, tool, summary, error, ...targets].some((words) => words.toLowerCase().includes(text.toLowerCase()))
}
