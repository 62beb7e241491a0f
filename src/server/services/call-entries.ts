import type { FeatureDefinition, IndexedCall, IndexedRun, RunDescription, Store } from '../../core/index.ts'
import { features } from '../../features/generated/list/index.ts'
import { escapeLine } from '../../lib/index.ts'
import { cutHead } from '../../limits/index.ts'
import { type CallEntry, callEntry, type RunEntry } from '../../protocol/index.ts'
import { eventLines, parseEvent, type RecordEvent } from '../../records/log/index.ts'

/** A call for display, with texts of models and tools escaped. */
export function toCallEntry(call: IndexedCall): CallEntry {
  const { callId, run, seq, tool, caller, principal, parent, status, startedAt, durationMs, targets } = call
  return {
    callId,
    run,
    seq,
    tool: escapeLine(tool),
    caller: escapeLine(caller),
    principal: shown(principal),
    parent,
    status: escapeLine(status),
    startedAt,
    durationMs,
    effect: effectOf(call),
    rule: shown(call.rule),
    error: shown(call.error),
    summary: shown(call.summary),
    request: shown(call.request),
    targets: targets?.map(escapeLine),
    approvedBy: shown(call.approvedBy),
  }
}

const MAX_GOAL_CHARS = 300

/** A run for display; without calls it belongs to the principal that it works for. */
export function toRunEntry(indexed: IndexedRun, description?: RunDescription): RunEntry {
  const { run, caller, startedAt, endedAt, calls, failures } = indexed
  const { principal = description?.principal } = indexed
  return {
    run,
    caller: escapeLine(caller || (description?.principal ?? '')),
    principal: shown(principal),
    label: shown(description?.label),
    goal: shown(description?.goal && cutHead(description.goal, MAX_GOAL_CHARS)),
    startedAt,
    endedAt,
    calls,
    failures,
  }
}

/** What the features know about a run; `undefined` if none knows it. */
export async function describeRun(run: string, store: Store): Promise<RunDescription | undefined> {
  for (const { inService } of features as readonly FeatureDefinition[]) {
    const description = await inService?.describeRun?.(run, store)
    if (description) return description
  }
  return undefined
}

function shown(text: string | undefined): string | undefined {
  return text === undefined ? undefined : escapeLine(text)
}

/** The index has any text; a record that was tampered with must not produce an invalid response. */
function effectOf({ effect }: IndexedCall): CallEntry['effect'] {
  return callEntry.shape.effect.safeParse(effect).data
}

const MAX_LINES = 1_000
const HEAD = /^\{"seq":\d{1,15},"time":"[^"\\]{1,40}","type":"[a-z-]{1,40}","callId":"([^"\\]{1,128})"/
const HEAD_BYTES = 320

/** Returns the lines of a record that belong to one call, from its approval to its late end; at most 1,000. */
export async function readCallLines(folder: string, callId: string): Promise<RecordEvent[]> {
  const found: RecordEvent[] = []
  for await (const lines of eventLines(folder)) {
    for (const line of lines) {
      // Reads the whole record, because approval requests come before the start of the call; only the beginning of each
      // line is checked.
      if (HEAD.exec(line.bytes.toString('latin1', 0, HEAD_BYTES))?.[1] !== callId) continue
      const event = parseEvent(line)
      if (event) found.push(event)
      if (found.length >= MAX_LINES) return found
    }
  }
  return found
}
