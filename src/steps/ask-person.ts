import type { Answer, Question } from '../define.ts'
import { ToolError } from '../errors.ts'
import type { QuestionReply } from '../options.ts'
import { compileSchema } from '../schema/compile-schema.ts'
import { describeIssues } from '../schema/describe-issues.ts'
import type { JsonSchema } from '../schema/infer.ts'
import { isPlainObject } from '../value/is-plain-object.ts'
import type { Call } from './call.ts'
import type { Parts } from './parts.ts'

const DEFAULT_WAIT_MS = 300_000

/** Puts a tool's question to the person; the default stands in for an answer that does not come in time. */
export async function askPerson(question: Question, call: Call, parts: Parts): Promise<Answer> {
  const { onQuestion = parts.onQuestion } = call.options
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
  let letGo = () => {}
  const late = new Promise<Answer>((resolve, reject) => {
    cancel = parts.clock.after(timeoutMs, () => {
      waiting.abort()
      if (defaultAnswer !== undefined) resolve({ answer: defaultAnswer, isDefault: true })
      else reject(new ToolError('APPROVAL_TIMEOUT', `Nobody answered ${call.name} within ${timeoutMs} ms.`))
    })
    const stop = () => reject(call.signal.reason)
    call.signal.addEventListener('abort', stop, { once: true })
    letGo = () => call.signal.removeEventListener('abort', stop)
  })
  // When the answer comes first, nobody waits for this one any more.
  late.catch(() => {})
  try {
    return await Promise.race([answerOf(onQuestion(question, { callId: call.id, signal }), question, call), late])
  } finally {
    cancel()
    letGo()
  }
}

async function answerOf(
  answering: QuestionReply | Promise<QuestionReply>,
  { form }: Question,
  call: Call,
): Promise<Answer> {
  const answer: unknown = await answering
  if (form) return { answer: '', values: await filledIn(form, answer, call), isDefault: false }
  if (typeof answer === 'string') return { answer, isDefault: false }
  throw new ToolError('INTERNAL', `onQuestion answered ${call.name} with a ${typeof answer}, not a text.`)
}

/** A form that has one field may be answered with its text alone. */
async function filledIn(form: JsonSchema, answer: unknown, call: Call): Promise<Readonly<Record<string, unknown>>> {
  const names = isPlainObject(form.properties) ? Object.keys(form.properties) : []
  const values = typeof answer === 'string' && names.length === 1 ? { [names[0]!]: answer } : answer
  const checked = await compileSchema(form, { side: 'input' }).validate(values)
  if (checked.ok && isPlainObject(checked.value)) return checked.value
  const why = checked.ok ? 'it is no object' : describeIssues(checked.issues, 'it does not fit the form')
  throw new ToolError('INTERNAL', `The answer to ${call.name} cannot be used: ${why}`)
}
