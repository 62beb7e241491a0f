import { wasExecuted } from '../../../adapters/tool-events.ts'
import type { CallEntry } from '../../api/calls.ts'
import type { ServiceEvent } from '../../api/service.ts'

/** Calls as `tool.started`, `tool.completed` and `tool.failed`. */
export type ToolServiceEvent = Extract<ServiceEvent, { type: `tool.${string}` }>

/** Calls under way that one stream remembers; the start of an older one may be told a second time. */
const MAX_STARTED = 10_000
const SUCCESSES: ReadonlySet<string> = new Set(['ok', 'pending', 'running'])

/**
 * What one stream tells of calls under these names. A quick call is indexed once, when it has ended: its start is told
 * together with its end.
 */
export class ToolEvents {
  readonly #started = new Set<string>()

  of(call: CallEntry): readonly ToolServiceEvent[] {
    // The index says `running` of a call that has no end yet; a tool whose work continues has a duration.
    if (call.durationMs === undefined && call.status === 'running') {
      this.#remember(call.callId)
      return [startOf(call)]
    }
    const wasTold = this.#started.delete(call.callId)
    const { status, effect, approvedBy, error: code } = call
    const isStart = !wasTold && status !== 'interrupted' && wasExecuted({ status, effect, approvedBy, code })
    return isStart ? [startOf(call), endOf(call)] : [endOf(call)]
  }

  #remember(callId: string): void {
    this.#started.add(callId)
    if (this.#started.size <= MAX_STARTED) return
    const [oldest] = this.#started
    this.#started.delete(oldest!)
  }
}

function startOf({ callId, tool, run, startedAt }: CallEntry): ToolServiceEvent {
  return { type: 'tool.started', callId, tool, run, time: timeOf(startedAt) }
}

function endOf({ callId, tool, run, startedAt, durationMs, status, summary = '', error }: CallEntry): ToolServiceEvent {
  const end = { callId, tool, run, time: timeOf(startedAt + (durationMs ?? 0)), status, durationMs, summary }
  if (SUCCESSES.has(status)) return { type: 'tool.completed', ...end }
  return { type: 'tool.failed', ...end, error: { code: error ?? 'ABORTED', message: summary } }
}

/** Somebody may have changed a record: what is not a valid time becomes the year 1970. */
function timeOf(ms: number): string {
  return new Date(Number.isFinite(ms) && Math.abs(ms) <= 8.64e15 ? ms : 0).toISOString()
}
