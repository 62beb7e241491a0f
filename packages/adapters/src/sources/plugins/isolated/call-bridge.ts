import { type BaseContext, type Question, ToolError } from '@tool-hub/core'
import { z } from 'zod'
import { type CapabilityUse, handleUses } from './bridge-handles.ts'
import { content } from './messages.ts'

const text = z.string().max(10_000)
const evidence = z.strictObject({ type: z.enum(['file', 'url', 'tool', 'text']), ref: text, summary: text })
const question = z.strictObject({
  question: text,
  context: text.optional(),
  options: z.array(text).max(100).optional(),
  defaultAnswer: text.optional(),
  timeoutMs: z.number().min(0).optional(),
  form: z.record(z.string(), z.unknown()).optional(),
})

const MAX_REPORTED = 50_000
/** Reports are kept until the call ends; those over the limit are left out, which is reported. */
const MAX_REPORTED_BYTES = 5_000_000
const MAX_EVIDENCE = 1_000
const MAX_CONCURRENT = 500
/** A person answers them. */
const MAX_QUESTIONS = 20

/** Carries out what one call of an isolated plugin requests of its context: checked, then passed to the real one. */
export class CallBridge {
  readonly #ctx: BaseContext
  readonly #uses: ReadonlyMap<string, CapabilityUse>
  readonly #reports: ReadonlyMap<string, CapabilityUse>
  #reported = 0
  #reportedBytes = 0
  #evidence = 0
  #isFull = false
  #concurrent = 0
  #questions = 0
  #isAsking = false

  constructor(ctx: BaseContext) {
    this.#ctx = ctx
    this.#reports = new Map<string, CapabilityUse>([
      ['progress', ([update]) => ctx.progress(content.parse(update))],
      ['evidence', ([given]) => ctx.evidence(evidence.parse(given))],
      ['notice', ([given]) => ctx.notice(text.parse(given))],
      ['truncated', ([given]) => ctx.truncated(text.parse(given))],
      ['pending', ([given]) => ctx.pending(text.parse(given))],
    ])
    this.#uses = new Map<string, CapabilityUse>([
      ['ask', ([given]) => this.#ask(question.parse(given) as Question)],
      ['call', ([tool, input]) => ctx.call(text.parse(tool), input)],
      ...handleUses(ctx),
    ])
  }

  /** Handles a message without an answer. Returns false if there are more of them, or others, than a tool may send. */
  report(method: string, args: readonly unknown[], bytes: number): boolean {
    const report = this.#reports.get(method)
    if (!report || ++this.#reported > MAX_REPORTED) return false
    if (!this.#hasRoom(method, bytes)) return true
    try {
      report(args)
    } catch (error) {
      throw error instanceof z.ZodError ? misused(method, error) : error
    }
    return true
  }

  async use(method: string, args: readonly unknown[]): Promise<unknown> {
    const use = this.#uses.get(method)
    if (!use) throw undeclared(method)
    if (this.#concurrent >= MAX_CONCURRENT)
      throw new ToolError('RATE_LIMITED', `A call asks for at most ${MAX_CONCURRENT} things concurrently.`)
    this.#concurrent++
    try {
      return await use(args)
    } catch (error) {
      throw error instanceof z.ZodError ? misused(method, error) : error
    } finally {
      this.#concurrent--
    }
  }

  #hasRoom(method: string, bytes: number): boolean {
    this.#reportedBytes += bytes
    const isOneTooMany = method === 'evidence' && ++this.#evidence > MAX_EVIDENCE
    if (this.#reportedBytes <= MAX_REPORTED_BYTES && !isOneTooMany) return true
    if (!this.#isFull) this.#ctx.notice(TOO_MUCH)
    this.#isFull = true
    return false
  }

  async #ask(question: Question): Promise<unknown> {
    if (this.#isAsking) throw new ToolError('RATE_LIMITED', 'A call of an isolated plugin asks one question at a time.')
    if (++this.#questions > MAX_QUESTIONS)
      throw new ToolError('RATE_LIMITED', `A call of an isolated plugin asks at most ${MAX_QUESTIONS} questions.`)
    this.#isAsking = true
    try {
      return await this.#ctx.ask(question)
    } finally {
      this.#isAsking = false
    }
  }
}

const TOO_MUCH = `The tool reported more than ${MAX_REPORTED_BYTES} bytes or ${MAX_EVIDENCE} pieces of evidence; some is left out.`

function undeclared(method: string): ToolError {
  return new ToolError(
    'POLICY_DENIED',
    `ctx.${method.slice(0, 50)} is not there: the tool does not declare what it needs.`,
    {
      hint: 'Declare the capability: read:fs, write:fs, network or exec.',
    },
  )
}

function misused(method: string, { issues }: z.ZodError): ToolError {
  const [first] = issues
  const what = `ctx.${method} cannot be used so: ${first?.path.join('.')} ${first?.message}`
  return new ToolError('INPUT_SCHEMA_INVALID', what, { hint: 'Correct the plugin.' })
}
