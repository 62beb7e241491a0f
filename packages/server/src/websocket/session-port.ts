import { type CallEvent, type CallOptions, ToolError, type ToolResult } from '@tool-hub/core'
import type { Scope } from '@tool-hub/core/protocol'
import type { Caller } from '../auth/caller.ts'

/** A message without its number. */
export type Numbered =
  | { readonly type: 'progress'; readonly id: string; readonly event: CallEvent }
  | { readonly type: 'result'; readonly id: string; readonly result: ToolResult }
  | { readonly type: 'execute'; readonly callId: string; readonly tool: string; readonly input: unknown }
  | { readonly type: 'abandon'; readonly callId: string; readonly reason: string }
  | { readonly type: 'done'; readonly id: string; readonly outcome: unknown }
  | { readonly type: 'error'; readonly id: string; readonly error: WireError }

/** The session as its calls, tools and watches use it. */
export interface SessionPort {
  /** The caller of the latest connection. */
  readonly caller: Caller
  /** Whether the client does not acknowledge messages; nothing new should start then. */
  readonly isFull: boolean
  /** Numbers a message and sends it until it is acknowledged, also after a reconnect. Returns its number. */
  send(message: Numbered, options?: { readonly mayDrop?: boolean }): number
  /** The same for an event that is already JSON. */
  sendEvent(json: string): void
  /** Sends a kept message again; returns `false` if it was acknowledged. */
  sendAgain(seq: number): boolean
  /** Withdraws a message that is no longer needed; returns `false` if it was never sent. */
  withdraw(seq: number): boolean
  /** Calls a tool for the caller, where the run of the call is. */
  call(tool: string, input: unknown, options: CallOptions): Promise<ToolResult>
  /** Sends an error if the client is connected. */
  complain(error: unknown, id?: string): void
}

/** Throws FORBIDDEN if the caller has none of these scopes. */
export function requireAnyScope({ name, scopes }: Caller, ...oneOf: readonly Scope[]): void {
  if (oneOf.some((scope) => scopes.has(scope))) return
  const needed = oneOf.join(' or ')
  throw new ToolError('FORBIDDEN', `${name} does not have the scope ${needed}, which this needs.`, {
    hint: `Use a token with the scope ${needed}.`,
  })
}

/** An error in a WebSocket message. */
interface WireError {
  readonly code: string
  readonly message: string
  readonly hint: string
  readonly retryable: boolean
}

/** Converts an error for the client; unexpected errors are hidden and reported to the owner. */
export function toWireError(thrown: unknown): WireError {
  const error = ToolError.is(thrown) ? thrown : hide(thrown)
  return { code: error.code, message: error.message, hint: error.fix.hint, retryable: error.retryable }
}

function hide(thrown: unknown): ToolError {
  const text = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown)
  process.emitWarning(`A message over a WebSocket failed: ${text}`, 'ToolHubWarning')
  return new ToolError('INTERNAL', 'The service failed.', { hint: 'The owner finds the cause in its log.' })
}
