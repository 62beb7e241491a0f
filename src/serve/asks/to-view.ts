import { z } from 'zod'
import { isOwnerAlive } from '../../disk/process-owner.ts'
import { ToolError } from '../../errors.ts'
import type { Ask } from '../../store.ts'
import { type Approval, approval, type Question, question } from '../api/asks.ts'
import type { Visitor } from '../service.ts'

/** Whose ask it is: who came in by a door, and what a caller in this process said of itself. */
const asker = { caller: z.string(), principal: z.string().optional() }
const FACTS = { id: true, callId: true, run: true, tool: true, askedAt: true, expiresAt: true } as const
const FATE = { state: true, isOrphan: true, mayAnswer: true, answered: true } as const
const approvalFacts = approval.omit({ ...FACTS, ...FATE }).extend(asker)
const questionFacts = question.omit({ ...FACTS, ...FATE }).extend(asker)
const answerFacts = z.object({ decision: z.string().optional() })

/** A call that waits, as one of the people who may answer sees it. */
export function toApproval(ask: Ask, now: number, visitor?: Visitor): Approval {
  const { caller, principal = caller, ...facts } = readJson(approvalFacts, ask, ask.request)
  const { decision } = ask.answer ? readJson(answerFacts, ask, ask.answer.reply) : {}
  const { answered, ...fate } = fateOf(ask, now, visitor)
  return {
    ...facts,
    ...fate,
    caller: principal,
    mayAnswer: fate.mayAnswer && principal !== visitor?.name,
    ...(answered && { answered: { ...answered, ...(decision !== undefined && { decision }) } }),
  }
}

/** The same for a question of a tool, which the one who called may answer too: it is the person behind the agent. */
export function toQuestion(ask: Ask, now: number, visitor?: Visitor): Question {
  const { caller, principal = caller, ...facts } = readJson(questionFacts, ask, ask.request)
  return { ...facts, ...fateOf(ask, now, visitor), caller: principal }
}

/** What both have. Without a visitor it is for everybody who may answer at all. */
function fateOf(ask: Ask, now: number, visitor: Visitor | undefined) {
  const { id, callId, run, tool, answer } = ask
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
    isOrphan: state === 'waiting' && !isOwnerAlive(ask.owner),
    mayAnswer: state === 'waiting' && (visitor === undefined || visitor.scopes.has('approve')),
    ...(answer && { answered: { by: answer.by, via: answer.via, at: new Date(answer.at).toISOString() } }),
  }
}

function readJson<T>(schema: z.ZodType<T>, { id }: Ask, json: string): T {
  try {
    return schema.parse(JSON.parse(json))
  } catch (cause) {
    throw new ToolError('INTERNAL', `What the store has of ${id} cannot be read.`, { cause })
  }
}
