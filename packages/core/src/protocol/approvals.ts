import { z } from 'zod'

/** What a call would do, in the form that a person reads best. */
export const approvalView = z.discriminatedUnion('kind', [
  /** A command as policy reads it: its parts in order, the one that decided marked. */
  z.object({
    kind: z.literal('command'),
    /** The command line. */
    command: z.string(),
    /** The folder it would run in. */
    cwd: z.string().optional(),
    /** Its parts, in order. */
    parts: z.array(
      z.object({
        /** The part as it would run. */
        text: z.string(),
        /** What policy decides about it. */
        effect: z.enum(['allow', 'ask', 'deny']),
        /** The rule that decides about it. */
        rule: z.string(),
        /** Whether the decision about the whole line is that of this part. */
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
    /** The URL of the request. */
    url: z.string(),
    /** The addresses of its host. */
    addresses: z.array(z.string()),
    /** Why the addresses are not known. */
    problem: z.string().optional(),
  }),
])

/** The call that waits for a person, and until when. */
const waitingCall = z.object({
  /** Id of the request. */
  id: z.string(),
  /** Id of the call. */
  callId: z.string(),
  /** Id of its run. */
  run: z.string(),
  /** Canonical name of the tool. */
  tool: z.string(),
  /** Who calls, as the caller says. */
  caller: z.string(),
  /** When the person was asked, ISO 8601. */
  askedAt: z.string(),
  /** Until when an answer counts, ISO 8601. */
  expiresAt: z.string(),
})

const approvalDetails = {
  /** The arguments, without secrets. */
  input: z.unknown(),
  /** What the call would touch. */
  targets: z.array(z.string()),
  /** The rule that asks. */
  rule: z.string(),
  /** Why it asks. */
  reason: z.string(),
  /** Where in a model's script the call is made; absent for direct calls. */
  script: z
    .object({
      /** Id of the script. */
      id: z.string(),
      /** SHA-256 of its source. */
      sha256: z.string(),
      /** Which call of the script it is, from 1. */
      seq: z.number(),
      /** The line of the source that makes the call. */
      line: z.number().optional(),
      /** The artifact of the run with the source, without secrets; absent if it could not be stored. */
      source: z.string().optional(),
    })
    .optional(),
  /** What the call is for, as the caller says. */
  purpose: z.string().optional(),
  /** The caller's id of the request. */
  requestId: z.string().optional(),
  /** The caller's id of the task. */
  taskId: z.string().optional(),
  /** The caller's id of the goal. */
  goalId: z.string().optional(),
  /** What skills requested that touches this call. */
  requests: z.array(z.string()),
  /** `untrusted`: the run has read content from outside. */
  labels: z.array(z.enum(['untrusted'])),
  /** What the run has read from outside, at most 20 sources. */
  taintedBy: z.array(z.string()).optional(),
  /** What is dangerous about the call, in words, the most dangerous first. */
  risks: z.array(z.string()).optional(),
  /** What the call would do, for people. */
  views: z.array(approvalView),
  /** The calls of the run so far, newest first, at most 10. */
  history: z.array(
    z.object({
      /** Id of the call. */
      callId: z.string(),
      /** Canonical name of the tool. */
      tool: z.string(),
      /** What became of it. */
      status: z.enum(['ok', 'pending', 'running', 'error', 'denied', 'approval_required', 'aborted', 'timeout']),
      /** One line about its result. */
      summary: z.string().optional(),
    }),
  ),
  /** The arguments that nothing shows to come from the user, where that is why the call asks. */
  unproven: z.array(z.string()).optional(),
  /** What a remembered answer could cover, in words, by the value of `covers`; absent ones are not offered. */
  coverage: z.object({
    /** This exact call. */
    exact: z.string(),
    /** Calls on the same targets. */
    targets: z.string().optional(),
    /** Calls that match a pattern. */
    pattern: z.string().optional(),
    /** Values of arguments. */
    values: z.string().optional(),
  }),
  /** Hash of the tool, the arguments and the targets, which an answer is bound to. */
  hash: z.string(),
}

const questionDetails = {
  /** What the tool asks. */
  question: z.string(),
  /** What helps to answer it. */
  context: z.string().optional(),
  /** Answers to choose from. Default: any text. */
  options: z.array(z.string()).optional(),
  /** The answer that the tool suggests. */
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
  /** Whether the call may run. */
  decision: z.enum(['allow', 'deny']),
  /** How long the answer also holds for calls like this one. Default: `once`. */
  remember: z
    .union([z.enum(['once', 'session', 'always']), z.strictObject({ until: z.iso.datetime({ offset: true }) })])
    .optional(),
  /** Which calls a remembered answer covers. Default: `exact`. */
  covers: z.enum(['exact', 'targets', 'pattern', 'values']).optional(),
  /** Why; the agent reads it. */
  reason: z.string().max(2_000).optional(),
  /** Arguments in place of those of the call. */
  input: z.unknown().optional(),
})
export type ApprovalAnswer = z.infer<typeof approvalAnswer>

/** Body of `POST /v1/questions/{id}`: a text, or the values of its form. */
export const questionAnswer = z.strictObject({
  /** The text. */
  answer: z.string().max(20_000).optional(),
  /** The values of the form. */
  values: z.record(z.string(), z.unknown()).optional(),
})

/** An answer to a question as the store keeps it: a text, or the values of its form. */
export const questionReply = z.union([z.string(), z.record(z.string(), z.unknown())])

/** What has become of a request, as one caller sees it. */
const progress = z.object({
  /** Whether it still waits, and how it ended. */
  state: z.enum(['waiting', 'answered', 'withdrawn', 'expired']),
  /** The process that made the call is gone; an answer is kept for the same call made again. */
  isOrphan: z.boolean(),
  /** The caller chose not to wait (`onAsk: 'return'`); an answer is kept for the same call made again. */
  isLeft: z.literal(true).optional(),
  /** The token of the caller was revoked since: the call does not run, whatever is answered. */
  isRevoked: z.literal(true).optional(),
  /** False for one's own calls, and without the scope: somebody else has to answer. */
  mayAnswer: z.boolean(),
  /** The answer; absent before. */
  answered: z
    .object({
      /** Who answered. */
      by: z.string(),
      /** How the answer arrived, such as `console`, `cli` or `mcp`. */
      via: z.string(),
      /** When, ISO 8601. */
      at: z.string(),
      /** Of an approval. */
      decision: z.string().optional(),
      /** Why, as the approver says. */
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

/** `GET /v1/approvals` and `GET /v1/questions`. */
export const approvalQuery = z.object({
  /** `all` also lists what is answered or expired. Default: `waiting`. */
  state: z.enum(['waiting', 'all']).default('waiting'),
  /** For what comes after a page: when its last one was asked. */
  before: z.string().max(300).optional(),
  limit: z.coerce.number().int().min(1).max(500).default(100),
})

/** Newest first, fair to all callers; `next` is the `before` of the next page, which may repeat some. */
export const approvalList = z.object({ approvals: z.array(approval), next: z.string().optional() })

/** As `approvalList`. */
export const questionList = z.object({ questions: z.array(questionEntry), next: z.string().optional() })

/** Whether this answer was the first. */
export const approvalOutcome = z.object({ won: z.boolean(), approval })

/** As `approvalOutcome`. */
export const questionOutcome = z.object({ won: z.boolean(), question: questionEntry })
