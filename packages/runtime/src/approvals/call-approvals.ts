import {
  type ApprovalReply,
  type ApprovalRequest,
  type ScriptPlace,
  ToolError,
  withoutDoubtDetails,
} from '@tool-hub/core'
import { escapeLine, withStop } from '@tool-hub/core/lib'
import { approvalAnswer } from '@tool-hub/core/protocol'
import { z } from 'zod'
import { ApprovalQueue } from './approval-queue.ts'
import { type ApprovalKind, type QueueOptions, repeatCallHint } from './pending-request.ts'

const replySchema = approvalAnswer
  .extend({ by: z.string().max(200).optional(), via: z.string().max(100).optional() })
  .refine(({ decision, input }) => input === undefined || decision === 'allow', {
    message: 'other arguments are for a yes only',
    path: ['input'],
  })

/** How approvals are answered, and how they fail. */
export const APPROVAL: ApprovalKind<ApprovalRequest, ApprovalReply> = {
  kind: 'approval',
  parse: (given, answerer) => parseReply(answerer ? { ...(given as object), ...answerer } : given),
  assertFits: ({ by }, { principal }) => assertOther(principal, by),
  encode({ by = 'approver', via = 'library', ...reply }) {
    return { reply: JSON.stringify(reply), by, via }
  },
  refusal,
  explain(request, end) {
    const { id, tool, askedAt, expiresAt } = request
    switch (end.type) {
      case 'unavailable':
        return unavailable(request, end.why, end.cause)
      case 'responder-failed':
        return unavailable(request, 'the approve callback failed', end.cause)
      case 'invalid-answer':
        return ToolError.is(end.cause) && end.cause.code === 'POLICY_DENIED'
          ? end.cause
          : unavailable(request, 'the answer makes no sense', end.cause)
      case 'timeout': {
        const timeoutMs = Date.parse(expiresAt) - Date.parse(askedAt)
        const details = { approval: id, timeoutMs }
        return new ToolError('APPROVAL_TIMEOUT', `Nobody answered for ${tool} within ${timeoutMs} ms.`, { details })
      }
      case 'aborted':
        return new ToolError('ABORTED', `The caller stopped ${tool} while it waited for an approval.`, {
          cause: end.signal.reason,
        })
      case 'left': {
        const { message, details } = unavailable(request, 'nobody has answered yet')
        return new ToolError('APPROVAL_UNAVAILABLE', message, {
          details: { ...details, waits: true },
          hint: repeatCallHint(request),
        })
      }
    }
  },
}

/** The calls that wait for an approval. */
export class CallApprovals extends ApprovalQueue<ApprovalRequest, ApprovalReply> {
  /** How long a request waits. */
  readonly timeoutMs: number

  constructor({ timeoutMs, ...options }: QueueOptions<ApprovalRequest> & { readonly timeoutMs: number }) {
    super(APPROVAL, options)
    this.timeoutMs = timeoutMs
  }

  /** Answers a request of this process; false if none with this id waits here. */
  reply(id: string, reply: ApprovalReply): boolean {
    return this.answerHere(id, reply)
  }
}

/** Reads an answer from outside; anything but a complete, well-formed answer is refused. */
export function parseReply(reply: unknown): ApprovalReply {
  const parsed = replySchema.safeParse(reply)
  if (parsed.success) return parsed.data
  throw new ToolError(
    'INPUT_SCHEMA_INVALID',
    `This is not an answer to an approval: ${z.prettifyError(parsed.error)}`,
    {
      hint: "Answer { decision: 'allow' | 'deny', remember?, covers?, reason?, by?, input? }.",
    },
  )
}

/** Nobody approves their own call. */
export function assertOther(principal: string | undefined, by: string | undefined): void {
  if (principal === undefined || by === undefined || !isOwnCall(principal, by)) return
  throw new ToolError('POLICY_DENIED', `${escapeLine(by)} asked for this call and cannot answer for it.`, {
    hint: 'Somebody else has to answer.',
  })
}

/**
 * Whether a call was made by this principal, or by a session that it started: `token:ci` started `token:ci/s1`. The owner
 * may answer for the sessions that it started.
 */
export function isOwnCall(principal: string, by: string | undefined): boolean {
  if (by === undefined) return false
  return by === principal || (by !== 'owner' && principal.startsWith(`${by}/`))
}

/** Why a call needs an approval, for its caller, which can be a model: the reason, with the rule named once. */
export function approvalReason({ reason, rule }: Pick<ApprovalRequest, 'reason' | 'rule'>): string {
  // A rule without a reason of its own names only itself.
  const why = withoutDoubtDetails(reason).replaceAll(`Needs an approval by ${rule}.`, () => `${rule}.`)
  return why.includes(rule) ? why : `${why} (${rule})`
}

/** Where in a script a call is made, for people: `line 3 of script c1-2 (its call 1)`. */
export function describePlace({ id, seq, line }: ScriptPlace): string {
  return line === undefined ? `call ${seq} of script ${id}` : `line ${line} of script ${id} (its call ${seq})`
}

function refusal(reply: ApprovalReply, { id, tool }: ApprovalRequest): ToolError | undefined {
  if (reply.decision === 'allow') return undefined
  const who = reply.by ?? 'The approver'
  const details = { approval: id, reply }
  if (reply.reason)
    return new ToolError('APPROVAL_DENIED', `${who} refused ${tool}: ${withStop(reply.reason)}`, { details })
  const hint = 'Do not repeat the call; ask what to do instead.'
  return new ToolError('APPROVAL_DENIED', `${who} refused ${tool} and gave no reason.`, { details, hint })
}

function unavailable(request: ApprovalRequest, why: string, cause?: unknown): ToolError {
  const message = `${request.tool} needs an approval and ${why}: ${approvalReason(request)}`
  // The call was not executed, whatever the store has kept of the request.
  const isStoreAway = ToolError.is(cause) && cause.code === 'RECORDS_UNAVAILABLE'
  return new ToolError('APPROVAL_UNAVAILABLE', message, {
    details: { approval: request.id },
    cause,
    ...(isStoreAway && { retryable: true, hint: `Call again when the store can be reached: ${cause.message}` }),
  })
}
