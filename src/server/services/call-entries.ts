import type { IndexedCall, IndexedRun, StoredSession } from '../../core/index.ts'
import { escapeLine } from '../../lib/index.ts'
import { cutHead } from '../../limits/index.ts'
import { type CallEntry, callEntry, type RunEntry } from '../../protocol/index.ts'
import { eventLines, parseEvent, type RecordEvent } from '../../records/log/index.ts'

/** A call as people see it: what models and tools have written can neither hide nor reorder words. */
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

/** A run as people see it; one without calls is said to be of the one that its session works for. */
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

/** The index keeps any text; a record that was tampered with must not make an answer that no client can read. */
function effectOf({ effect }: IndexedCall): CallEntry['effect'] {
  return callEntry.shape.effect.safeParse(effect).data
}

const MAX_LINES = 1_000
const HEAD = /^\{"seq":\d{1,15},"time":"[^"\\]{1,40}","type":"[a-z-]{1,40}","callId":"([^"\\]{1,128})"/
const HEAD_BYTES = 320

/** The lines of a run's record that are about one call, from its approval to its late end; at most 1,000. */
export async function readCallLines(folder: string, callId: string): Promise<RecordEvent[]> {
  const found: RecordEvent[] = []
  for await (const lines of eventLines(folder)) {
    for (const line of lines) {
      // The whole record is gone through, because what was asked stands before the start: only the beginnings are looked at.
      if (HEAD.exec(line.bytes.toString('latin1', 0, HEAD_BYTES))?.[1] !== callId) continue
      const event = parseEvent(line)
      if (event) found.push(event)
      if (found.length >= MAX_LINES) return found
    }
  }
  return found
}
