import { z } from 'zod'
import { ToolError } from '../errors.ts'
import type { ApprovalReply } from '../result.ts'
import type { Ask } from '../store.ts'
import type { AskBoard } from './ask-board.ts'
import { assertOther } from './assert-other.ts'
import { fitAnswer } from './fit-answer.ts'
import { parseReply } from './parse-reply.ts'

/** What an answer from another process must know of the request. */
const requestSchema = z.object({
  principal: z.string().optional(),
  form: z.record(z.string(), z.unknown()).optional(),
})

/** Answers a waiting call of any process: false when it does not wait any more, undefined when there is none with this id. */
export async function answerApproval(
  board: AskBoard,
  id: string,
  reply: ApprovalReply,
  now: number,
): Promise<boolean | undefined> {
  const { by = 'approver', via = 'library', ...rest } = parseReply(reply)
  const found = await findWaiting(board, id, 'approval', now)
  if (typeof found !== 'object') return found
  assertOther(readRequest(found).principal, by)
  return (await board.answer(id, { reply: JSON.stringify(rest), by, via }))?.won
}

/** Answers a question of any process, if the answer fits it; like `answerApproval`. */
export async function answerQuestion(
  board: AskBoard,
  id: string,
  answer: { readonly reply: unknown; readonly by?: string; readonly via?: string },
  now: number,
): Promise<boolean | undefined> {
  const { reply, by = 'person', via = 'library' } = answer
  const found = await findWaiting(board, id, 'question', now)
  if (typeof found !== 'object') return found
  await fitAnswer({ tool: found.tool, form: readRequest(found).form }, reply)
  return (await board.answer(id, { reply: JSON.stringify(reply), by, via }))?.won
}

async function findWaiting(
  board: AskBoard,
  id: string,
  kind: Ask['kind'],
  now: number,
): Promise<Ask | false | undefined> {
  const ask = await board.find(id)
  if (ask?.kind !== kind) return undefined
  if (ask.state !== 'waiting') return false
  if (ask.expiresAt > now) return ask
  await board.withdraw(id, 'expired')
  return false
}

function readRequest({ id, request }: Ask): z.infer<typeof requestSchema> {
  const parsed = requestSchema.safeParse(JSON.parse(request))
  if (parsed.success) return parsed.data
  throw new ToolError('INTERNAL', `The request of ${id} in the store cannot be read.`)
}
