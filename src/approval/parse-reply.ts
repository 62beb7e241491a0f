import { z } from 'zod'
import { ToolError } from '../errors.ts'
import type { ApprovalReply } from '../result.ts'

const replySchema = z
  .strictObject({
    decision: z.enum(['allow', 'deny']),
    remember: z
      .union([z.enum(['once', 'session', 'always']), z.strictObject({ until: z.iso.datetime({ offset: true }) })])
      .optional(),
    covers: z.enum(['exact', 'targets', 'pattern']).optional(),
    reason: z.string().max(2_000).optional(),
    by: z.string().max(200).optional(),
    via: z.string().max(100).optional(),
    input: z.unknown().optional(),
  })
  .refine(({ decision, input }) => input === undefined || decision === 'allow', {
    message: 'other arguments are for a yes only',
    path: ['input'],
  })

/** Reads an answer from outside; anything but a whole, well-formed answer is refused. */
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
