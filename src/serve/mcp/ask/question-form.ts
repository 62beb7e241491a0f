import { z } from 'zod'
import type { Question } from '../../../define.ts'
import { ToolError } from '../../../errors.ts'
import type { QuestionReply } from '../../../options.ts'
import { revealLine } from '../../../value/escape-text.ts'
import type { Form, FormAnswer } from './elicitation.ts'
import { shownLine, shownText } from './shown-text.ts'

/** A text that must stay as it is, because it comes back: nothing may be hidden in it. */
const VALUE = z
  .string()
  .max(1_000)
  .refine((text) => revealLine(text) === text)
const CHOICES = z.array(z.object({ const: VALUE, title: VALUE })).max(200)
/** What clients can show: a flat object of texts, numbers, yes or no, and choices. */
const FIELD = z.object({
  type: z.enum(['string', 'number', 'integer', 'boolean', 'array']),
  title: z.string().optional(),
  description: z.string().optional(),
  // It would come back unseen: one that cannot be shown as it is, is left out.
  default: z
    .union([VALUE, z.number(), z.boolean(), z.array(VALUE).max(200)])
    .optional()
    .catch(undefined),
  enum: z.array(VALUE).max(200).optional(),
  enumNames: z.array(VALUE).max(200).optional(),
  oneOf: CHOICES.optional(),
  items: z
    .union([z.object({ type: z.literal('string'), enum: z.array(VALUE).max(200) }), z.object({ anyOf: CHOICES })])
    .optional(),
  format: z.enum(['email', 'uri', 'date', 'date-time']).optional(),
  minLength: z.number().optional(),
  maxLength: z.number().optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  minItems: z.number().optional(),
  maxItems: z.number().optional(),
})
const FORM = z.object({
  type: z.literal('object'),
  properties: z.record(VALUE, FIELD).refine((fields) => Object.keys(fields).length <= 100),
  required: z.array(z.string()).max(100).optional(),
})

/** The question of a tool as a form; its texts are shown as they are. */
export function questionForm(tool: string, { question, context, options, defaultAnswer, form }: Question): Form {
  const lines = [
    `${shownLine(tool)} asks: ${shownText(question)}`,
    ...(context === undefined ? [] : [shownText(context)]),
    ...(options === undefined || form ? [] : [`Answers to choose from, others are possible: ${shownOptions(options)}`]),
  ]
  return {
    message: lines.join('\n\n'),
    requestedSchema: form ? flatForm(tool, form) : textForm(defaultAnswer),
  }
}

/** What the person said, for `onQuestion`; a person who does not answer is an error that says so. */
export function readAnswer({ form }: Question, { action, content }: FormAnswer): QuestionReply {
  if (action !== 'accept') throw unanswered(action === 'decline' ? 'declined to answer' : 'closed the question')
  const required = form ? (FORM.safeParse(form).data?.required ?? []) : ['answer']
  const given = content ?? {}
  const missing = required.filter((name) => !Object.hasOwn(given, name) || given[name] === null)
  if (missing.length > 0) throw unanswered(`gave no ${missing.map((name) => shownLine(name, 64)).join(', ')}`)
  if (form) return given
  if (typeof given.answer === 'string') return given.answer
  throw unanswered('gave no text as the answer')
}

function unanswered(what: string): ToolError {
  return new ToolError('APPROVAL_DENIED', `The person ${what}.`, { hint: 'Go on without the answer, or stop.' })
}

function shownOptions(options: readonly string[]): string {
  return options
    .slice(0, 20)
    .map((option) => JSON.stringify(shownLine(option, 200)))
    .join(', ')
}

function textForm(defaultAnswer: string | undefined): Form['requestedSchema'] {
  const answer = {
    type: 'string' as const,
    title: 'Answer',
    ...(VALUE.safeParse(defaultAnswer).success && { default: defaultAnswer }),
  }
  return { type: 'object', properties: { answer }, required: ['answer'] }
}

/** Only what clients know of the tool's own form, its texts made harmless. */
function flatForm(tool: string, form: NonNullable<Question['form']>): Form['requestedSchema'] {
  const parsed = FORM.safeParse(form)
  if (!parsed.success) {
    throw new ToolError('APPROVAL_UNAVAILABLE', `The form of ${tool} is none that a client can show.`, {
      hint: 'Use a flat object of texts, numbers, booleans and choices.',
    })
  }
  const { properties, required = [] } = parsed.data
  const fields = Object.entries(properties).map(([name, field]) => [name, withShownTexts(field)] as const)
  return {
    type: 'object',
    // The client's types are a union by kind of field; what the union allows was checked above.
    properties: Object.fromEntries(fields) as Form['requestedSchema']['properties'],
    required: required.filter((name) => Object.hasOwn(properties, name)),
  }
}

function withShownTexts(field: z.infer<typeof FIELD>): z.infer<typeof FIELD> {
  const { title, description } = field
  return {
    ...field,
    ...(title !== undefined && { title: shownLine(title) }),
    ...(description !== undefined && { description: shownLine(description, 1_000) }),
  }
}
