import type { CallOptions } from '../../core/index.ts'
import { type CallEnded, type CallStarted, eventLines, parseEvent } from '../../records/log/index.ts'

/** A call with the arguments that are on record, to be judged again. */
export interface RecordedCall {
  readonly callId: string
  readonly seq: number
  readonly tool: string
  readonly caller: string
  readonly args: unknown
  readonly argsHash?: string
  readonly callerKind?: CallOptions['callerKind']
  /** As it was decided then. */
  readonly effect?: string
  readonly rule?: string
}

const FACTS = /^\{"seq":\d{1,15},"time":"[^"\\]{1,40}","type":"call-(?:started|ended)","callId":"([^"\\]{1,128})"/
const HEAD_BYTES = 320
const MARK = '[redacted:'

/**
 * The calls of a run whose arguments are on record, in order; only those with these ids, where some are given. Arguments
 * that were too large for the record, or that hid a secret, are not what was judged: `args` is undefined then.
 */
export async function* recordedCalls(folder: string, wanted?: ReadonlySet<string>): AsyncGenerator<RecordedCall> {
  for await (const lines of eventLines(folder)) {
    for (const line of lines) {
      const callId = FACTS.exec(line.bytes.toString('latin1', 0, HEAD_BYTES))?.[1]
      if (callId === undefined || (wanted && !wanted.has(callId))) continue
      const event = parseEvent(line) as (CallStarted | CallEnded) & { readonly seq: number }
      // An end repeats the facts only when there was no start.
      if (typeof event?.caller !== 'string' || typeof event.tool !== 'string') continue
      yield callOf(event, line.bytes.includes(MARK))
    }
  }
}

function callOf(event: (CallStarted | CallEnded) & { readonly seq: number }, isMarked: boolean): RecordedCall {
  const { callId, seq, tool, caller, args, argsHash, via, effect, rule } = event
  return {
    callId,
    seq,
    tool,
    caller: caller!,
    args: isMarked ? undefined : args,
    argsHash,
    callerKind: via === 'direct' || via === 'script' ? via : undefined,
    effect,
    rule,
  }
}
