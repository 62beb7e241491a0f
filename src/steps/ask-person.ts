import { fitAnswer } from '../approval/fit-answer.ts'
import { isCallerGone } from '../caller-gone.ts'
import type { Answer, Question } from '../define.ts'
import { ToolError } from '../errors.ts'
import type { QuestionReply } from '../options.ts'
import type { QuestionRequest } from '../result.ts'
import type { Ask } from '../store.ts'
import { hashJson } from '../value/hash.ts'
import type { Call } from './call.ts'
import type { Parts } from './parts.ts'
import { tell } from './tell.ts'

const DEFAULT_WAIT_MS = 300_000
/** How often a question is put whose answer somebody else took. */
const MOST_ROUNDS = 3

let asked = 0

/** Puts a tool's question to the person; the default stands in for an answer that does not come in time. */
export async function askPerson(question: Question, call: Call, parts: Parts): Promise<Answer> {
  for (let round = 1; round <= MOST_ROUNDS; round++) {
    const answer = await putQuestion(question, call, parts, round)
    if (answer) return answer
  }
  throw new ToolError('CONFLICT', `The answers to ${call.name} were taken by the same call, made elsewhere.`)
}

/** Asks once; nothing when the answer went to the same question of another call. */
async function putQuestion(question: Question, call: Call, parts: Parts, round: number): Promise<Answer | undefined> {
  call.signal.throwIfAborted()
  const hash = hashJson(['question', call.name, call.argsHash, questionOf(question)])
  const adopted = round === 1 ? await adopt(parts, call, hash) : undefined
  const request = requestOf(question, call, parts, adopted)
  const done = new AbortController()
  const { onQuestion = parts.onQuestion } = call.options
  const signal = AbortSignal.any([call.signal, done.signal])
  const inCode = onQuestion ? [async () => ({ reply: await onQuestion(question, { callId: call.id, signal }) })] : []
  const over = (whose: { readonly by?: string; readonly via?: string } = {}) =>
    tell(parts, call, { type: 'question-answered', callId: call.id, question: request.id, ...whose })
  try {
    const onAsked = () => tell(parts, call, { type: 'question-asked', callId: call.id, request })
    const ways = { hash, inCode, onAsked, isAdopted: adopted !== undefined }
    const reply = adopted?.answer
      ? await parts.questions.useAnswer(adopted, request)
      : await call.waitFor(parts.questions.ask(request, call.signal, ways))
    if (reply === 'lost') return undefined
    const { by = 'person', via } = reply
    over({ by, ...(via !== undefined && { via }) })
    return await fitting(request, reply.answer)
  } catch (error) {
    if (!isCallerGone(call.abortReason)) over()
    if (question.defaultAnswer === undefined || !isLate(error)) throw error
    return { answer: question.defaultAnswer, isDefault: true }
  } finally {
    // Whoever still asks the person need not.
    done.abort()
  }
}

/** A question for this very call that an earlier process left behind; a store that fails has none. */
async function adopt(parts: Parts, call: Call, hash: string): Promise<Ask | undefined> {
  try {
    return await parts.questions.adopt({ hash, caller: parts.principal ?? call.caller })
  } catch {
    // Then it is asked anew.
    return undefined
  }
}

function requestOf(question: Question, call: Call, parts: Parts, adopted: Ask | undefined): QuestionRequest {
  const { timeoutMs = DEFAULT_WAIT_MS } = question
  const now = parts.clock.now()
  return {
    id: adopted?.id ?? `question-${call.id}-${++asked}`,
    callId: call.id,
    run: call.run,
    tool: call.name,
    caller: call.caller,
    ...(parts.principal !== undefined && { principal: parts.principal }),
    ...parts.redactor.value(questionOf(question)),
    askedAt: new Date(adopted?.askedAt ?? now).toISOString(),
    expiresAt: new Date(adopted?.expiresAt ?? now + timeoutMs).toISOString(),
  }
}

/** What the person sees of it, without what a tool of plain JavaScript may have put beside. */
function questionOf({ question, context, options, defaultAnswer, form }: Question) {
  return {
    question,
    ...(context !== undefined && { context }),
    ...(options !== undefined && { options: [...options] }),
    ...(defaultAnswer !== undefined && { defaultAnswer }),
    ...(form !== undefined && { form: form as Readonly<Record<string, unknown>> }),
  }
}

function isLate(error: unknown): boolean {
  return ToolError.is(error) && error.code === 'APPROVAL_TIMEOUT'
}

/** People were told what fits before they answered; code that answers otherwise has a defect. */
async function fitting(request: QuestionRequest, reply: QuestionReply): Promise<Answer> {
  try {
    return { ...(await fitAnswer(request, reply)), isDefault: false }
  } catch (error) {
    throw new ToolError('INTERNAL', (error as Error).message)
  }
}
