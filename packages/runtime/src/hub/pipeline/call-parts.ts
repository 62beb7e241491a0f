import type { Artifact, Evidence, ResultMeta, ToolError, ToolResult } from '@tool-hub/core'
import type { NewKey, Reservation } from '../../limits/index.ts'
import type { CallSpan } from '../../records/telemetry.ts'

/** Where a call is executed instead of in this process. */
export interface CallPlace {
  /** Such as `worker:gpu`. */
  readonly name: string
  /** Id of the process that has executed it, when that is known. */
  process?: string
}

/** The execution of the tool of a call, as the other steps see it. */
export interface CallExecution {
  /** Where the tool is executed; `undefined`: in this process. */
  readonly place: CallPlace | undefined
  readonly span: CallSpan | undefined
  attempts: number
  /** When `execute` was first entered; from then on the call may have had side effects. */
  enteredMark: number | undefined
  /** How long it has waited for people since then. */
  readonly waitedMs: number
  /** Whether the tool was still running when its grace period ended. */
  readonly isAbandoned: boolean
  /**
   * True if all that it did was a POST that the owner lets it retry, and that failed for a temporary reason. A repeated
   * call with the same key may send it again.
   */
  mayRepeat: boolean | undefined
  /** Stops its time while the call waits for a person. */
  pause(): void
  /** Continues after that many milliseconds. */
  resume(waitedMs: number): void
}

/** What a call holds of the limits until its end. */
export interface CallLimits {
  /** Its part of the budget. */
  reservation?: Reservation
  release?: () => void
  /** Whether this is the one trial call that an open circuit breaker lets through. */
  isProbe?: boolean
  key?: NewKey<ToolResult>
}

/** What the result of a call says besides its data. */
export interface CallReport {
  readonly evidence: Evidence[]
  readonly artifacts: Artifact[]
  readonly notices: string[]
  /** It has started something that continues or waits. */
  isPending: boolean
  /** Whether the call has read content from outside. */
  isUntrusted: boolean
  truncated: ResultMeta['truncated']
  /** The error that ended the call. */
  failure: ToolError | undefined
}
