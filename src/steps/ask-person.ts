import type { Answer, Question } from '../define.ts'
import { ToolError } from '../errors.ts'
import type { Call } from './call.ts'
import type { Parts } from './parts.ts'

const DEFAULT_WAIT_MS = 300_000

/** Puts a tool's question to the person; the default stands in for an answer that does not come in time. */
export async function askPerson(question: Question, call: Call, { onQuestion, clock }: Parts): Promise<Answer> {
  if (!onQuestion) {
    throw new ToolError('APPROVAL_UNAVAILABLE', `${call.name} has a question and nobody can be asked.`, {
      hint: 'Make the hub with onQuestion, or go on without the answer.',
    })
  }
  call.signal.throwIfAborted()
  const { defaultAnswer, timeoutMs = DEFAULT_WAIT_MS } = question
  const waiting = new AbortController()
  const signal = AbortSignal.any([call.signal, waiting.signal])
  let cancel = () => {}
  const late = new Promise<Answer>((resolve, reject) => {
    cancel = clock.after(timeoutMs, () => {
      waiting.abort()
      if (defaultAnswer !== undefined) resolve({ answer: defaultAnswer, isDefault: true })
      else reject(new ToolError('APPROVAL_TIMEOUT', `Nobody answered ${call.name} within ${timeoutMs} ms.`))
    })
    call.signal.addEventListener('abort', () => reject(call.signal.reason), { once: true })
  })
  // When the answer comes first, nobody waits for this one any more.
  late.catch(() => {})
  try {
    return await Promise.race([answerOf(onQuestion(question, { callId: call.id, signal }), call), late])
  } finally {
    cancel()
  }
}

async function answerOf(answering: string | Promise<string>, call: Call): Promise<Answer> {
  const answer: unknown = await answering
  if (typeof answer === 'string') return { answer, isDefault: false }
  throw new ToolError('INTERNAL', `onQuestion answered ${call.name} with a ${typeof answer}, not a text.`)
}
