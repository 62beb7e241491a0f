import { z } from 'zod'

/** What a call would do, in the form that a person reads best. */
export const approvalView = z.discriminatedUnion('kind', [
  /** A command as policy reads it: its parts in order, the one that decided marked. */
  z.object({
    kind: z.literal('command'),
    command: z.string(),
    cwd: z.string().optional(),
    parts: z.array(
      z.object({
        text: z.string(),
        effect: z.enum(['allow', 'ask', 'deny']),
        rule: z.string(),
        decides: z.boolean(),
        /** What is dangerous about this part, in words. */
        risks: z.array(z.string()).optional(),
      }),
    ),
    /** What is known about how it will end in the sandbox. */
    notes: z.array(z.string()).optional(),
  }),
  /** What would change in a file, as a unified diff. */
  z.object({ kind: z.literal('diff'), path: z.string(), diff: z.string(), isNew: z.boolean() }),
  /** Where a request would go, and the current addresses of its host. */
  z.object({
    kind: z.literal('url'),
    url: z.string(),
    addresses: z.array(z.string()),
    problem: z.string().optional(),
  }),
])

/** The call that waits for a person, and until when. */
const waitingCall = z.object({
  id: z.string(),
  callId: z.string(),
  run: z.string(),
  tool: z.string(),
  caller: z.string(),
  askedAt: z.string(),
  expiresAt: z.string(),
})

const approvalDetails = {
  input: z.unknown(),
  targets: z.array(z.string()),
  rule: z.string(),
  reason: z.string(),
  purpose: z.string().optional(),
  requestId: z.string().optional(),
  taskId: z.string().optional(),
  goalId: z.string().optional(),
  /** What skills requested that touches this call. */
  requests: z.array(z.string()),
  labels: z.array(z.enum(['untrusted'])),
  /** What is dangerous about the call, in words, the most dangerous first. */
  risks: z.array(z.string()).optional(),
  views: z.array(approvalView),
  /** The calls of the run so far, newest first, at most 10. */
  history: z.array(
    z.object({
      callId: z.string(),
      tool: z.string(),
      status: z.enum(['ok', 'pending', 'running', 'error', 'denied', 'approval_required', 'aborted', 'timeout']),
      summary: z.string().optional(),
    }),
  ),
  /** What a remembered answer could cover, in words, by the value of `covers`; absent ones are not offered. */
  coverage: z.object({ exact: z.string(), targets: z.string().optional(), pattern: z.string().optional() }),
  hash: z.string(),
}

const questionDetails = {
  question: z.string(),
  context: z.string().optional(),
  options: z.array(z.string()).optional(),
  defaultAnswer: z.string().optional(),
  /** Flat JSON Schema of a form, where more than a text is wanted. */
  form: z.record(z.string(), z.unknown()).optional(),
}

/** An approval request as the store keeps it; `principal` is the authenticated caller, where there is one. */
export const approvalRequest = waitingCall.extend({
  principal: z.string().optional(),
  session: z.string().optional(),
  ...approvalDetails,
})

/** A question as the store keeps it. */
export const questionRequest = waitingCall.extend({ principal: z.string().optional(), ...questionDetails })

/** Body of `POST /v1/approvals/{id}`; `input` changes the arguments, which are checked and judged again. */
export const approvalAnswer = z.strictObject({
  decision: z.enum(['allow', 'deny']),
  remember: z
    .union([z.enum(['once', 'session', 'always']), z.strictObject({ until: z.iso.datetime({ offset: true }) })])
    .optional(),
  covers: z.enum(['exact', 'targets', 'pattern']).optional(),
  reason: z.string().max(2_000).optional(),
  input: z.unknown().optional(),
})
export type ApprovalAnswer = z.infer<typeof approvalAnswer>

/** Body of `POST /v1/questions/{id}`: a text, or the values of its form. */
export const questionAnswer = z.strictObject({
  answer: z.string().max(20_000).optional(),
  values: z.record(z.string(), z.unknown()).optional(),
})

/** An answer to a question as the store keeps it: a text, or the values of its form. */
export const questionReply = z.union([z.string(), z.record(z.string(), z.unknown())])

/** What has become of a request, as one caller sees it. */
const progress = z.object({
  state: z.enum(['waiting', 'answered', 'withdrawn', 'expired']),
  /** The process that made the call is gone; an answer is kept for the same call made again. */
  isOrphan: z.boolean(),
  /** The caller chose not to wait (`onAsk: 'return'`); an answer is kept for the same call made again. */
  isLeft: z.literal(true).optional(),
  /** The token of the caller was revoked since: the call does not run, whatever is answered. */
  isRevoked: z.literal(true).optional(),
  /** False for one's own calls, and without the scope: somebody else has to answer. */
  mayAnswer: z.boolean(),
  answered: z
    .object({
      by: z.string(),
      via: z.string(),
      at: z.string(),
      /** Of an approval. */
      decision: z.string().optional(),
      reason: z.string().optional(),
      remember: approvalAnswer.shape.remember,
      /** The approver changed the arguments. */
      changed: z.literal(true).optional(),
      /** Of a question. */
      answer: questionReply.optional(),
    })
    .optional(),
  /** Long parts are shortened, as in lists and events: the whole is at its own address. */
  isCut: z.literal(true).optional(),
})

/** A call that waits for approval, with everything that helps to decide. */
export const approval = waitingCall.extend({ ...progress.shape, ...approvalDetails })
export type Approval = z.infer<typeof approval>

/** A question that a tool asks the person behind the agent. */
export const questionEntry = waitingCall.extend({ ...progress.shape, ...questionDetails })
export type QuestionEntry = z.infer<typeof questionEntry>

/** Newest first, fair to all callers; `next` is the `before` of the next page, which may repeat some. */
export const approvalList = z.object({ approvals: z.array(approval), next: z.string().optional() })

/** As `approvalList`. */
export const questionList = z.object({ questions: z.array(questionEntry), next: z.string().optional() })

/** Whether this answer was the first. */
export const approvalOutcome = z.object({ won: z.boolean(), approval })

/** As `approvalOutcome`. */
export const questionOutcome = z.object({ won: z.boolean(), question: questionEntry })
