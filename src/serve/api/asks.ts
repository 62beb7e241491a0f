import { z } from 'zod'

/** A command as policy reads it: its parts in order, the one that decided marked. */
export const commandView = z.object({
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
  /** What is known of how it will end in the sandbox. */
  notes: z.array(z.string()).optional(),
})

/** What would change in a file, as a unified diff. */
export const diffView = z.object({ kind: z.literal('diff'), path: z.string(), diff: z.string(), isNew: z.boolean() })

/** Where a request would go, and the addresses that the name has now. */
export const urlView = z.object({
  kind: z.literal('url'),
  url: z.string(),
  addresses: z.array(z.string()),
  problem: z.string().optional(),
})

export const askView = z.discriminatedUnion('kind', [commandView, diffView, urlView])
export type AskView = z.infer<typeof askView>

const remember = z.union([
  z.enum(['once', 'session', 'always']),
  z.strictObject({ until: z.iso.datetime({ offset: true }) }),
])

const answered = z.object({
  by: z.string(),
  via: z.string(),
  at: z.string(),
  /** Of an approval. */
  decision: z.string().optional(),
  reason: z.string().optional(),
  remember: remember.optional(),
  /** The approver changed the arguments. */
  changed: z.literal(true).optional(),
  /** To a question: a text, or the values of its form. */
  answer: z.union([z.string(), z.record(z.string(), z.unknown())]).optional(),
})

const common = z.object({
  id: z.string(),
  callId: z.string(),
  run: z.string(),
  tool: z.string(),
  caller: z.string(),
  askedAt: z.string(),
  expiresAt: z.string(),
  state: z.enum(['waiting', 'answered', 'withdrawn', 'expired']),
  /** The process that asked is gone; an answer is kept for the same call made again. */
  isOrphan: z.boolean(),
  /** The caller chose not to wait (`onAsk: 'return'`); an answer is kept for the same call made again. */
  isLeft: z.literal(true).optional(),
  /** The token of the caller was revoked since: the call does not run, whatever is answered. */
  isRevoked: z.literal(true).optional(),
  /** False for one's own calls, and without the scope: somebody else has to answer. */
  mayAnswer: z.boolean(),
  answered: answered.optional(),
  /** Only a part of what is long, as lists and events have it: the whole is at its own address. */
  isCut: z.literal(true).optional(),
})

/** A call that waits for a yes, with all that helps to decide. */
export const approval = common.extend({
  input: z.unknown(),
  targets: z.array(z.string()),
  rule: z.string(),
  reason: z.string(),
  purpose: z.string().optional(),
  requestId: z.string().optional(),
  taskId: z.string().optional(),
  goalId: z.string().optional(),
  /** What skills asked for that touches this call. */
  requests: z.array(z.string()),
  labels: z.array(z.string()),
  /** What is dangerous about the call, in words, the most dangerous first. */
  risks: z.array(z.string()).optional(),
  views: z.array(askView),
  /** The calls of the run so far, newest first, at most 10. */
  history: z.array(
    z.object({ callId: z.string(), tool: z.string(), status: z.string(), summary: z.string().optional() }),
  ),
  /** What a remembered answer could cover, in words, by the value of `covers`; absent ones are not offered. */
  coverage: z.object({ exact: z.string(), targets: z.string().optional(), pattern: z.string().optional() }),
  hash: z.string(),
})
export type Approval = z.infer<typeof approval>

/** Newest first, fair to all callers; `next` is the `before` of the next page, which may repeat some. */
export const approvalList = z.object({ approvals: z.array(approval), next: z.string().optional() })

/** Body of `POST /v1/approvals/{id}`; `input` changes the arguments, which are checked and judged again. */
export const approvalAnswer = z.strictObject({
  decision: z.enum(['allow', 'deny']),
  remember: remember.optional(),
  covers: z.enum(['exact', 'targets', 'pattern']).optional(),
  reason: z.string().max(2_000).optional(),
  input: z.unknown().optional(),
})
export type ApprovalAnswer = z.infer<typeof approvalAnswer>

/** Whether this answer was the first. */
export const approvalOutcome = z.object({ won: z.boolean(), approval })

/** Something a tool asks the person behind the agent. */
export const question = common.extend({
  question: z.string(),
  context: z.string().optional(),
  options: z.array(z.string()).optional(),
  defaultAnswer: z.string().optional(),
  /** Flat JSON Schema of a form, where more than a text is wanted. */
  form: z.record(z.string(), z.unknown()).optional(),
})
export type Question = z.infer<typeof question>

/** As `approvalList`. */
export const questionList = z.object({ questions: z.array(question), next: z.string().optional() })

/** Body of `POST /v1/questions/{id}`: a text, or the values of its form. */
export const questionAnswer = z.strictObject({
  answer: z.string().max(20_000).optional(),
  values: z.record(z.string(), z.unknown()).optional(),
})
export const questionOutcome = z.object({ won: z.boolean(), question })
