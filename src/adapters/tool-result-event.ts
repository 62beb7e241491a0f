import type { CallEvent } from '../core/index.ts'

/** The end of a call as the loops of agents emit it. */
export interface ToolResultEvent {
  readonly type: 'tool-result'
  /** Id of the call, as records name it. */
  readonly toolCallId: string
  /** Canonical name of the tool. */
  readonly toolName: string
  /** The data of a call that worked; the message of one that did not. */
  readonly output: unknown
  /** Whether the call failed. */
  readonly isError: boolean
}

/**
 * The `tool-result` of a `call-ended`; `undefined` for other events.
 * @example
 * hub.onEvent((event) => { const result = toToolResultEvent(event); if (result) loop.emit(result.type, result) })
 */
export function toToolResultEvent(event: CallEvent): ToolResultEvent | undefined {
  if (event.type !== 'call-ended') return undefined
  const { result } = event
  const output = result.ok ? result.data : result.error.message
  return { type: 'tool-result', toolCallId: event.callId, toolName: result.tool, output, isError: !result.ok }
}
