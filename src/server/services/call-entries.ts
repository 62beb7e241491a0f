import type { IndexedCall, IndexedRun } from '../../core/index.ts'
import type { StoredSession } from '../../features/sessions/index.ts'
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

/** A run for display; without calls it belongs to the principal of its session. */
export function toRunEntry(indexed: IndexedRun, session?: StoredSession): RunEntry {
  const { run, caller, startedAt, endedAt, calls, failures } = indexed
  const principal = indexed.principal ?? session?.rootPrincipal
  return {
    run,
    caller: escapeLine(caller || (session?.rootPrincipal ?? '')),
    principal: shown(principal),
    label: shown(session?.label),
    goal: shown(session?.task && cutHead(session.task, MAX_GOAL_CHARS)),
    startedAt,
    endedAt,
    calls,
    failures,
  }
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
