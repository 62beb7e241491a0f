import { z } from 'zod'
import { isLeftAsk } from '../../approval/ask-board.ts'
import { isOwnCall } from '../../approval/assert-other.ts'
import { isOwnerAlive } from '../../disk/process-owner.ts'
import { ToolError } from '../../errors.ts'
import type { Ask } from '../../store.ts'
import { type Approval, approval, type Question, question } from '../api/asks.ts'
import type { Visitor } from '../service.ts'

/** Whose ask it is: who came in by a door, and what a caller in this process said of itself. */
const asker = { caller: z.string(), principal: z.string().optional() }
const FACTS = { id: true, callId: true, run: true, tool: true, askedAt: true, expiresAt: true } as const
const FATE = {
  state: true,
  isOrphan: true,
  isLeft: true,
  isRevoked: true,
  mayAnswer: true,
  answered: true,
  isCut: true,
} as const
const approvalFacts = approval.omit({ ...FACTS, ...FATE }).extend(asker)
const questionFacts = question.omit({ ...FACTS, ...FATE }).extend(asker)
const { decision, reason, remember, answer } = approval.shape.answered.unwrap().shape
const decisionFacts = z.object({ decision, reason, remember: remember.catch(undefined), input: z.unknown().optional() })
const answerFacts = answer.unwrap()

/** What an ask says, whoever looks and whatever becomes of it. */
export type ApprovalFacts = z.infer<typeof approvalFacts>
export type QuestionFacts = z.infer<typeof questionFacts>

/** A call that waits, as one of the people who may answer sees it. */
export function toApproval(ask: Ask, now: number, visitor?: Visitor): Approval {
  return showApproval(readApprovalFacts(ask), ask, now, visitor)
}

/** The same for a question of a tool, which the one who called may answer too: it is the person behind the agent. */
export function toQuestion(ask: Ask, now: number, visitor?: Visitor): Question {
  return showQuestion(readQuestionFacts(ask), ask, now, visitor)
}

/** What the store has of an approval. */
export function readApprovalFacts(ask: Ask): ApprovalFacts {
  return readJson(approvalFacts, ask, ask.request)
}

/** What the store has of a question. */
export function readQuestionFacts(ask: Ask): QuestionFacts {
  return readJson(questionFacts, ask, ask.request)
}

/** The facts with what has become of the call. */
export function showApproval(
  { caller, principal = caller, ...facts }: ApprovalFacts,
  ask: Ask,
  now: number,
  visitor?: Visitor,
): Approval {
  const fate = fateOf(ask, now, visitor)
  const answered = ask.answer && { ...whoseOf(ask.answer), ...decisionOf(ask, ask.answer.reply) }
  return {
    ...facts,
    ...fate,
    caller: principal,
    mayAnswer: fate.mayAnswer && !isOwnCall(principal, visitor?.name),
    ...(answered && { answered }),
  }
}

/** The facts with what has become of the question. */
export function showQuestion(
  { caller, principal = caller, ...facts }: QuestionFacts,
  ask: Ask,
  now: number,
  visitor?: Visitor,
): Question {
  const answered = ask.answer && {
    ...whoseOf(ask.answer),
    answer: readJson(answerFacts, ask, ask.answer.reply),
  }
  return { ...facts, ...fateOf(ask, now, visitor), caller: principal, ...(answered && { answered }) }
}

/** What both have. Without a visitor it is for everybody who may answer at all. */
function fateOf(ask: Ask, now: number, visitor: Visitor | undefined) {
  const { id, callId, run, tool } = ask
  // A process that is gone cannot say that its time is over.
  const state = ask.state === 'waiting' && ask.expiresAt <= now ? 'expired' : ask.state
  return {
    id,
    callId,
    run,
    tool,
    askedAt: new Date(ask.askedAt).toISOString(),
    expiresAt: new Date(ask.expiresAt).toISOString(),
    state,
    isOrphan: state === 'waiting' && !isLeftAsk(ask) && !isOwnerAlive(ask.owner),
    ...(state === 'waiting' && isLeftAsk(ask) && { isLeft: true as const }),
    mayAnswer: state === 'waiting' && (visitor === undefined || visitor.scopes.has('approve')),
  }
}

function whoseOf({ by, via, at }: NonNullable<Ask['answer']>) {
  return { by, via, at: new Date(at).toISOString() }
}

function decisionOf(ask: Ask, reply: string) {
  const { decision, reason, remember, input } = readJson(decisionFacts, ask, reply)
  return {
    ...(decision !== undefined && { decision }),
    ...(reason !== undefined && { reason }),
    ...(remember !== undefined && { remember }),
    ...(input !== undefined && { changed: true as const }),
  }
}

function readJson<T>(schema: z.ZodType<T>, { id }: Ask, json: string): T {
  try {
    return schema.parse(JSON.parse(json))
  } catch (cause) {
    throw new ToolError('INTERNAL', `What the store has of ${id} cannot be read.`, { cause })
  }
}
