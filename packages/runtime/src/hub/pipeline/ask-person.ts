import {
  type Answer,
  isCallerGone,
  type Question,
  type QuestionReply,
  type QuestionRequest,
  type StoredApproval,
  ToolError,
} from '@tool-hub/core'
import { hashJson } from '@tool-hub/core/lib'
import { AttributedReply, fitAnswer } from '../../approvals/index.ts'
import type { Runtime } from '../runtime.ts'
import { type Call, emitEvent } from './call.ts'

/** No tool that asks waits longer. */
const MAX_WAIT_MS = 3_600_000
/** How often a question is asked if identical calls take the answers. */
const MAX_ROUNDS = 3

let asked = 0

/** Asks a person the question of a tool. Returns the default answer if nobody answers in time. */
export async function askPerson(question: Question, call: Call, runtime: Runtime): Promise<Answer> {
  for (let round = 1; round <= MAX_ROUNDS; round++) {
    const answer = await askOnce(question, call, runtime, round)
    if (answer) return answer
  }
  throw new ToolError('CONFLICT', `The answers to ${call.name} were used by identical calls of other processes.`)
}

/** Asks once. Returns `undefined` if another call with the same question used the answer. */
async function askOnce(question: Question, call: Call, runtime: Runtime, round: number): Promise<Answer | undefined> {
  call.signal.throwIfAborted()
  const hash = hashJson(['question', call.name, call.argsHash, questionOf(question)])
  const adopted = round === 1 ? await adopt(runtime, call, hash) : undefined
  const request = requestOf(question, call, runtime, adopted)
  const done = new AbortController()
  const { onQuestion = runtime.people.onQuestion } = call.options
  const signal = AbortSignal.any([call.signal, done.signal])
  const respond = async () => {
    const reply = await onQuestion!(question, { callId: call.id, signal })
    return reply instanceof AttributedReply ? reply : new AttributedReply(reply)
  }
  const over = (whose: { readonly by?: string; readonly via?: string } = {}) =>
    emitEvent(runtime, call, { type: 'question-answered', callId: call.id, question: request.id, ...whose })
  try {
    const onRequested = () => emitEvent(runtime, call, { type: 'question-asked', callId: call.id, request })
    const options = { hash, responders: onQuestion ? [respond] : [], onRequested, isAdopted: adopted !== undefined }
    const reply = adopted?.answer
      ? await runtime.people.questions.useAnswer(adopted, request)
      : await call.waitFor(runtime.people.questions.ask(request, call.signal, options))
    if (reply === 'lost') return undefined
    const { by = 'person', via } = reply
    over({ by, ...(via !== undefined && { via }) })
    return await fitting(request, reply.answer)
  } catch (error) {
    if (!isCallerGone(call.abortReason)) over()
    if (question.defaultAnswer === undefined || !isLate(error)) throw error
    return { answer: question.defaultAnswer, isDefault: true }
  } finally {
    // Lets an `answer` callback that is still waiting stop.
    done.abort()
  }
}

/** Returns the pending question of this call that an earlier process left behind, or `undefined` if the store fails. */
async function adopt(runtime: Runtime, call: Call, hash: string): Promise<StoredApproval | undefined> {
  try {
    return await runtime.people.questions.adopt({ hash, caller: runtime.identity.principal ?? call.caller })
  } catch {
    // The question is asked again.
    return undefined
  }
}

function requestOf(
  question: Question,
  call: Call,
  runtime: Runtime,
  adopted: StoredApproval | undefined,
): QuestionRequest {
  const { timeoutMs = Math.min(runtime.people.approvals.timeoutMs, MAX_WAIT_MS) } = question
  const now = runtime.clock.now()
  return {
    id: adopted?.id ?? `question-${call.id}-${++asked}`,
    callId: call.id,
    run: call.run,
    tool: call.name,
    caller: call.caller,
    ...(runtime.identity.principal !== undefined && { principal: runtime.identity.principal }),
    ...runtime.redactor.value(questionOf(question)),
    askedAt: new Date(adopted?.askedAt ?? now).toISOString(),
    expiresAt: new Date(adopted?.expiresAt ?? now + timeoutMs).toISOString(),
  }
}

/** Returns the fields that the person sees, without properties that a tool in plain JavaScript may have added. */
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

/** Checks an answer. Those of people were checked before, so an invalid one is a defect of the answering code. */
async function fitting(request: QuestionRequest, reply: QuestionReply): Promise<Answer> {
  try {
    return { ...(await fitAnswer(request, reply)), isDefault: false }
  } catch (error) {
    throw new ToolError('INTERNAL', (error as Error).message)
  }
}
