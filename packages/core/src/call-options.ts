import type { UserText } from './call.ts'
import type { CallerKind, Capability } from './capability.ts'
import type { ApprovalReply, ApprovalRequest, CallEvent } from './events.ts'
import type { HubOptions } from './options.ts'

/** What a caller may say about one call. */
export interface CallOptions {
  /** The run whose records, budget and workspace the call belongs to. Default: the hub's own. */
  readonly run?: string
  /** The agent's conversation, for `limits.session` and for answers remembered for a session. Default: the run. */
  readonly session?: string
  /** Who calls; recorded. */
  readonly caller?: string
  /** `script` for calls that a model's script makes. */
  readonly callerKind?: CallerKind
  /** Why; recorded and shown to the approver. */
  readonly purpose?: string
  /** Stops the call when it aborts: the result then has the code `ABORTED`. */
  readonly signal?: AbortSignal
  /** Lowers the tool's own time limit, never raises it. */
  readonly timeoutMs?: number
  /** Calls with one key have one effect: a repeated one gets the recorded result. */
  readonly idempotencyKey?: string
  /**
   * Names a call that may be sent again: an idempotency key is made of it for tools with effects, others are called
   * anew. Clients that resend after a lost connection set it.
   */
  readonly repeatKey?: string
  /**
   * With `taskId`: an idempotency key is made of both, the tool and its arguments (for tools with effects). With
   * `sandbox.workspaces` and without `run`: the request has a run, and so a folder, of its own.
   */
  readonly requestId?: string
  /** The second half of the key that `requestId` describes. */
  readonly taskId?: string
  /** The goal that the call serves; recorded like `requestId` and `taskId`, and shown to the approver and to hooks. */
  readonly goalId?: string
  /** The only capabilities this call may use; narrows, never allows. */
  readonly grants?: readonly Capability[]
  /** The caller passes on content from outside: the run counts as tainted before this call is judged. */
  readonly untrusted?: boolean
  /**
   * What the user said, beside `hub.addUserText`: values of calls that occur in it come from the user, which rules with
   * `from-user` and calls after content from outside need. Never text that a model or a tool wrote.
   */
  readonly userText?: UserText
  /**
   * Set by a transport whose clients do not name their conversations, to the client: `userText` counts for this call only,
   * and the run starts tainted if one of the client within the last day is.
   */
  readonly client?: string
  /** Steps 1 to 5 only: says what would happen, does nothing. */
  readonly dryRun?: boolean
  /**
   * Answers what policy asks about this call and those it makes, before the hub's own `approve`. `undefined` leaves it
   * to that one, to anyone who watches `hub.approvals`, and to the inbox; without any, the call ends with
   * `approval_required`.
   */
  readonly approve?: (request: ApprovalRequest) => ApprovalReply | undefined | Promise<ApprovalReply | undefined>
  /**
   * `return` files what policy asks and ends the call immediately with `approval_required`: the same call, made again
   * after the answer, uses it. Default: `wait`.
   */
  readonly onAsk?: 'wait' | 'return'
  /** Answers what the tool asks the person, instead of the hub's own `onQuestion`. */
  readonly onQuestion?: HubOptions['onQuestion']
  /** Other names of `onQuestion` and `signal`, which win where both are given. */
  readonly onClarificationRequest?: HubOptions['onQuestion']
  /** Another name of `signal`, which wins where both are given. */
  readonly abortSignal?: AbortSignal
  /** Called with each event that `stream` would yield. */
  readonly onEvent?: (event: CallEvent) => void
}
