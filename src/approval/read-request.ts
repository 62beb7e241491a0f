import { z } from 'zod'
import type { ApprovalRequest, QuestionRequest } from '../result.ts'
import type { Ask } from '../store.ts'
import { parseJson } from '../value/parse-json.ts'

const common = {
  id: z.string(),
  callId: z.string(),
  run: z.string(),
  tool: z.string(),
  caller: z.string(),
  principal: z.string().optional(),
  askedAt: z.string(),
  expiresAt: z.string(),
}

const partOfCommand = z.object({
  text: z.string(),
  effect: z.enum(['allow', 'ask', 'deny']),
  rule: z.string(),
  decides: z.boolean(),
  risks: z.array(z.string()).optional(),
})

const approvalSchema = z.object({
  ...common,
  session: z.string().optional(),
  input: z.unknown(),
  targets: z.array(z.string()),
  rule: z.string(),
  reason: z.string(),
  purpose: z.string().optional(),
  requestId: z.string().optional(),
  taskId: z.string().optional(),
  goalId: z.string().optional(),
  requests: z.array(z.string()),
  labels: z.array(z.enum(['untrusted'])),
  risks: z.array(z.string()).optional(),
  views: z.array(
    z.discriminatedUnion('kind', [
      z.object({
        kind: z.literal('command'),
        command: z.string(),
        cwd: z.string().optional(),
        parts: z.array(partOfCommand),
        notes: z.array(z.string()).optional(),
      }),
      z.object({ kind: z.literal('diff'), path: z.string(), diff: z.string(), isNew: z.boolean() }),
      z.object({
        kind: z.literal('url'),
        url: z.string(),
        addresses: z.array(z.string()),
        problem: z.string().optional(),
      }),
    ]),
  ),
  history: z.array(
    z.object({
      callId: z.string(),
      tool: z.string(),
      status: z.enum(['ok', 'pending', 'running', 'error', 'denied', 'approval_required', 'aborted', 'timeout']),
      summary: z.string().optional(),
    }),
  ),
  coverage: z.object({ exact: z.string(), targets: z.string().optional(), pattern: z.string().optional() }),
  hash: z.string(),
})

const questionSchema = z.object({
  ...common,
  question: z.string(),
  context: z.string().optional(),
  options: z.array(z.string()).optional(),
  defaultAnswer: z.string().optional(),
  form: z.record(z.string(), z.unknown()).optional(),
})

/** An ask of any process, with what the person is to see. */
export type ReadAsk =
  | { readonly kind: 'approval'; readonly ask: Ask; readonly request: ApprovalRequest }
  | { readonly kind: 'question'; readonly ask: Ask; readonly request: QuestionRequest }

/** What an ask in the store says; nothing when another version has written it and it cannot be understood. */
export function readRequest(ask: Ask): ReadAsk | undefined {
  const json = parseJson(ask.request)
  if (ask.kind === 'approval') {
    const { data: request } = approvalSchema.safeParse(json)
    return request && { kind: 'approval', ask, request }
  }
  const { data: request } = questionSchema.safeParse(json)
  return request && { kind: 'question', ask, request }
}
