import { z } from 'zod'
import type { BaseContext, Question } from '../../../core/define.ts'
import { ToolError } from '../../../core/errors.ts'
import { useCommands } from './bridge-commands.ts'
import { useFetch } from './bridge-fetch.ts'
import { useFiles } from './bridge-files.ts'
import { bytesOrText } from './bytes-or-text.ts'
import { content } from './messages.ts'

/** One thing of `ctx` that a plugin may use: what it must be given, and what then happens. */
export type CapabilityUse = (args: readonly unknown[]) => unknown

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
const artifactOptions = z.strictObject({ name: text.optional(), mediaType: text.optional() }).optional()

const MAX_REPORTED = 50_000
/** All of it is kept until the call ends; what is more is left out, and that is reported. */
const MAX_REPORTED_BYTES = 5_000_000
const MAX_EVIDENCE = 1_000
const MAX_CONCURRENT = 500
/** A person answers them. */
const MAX_QUESTIONS = 20

/** What one call of an isolated plugin does with its context: asked for by name, checked, done by the real one. */
export class CallBridge {
  readonly #ctx: BaseContext
  readonly #uses: ReadonlyMap<string, CapabilityUse>
  readonly #tells: ReadonlyMap<string, CapabilityUse>
  #told = 0
  #toldBytes = 0
  #evidence = 0
  #isFull = false
  #atOnce = 0
  #questions = 0
  #isAsking = false

  constructor(ctx: BaseContext) {
    this.#ctx = ctx
    this.#tells = new Map<string, CapabilityUse>([
      ['progress', ([update]) => ctx.progress(content.parse(update))],
      ['evidence', ([given]) => ctx.evidence(evidence.parse(given))],
      ['notice', ([given]) => ctx.notice(text.parse(given))],
      ['truncated', ([given]) => ctx.truncated(text.parse(given))],
      ['pending', ([given]) => ctx.pending(text.parse(given))],
    ])
    this.#uses = new Map<string, CapabilityUse>([
      ['artifact', ([given, options]) => ctx.artifact(bytesOrText.parse(given), artifactOptions.parse(options))],
      ['ask', ([given]) => this.#ask(question.parse(given) as Question)],
      ['call', ([tool, input]) => ctx.call(text.parse(tool), input)],
      ...useFiles(ctx),
      ...useFetch(ctx),
      ...useCommands(ctx),
    ])
  }

  /** Something without an answer; false when it is more, or other, than any tool has to tell. */
  tell(method: string, args: readonly unknown[], bytes: number): boolean {
    const tell = this.#tells.get(method)
    if (!tell || ++this.#told > MAX_REPORTED) return false
    if (!this.#hasRoom(method, bytes)) return true
    try {
      tell(args)
    } catch (error) {
      throw error instanceof z.ZodError ? misused(method, error) : error
    }
    return true
  }

  async use(method: string, args: readonly unknown[]): Promise<unknown> {
    const use = this.#uses.get(method)
    if (!use) throw undeclared(method)
    if (this.#atOnce >= MAX_CONCURRENT) throw tooMany()
    this.#atOnce++
    try {
      return await use(args)
    } catch (error) {
      throw error instanceof z.ZodError ? misused(method, error) : error
    } finally {
      this.#atOnce--
    }
  }

  #hasRoom(method: string, bytes: number): boolean {
    this.#toldBytes += bytes
    const isOneTooMany = method === 'evidence' && ++this.#evidence > MAX_EVIDENCE
    if (this.#toldBytes <= MAX_REPORTED_BYTES && !isOneTooMany) return true
    if (!this.#isFull) this.#ctx.notice(TOO_MUCH)
    this.#isFull = true
    return false
  }

  async #ask(question: Question): Promise<unknown> {
    if (this.#isAsking) throw new ToolError('RATE_LIMITED', 'A call of an isolated plugin asks one question at a time.')
    if (++this.#questions > MAX_QUESTIONS) throw tooManyQuestions()
    this.#isAsking = true
    try {
      return await this.#ctx.ask(question)
    } finally {
      this.#isAsking = false
    }
  }
}

const TOO_MUCH = `The tool told more than ${MAX_REPORTED_BYTES} bytes or ${MAX_EVIDENCE} pieces of evidence; some is left out.`

function tooManyQuestions(): ToolError {
  return new ToolError('RATE_LIMITED', `A call of an isolated plugin asks at most ${MAX_QUESTIONS} questions.`)
}

function undeclared(method: string): ToolError {
  return new ToolError(
    'POLICY_DENIED',
    `ctx.${method.slice(0, 50)} is not there: the tool does not declare what it needs.`,
    {
      hint: 'Declare the capability: read:fs, write:fs, network or exec.',
    },
  )
}

function tooMany(): ToolError {
  return new ToolError('RATE_LIMITED', `A call asks for at most ${MAX_CONCURRENT} things concurrently.`)
}

function misused(method: string, { issues }: z.ZodError): ToolError {
  const [first] = issues
  const what = `ctx.${method} cannot be used so: ${first?.path.join('.')} ${first?.message}`
  return new ToolError('INPUT_SCHEMA_INVALID', what, { hint: 'Correct the plugin.' })
}
