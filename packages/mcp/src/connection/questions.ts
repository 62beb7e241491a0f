import type { ElicitResult } from '@modelcontextprotocol/client'
import { type BaseContext, ToolError } from '@tool-hub/core'
import { escapeLine, escapeText } from '@tool-hub/core/lib'
import { z } from 'zod'

const MAX_FIELDS = 50

const MAX_FORM_CHARS = 50_000

const texts = { title: z.string().optional(), description: z.string().optional() }

const options = z.array(z.object({ const: z.string(), title: z.string().optional() }))

const number = z.number().optional()

/** The kinds of fields that the protocol defines, each with its own keywords and no other. */
const Field = z.discriminatedUnion('type', [
  z.object({
    ...texts,
    type: z.literal('string'),
    minLength: number,
    maxLength: number,
    format: z.enum(['email', 'uri', 'date', 'date-time']).optional().catch(undefined),
    enum: z.array(z.string()).optional(),
    enumNames: z.array(z.string()).optional(),
    oneOf: options.optional(),
    default: z.string().optional(),
  }),
  z.object({ ...texts, type: z.enum(['number', 'integer']), minimum: number, maximum: number, default: number }),
  z.object({ ...texts, type: z.literal('boolean'), default: z.boolean().optional() }),
  z.object({
    ...texts,
    type: z.literal('array'),
    minItems: number,
    maxItems: number,
    items: z.union([z.object({ type: z.literal('string'), enum: z.array(z.string()) }), z.object({ anyOf: options })]),
    default: z.array(z.string()).optional(),
  }),
])

/**
 * A form that a server asks a person to fill in: flat, with only the fields of the protocol. Any other schema could
 * take forever to check, and could not be shown.
 */
export const QuestionForm = z
  .looseObject({ type: z.literal('object'), properties: z.record(z.string(), z.unknown()) })
  .refine((form) => isFlat(form, ROOT), { error: 'A form is flat.', abort: true })
  .refine(({ properties }) => Object.keys(properties).length <= MAX_FIELDS, {
    error: `A form has at most ${MAX_FIELDS} fields.`,
    abort: true,
  })
  .refine(({ properties }) => Object.values(properties).every((field) => isFlat(field, OPTIONS)), {
    error: 'A field of a form is flat.',
    abort: true,
  })
  .pipe(
    z.object({
      type: z.literal('object'),
      properties: z.record(z.string().max(200), Field),
      required: z.array(z.string()).max(MAX_FIELDS).optional(),
    }),
  )
  .refine((form) => JSON.stringify(form).length <= MAX_FORM_CHARS, `A form has at most ${MAX_FORM_CHARS} characters.`)

const ROOT: ReadonlySet<string> = new Set(['properties', 'required'])

const OPTIONS: ReadonlySet<string> = new Set(['enum', 'enumNames', 'oneOf', 'items', 'default'])

const QUESTION_CHARS = 4_000

const Request = z.discriminatedUnion('mode', [
  z.looseObject({ mode: z.literal('url'), message: z.string(), url: z.string() }),
  z.looseObject({ mode: z.literal('form').optional(), message: z.string(), requestedSchema: QuestionForm }),
])

const MAX_WAITING = 8
const MAX_ASKED = 20

/** The questions of a server during one call: asked one after the other, and no more than a person can answer. */
export class ServerQuestions {
  readonly #server: string
  readonly #ctx: BaseContext
  readonly #noticed = new Set<string>()
  #last: Promise<unknown> = Promise.resolve()
  #open = 0
  #asked = 0
  #isOver = false

  constructor(server: string, ctx: BaseContext) {
    this.#server = server
    this.#ctx = ctx
  }

  get run(): string | undefined {
    return this.#ctx.run
  }

  /** Asks the person, after the questions before. */
  ask(params: unknown): Promise<ElicitResult> {
    if (this.#asked >= MAX_ASKED) {
      return this.refuse(`${this.#server} asked more than ${MAX_ASKED} questions; the rest are not answered.`)
    }
    if (this.#open > MAX_WAITING) {
      return this.refuse(
        `${this.#server} asked more than ${MAX_WAITING} questions at the same time; the rest are not answered.`,
      )
    }
    this.#asked++
    this.#open++
    const answer = this.#last.then(() => this.#answer(params)).finally(() => this.#open--)
    // Its error reaches the one who asked.
    this.#last = answer.catch(() => {})
    return answer
  }

  /** Declines, and gives the reason once. */
  async refuse(why: string): Promise<ElicitResult> {
    if (!this.#noticed.has(why) && !this.#isOver) this.#ctx.notice(why)
    this.#noticed.add(why)
    return { action: 'cancel' }
  }

  /** The call has ended: pending questions are not asked. */
  close(): void {
    this.#isOver = true
  }

  async #answer(params: unknown): Promise<ElicitResult> {
    return this.#isOver ? { action: 'cancel' } : answerElicitation(this.#server, params, this.#ctx)
  }
}

/** Asks the person behind the call that the server asks for. URLs are reported, never opened. */
export async function answerElicitation(server: string, params: unknown, ctx: BaseContext): Promise<ElicitResult> {
  const parsed = Request.safeParse(params)
  if (!parsed.success) {
    ctx.notice(
      `${server} asked something that is not a question: ${escapeLine(z.prettifyError(parsed.error)).slice(0, 300)}`,
    )
    return { action: 'cancel' }
  }
  const { data } = parsed
  const message = escapeText(data.message.slice(0, QUESTION_CHARS))
  if (data.mode === 'url') {
    ctx.notice(
      `${server} wants you to open ${escapeLine(data.url.slice(0, QUESTION_CHARS))} (${message}). It was declined.`,
    )
    return { action: 'decline' }
  }
  try {
    const question = `The MCP server ${server} asks: ${message}`
    const { values = {} } = await ctx.ask({ question, form: data.requestedSchema })
    return { action: 'accept', content: values as ElicitResult['content'] }
  } catch (error) {
    if (ctx.signal.aborted) throw error
    const isNo = ToolError.is(error) && error.code === 'APPROVAL_DENIED'
    ctx.notice(
      `${server} asked ${JSON.stringify(message.slice(0, 200))} and got no answer: ${escapeLine(String((error as Error).message))}`,
    )
    return { action: isNo ? 'decline' : 'cancel' }
  }
}

/** A reference is refused rather than dropped: without it the schema would mean something else. */
function isFlat(part: unknown, nested: ReadonlySet<string>): boolean {
  if (typeof part !== 'object' || part === null) return true
  return Object.entries(part).every(
    ([keyword, value]) => keyword !== '$ref' && (nested.has(keyword) || typeof value !== 'object' || value === null),
  )
}
