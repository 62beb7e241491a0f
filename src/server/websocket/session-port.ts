import { type CallEvent, ToolError, type ToolResult } from '../../core/index.ts'
import type { Scope } from '../../protocol/index.ts'
import type { AuthenticatedCaller } from '../auth/caller.ts'
import type { Caller } from '../service.ts'

/** A message before it has its number. */
export type Numbered =
  | { readonly type: 'progress'; readonly id: string; readonly event: CallEvent }
  | { readonly type: 'result'; readonly id: string; readonly result: ToolResult }
  | { readonly type: 'execute'; readonly callId: string; readonly tool: string; readonly input: unknown }
  | { readonly type: 'abandon'; readonly callId: string; readonly reason: string }
  | { readonly type: 'done'; readonly id: string; readonly outcome: unknown }
  | { readonly type: 'error'; readonly id: string; readonly error: WireError }

/** What the parts of a session use of it. */
export interface SessionPort {
  /** Whose it is, as it was admitted last. */
  readonly caller: AuthenticatedCaller
  /** The client does not acknowledge what it gets: begin nothing new. */
  readonly isFull: boolean
  /** Numbers a message and sends it, again after a drop, until it is acknowledged. Gives its number back. */
  send(message: Numbered, options?: { readonly mayDrop?: boolean }): number
  /** The same for an event that is JSON already. */
  sendEvent(json: string): void
  /** Sends what is kept under this number once more; false when it is acknowledged. */
  sendAgain(seq: number): boolean
  /** Nobody needs this message any more; false when it was never sent. */
  withdraw(seq: number): boolean
  /** Tells what is wrong, now or never. */
  complain(error: unknown, id?: string): void
}

/** Refuses what one of these scopes is needed for. */
export function requireScope({ name, scopes }: Caller, ...oneOf: readonly Scope[]): void {
  if (oneOf.some((scope) => scopes.has(scope))) return
  const needed = oneOf.join(' or ')
  throw new ToolError('FORBIDDEN', `${name} does not have the scope ${needed}, which this needs.`, {
    hint: `Use a token with the scope ${needed}.`,
  })
}

/** A failure as it is told over a WebSocket. */
interface WireError {
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
