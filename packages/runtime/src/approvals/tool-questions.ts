import { type QuestionReply, type QuestionRequest, ToolError } from '@tool-hub/core'
import { isPlainObject } from '@tool-hub/core/lib'
import { compileSchema, describeIssues, type JsonSchema } from '@tool-hub/core/schema'
import { ApprovalQueue } from './approval-queue.ts'
import { type Answerer, type ApprovalKind, type QueueOptions, repeatCallHint } from './pending-request.ts'

/** The answer to a question, and whose it is. */
export interface QuestionAnswer extends Answerer {
  readonly answer: QuestionReply
}

/** What `onQuestion` may return where it knows whose answer it is. Nothing from outside is an instance of it. */
export class AttributedReply {
  readonly [key: string]: unknown
  readonly reply: QuestionReply
  readonly by?: string
  readonly via?: string

  constructor(reply: QuestionReply, { by, via }: Answerer = {}) {
    this.reply = reply
    this.by = by
    this.via = via
  }
}

/** How questions are answered, and how they fail. */
export const QUESTION: ApprovalKind<QuestionRequest, QuestionAnswer> = {
  kind: 'question',
  parse(given, answerer) {
    const { reply, by, via } =
      given instanceof AttributedReply ? given : { reply: given as QuestionReply, by: answerer?.by, via: answerer?.via }
    return { answer: reply, by, via }
  },
  check: async ({ answer }, target) => void (await fitAnswer(target, answer)),
  assertFits({ answer }, { tool, form }) {
    if (typeof answer === 'string' || (form && typeof answer === 'object' && answer !== null)) return
    throw new ToolError('INTERNAL', `onQuestion answered ${tool} with a ${typeof answer}, not a text.`)
  },
  encode({ answer, by = 'person', via = 'library' }) {
    return { reply: JSON.stringify(answer), by, via }
  },
  explain(request, end) {
    const { tool, askedAt, expiresAt } = request
    switch (end.type) {
      case 'unavailable':
        return new ToolError('APPROVAL_UNAVAILABLE', `${tool} has a question and ${end.why}.`, {
          hint: 'Make the hub with onQuestion, or continue without the answer.',
          cause: end.cause,
        })
      case 'responder-failed':
      case 'invalid-answer':
        return end.cause
      case 'timeout':
        return new ToolError(
          'APPROVAL_TIMEOUT',
          `Nobody answered ${tool} within ${Date.parse(expiresAt) - Date.parse(askedAt)} ms.`,
        )
      case 'aborted':
        return end.signal.reason
      case 'left':
        return new ToolError('APPROVAL_UNAVAILABLE', `${tool} has a question and nobody has answered yet.`, {
          hint: repeatCallHint(request),
        })
    }
  },
}

/** The questions of tools to the person behind the agent. */
export class ToolQuestions extends ApprovalQueue<QuestionRequest, QuestionAnswer> {
  constructor(options: QueueOptions<QuestionRequest>) {
    super(QUESTION, options)
  }

  /** Answers a question of any process; returns whether this answer was the first. */
  async reply(id: string, reply: QuestionReply, answerer?: Answerer): Promise<boolean> {
    return (await this.answer(id, reply, answerer)) === true
  }
}

/** An answer in the form that its question asks for. */
interface FittingAnswer {
  /** Empty for a form. */
  readonly answer: string
  /** What was filled into a form. */
  readonly values?: Readonly<Record<string, unknown>>
}

/** Validates an answer against its question; a form with one field may be answered with its text alone. */
export async function fitAnswer(
  { tool, form }: { readonly tool: string; readonly form?: JsonSchema | Readonly<Record<string, unknown>> },
  answer: unknown,
): Promise<FittingAnswer> {
  if (!form) {
    if (typeof answer === 'string') return { answer }
    throw unfit(tool, 'it is not a text')
  }
  const names = isPlainObject(form.properties) ? Object.keys(form.properties) : []
  const values = typeof answer === 'string' && names.length === 1 ? { [names[0]!]: answer } : answer
  const checked = await compileSchema(form as JsonSchema, { side: 'input' }).validate(values)
  if (checked.ok && isPlainObject(checked.value)) return { answer: '', values: checked.value }
  throw unfit(tool, checked.ok ? 'it is not an object' : describeIssues(checked.issues, 'it does not fit the form'))
}

function unfit(tool: string, why: string): ToolError {
  return new ToolError('INPUT_SCHEMA_INVALID', `The answer to ${tool} cannot be used: ${why}`, {
    hint: 'Answer with a text, or with the values of the form by name.',
  })
}
