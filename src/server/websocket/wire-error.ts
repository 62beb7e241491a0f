import { ToolError } from '../../core/index.ts'

/** A failure as it is told over a WebSocket. */
export interface WireError {
  readonly code: string
  readonly message: string
  readonly hint: string
  readonly retryable: boolean
}

/** What a client may know of a failure; the rest is for the owner of the service. */
export function toWireError(thrown: unknown): WireError {
  const error = ToolError.is(thrown) ? thrown : hide(thrown)
  return { code: error.code, message: error.message, hint: error.fix.hint, retryable: error.retryable }
}

function hide(thrown: unknown): ToolError {
  const text = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown)
  process.emitWarning(`A message over a WebSocket failed: ${text}`, 'ToolHubWarning')
  return new ToolError('INTERNAL', 'The service failed.', { hint: 'The owner finds the cause in its log.' })
}
