import type { ElicitRequestFormParams } from '@modelcontextprotocol/server'
import { type ApprovalReply, type ApprovalRequest, type Question, type QuestionReply, ToolError } from '@tool-hub/core'
import { isPlainObject, revealJson, revealLine, revealText } from '@tool-hub/core/lib'
import { describePlace } from '@tool-hub/runtime/approvals'
import { shortenText } from '@tool-hub/runtime/limits'
import { z } from 'zod'

/** What a person is shown: a text and the fields to fill in. */
export type ElicitationForm = Pick<ElicitRequestFormParams, 'message' | 'requestedSchema'>

const ANSWER = z.object({
  action: z.enum(['accept', 'decline', 'cancel']),
  content: z
    .record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.array(z.string()), z.null()]))
    .nullish(),
})

/** What the person did, as the client reports it. */
export type FormAnswer = z.infer<typeof ANSWER>

/** Reads the answer that a client sent; `undefined` if it is not one. */
export function parseFormAnswer(value: unknown): FormAnswer | undefined {
  return ANSWER.safeParse(value).data
}

const MAX_HEAD_LINES = 15
const MAX_TAIL_LINES = 5
/** A command is read to its end before it is allowed. */
const MAX_TARGET_CHARS = 1_000
/** What changed in a tool is in the reason. */
const MAX_REASON_CHARS = 2_000

const CUT = /…\(\d+ characters\)…|: and \d+ more$/
const SEE_ALL =
  'Not all of it is shown here. Where approvals are kept (tool-hub serve, approvals.inbox), tool-hub approvals --full shows all of it.'

type Lasting = Pick<ApprovalReply, 'remember' | 'covers'>

function outsideWarning({ taintedBy = [] }: ApprovalRequest): string {
  const from = taintedBy.length === 0 ? '' : `: ${shownLine(taintedBy.join(', '))}`
  return `Warning: this session has read content from outside${from}.`
}

/**
 * An approval request as a form: what would be done, what is dangerous about it, why it needs an approval, and how long the
 * approval holds. To accept the form is to approve. Every text from outside is shown as it is, on one line.
 */
export function approvalForm(request: ApprovalRequest): ElicitationForm {
  const { reason, purpose, requests, labels, risks = [], unproven = [], views, script } = request
  const lines = [
    ...whatHappens(request),
    ...(script === undefined ? [] : [`Script: ${shownLine(describePlace(script))}`]),
    ...listed('Risk', risks),
    ...listed(
      'Note',
      views.flatMap((view) => (view.kind === 'command' ? (view.notes ?? []) : [])),
    ),
    ...(labels.includes('untrusted') ? [outsideWarning(request)] : []),
    ...listed('Nothing shows that the user chose', unproven),
    `Reason: ${shownLine(reason, MAX_REASON_CHARS)}`,
    ...(purpose === undefined ? [] : [`Purpose, as the caller says: ${shownLine(purpose)}`]),
    ...listed('Requested by a skill (information, not a permission)', requests),
  ]
  if (lines.some((line) => CUT.test(line))) lines.push(SEE_ALL)
  const choices = [...choicesOf(request).keys()]
  return {
    message: lines.join('\n'),
    requestedSchema: {
      type: 'object',
      properties: {
        allow: {
          type: 'string',
          title: 'Allow',
          description: 'How long the yes holds. To refuse, decline.',
          enum: choices,
          default: choices[0]!,
        },
      },
    },
  }
}

/** Reads the decision: to accept is to approve for as long as was chosen, everything else is a no. */
export function readApproval({ action, content }: FormAnswer, by: string, request: ApprovalRequest): ApprovalReply {
  const whose = { by, via: 'mcp' }
  if (action !== 'accept') {
    const reason = action === 'decline' ? 'the person said no' : 'the person closed the form'
    return { decision: 'deny', ...whose, reason }
  }
  // A client with a form of its own may send a no in it.
  if (content?.decision === 'deny') return { decision: 'deny', ...whose }
  const choices = choicesOf(request)
  const { allow = [...choices.keys()][0] } = content ?? {}
  const lasting = choices.get(String(allow))
  // Only what was offered can be chosen.
  if (!lasting) return { decision: 'deny', ...whose, reason: 'the client sent a choice that was not offered' }
  return { decision: 'allow', ...lasting, ...whose }
}

/** A command has a line of its own; any other call is described by its targets and arguments. */
function whatHappens({ tool, targets, input }: ApprovalRequest): string[] {
  const [target, ...others] = targets
  if (!target?.startsWith('exec ') || others.length > 0)
    return [`May ${shownLine(tool)} run?`, ...listed('Target', targets), `Input: ${shownJson(input)}`]
  const command = target.slice('exec '.length)
  const { command: line, yieldMs: _, mergeStderr: __, ...more } = isPlainObject(input) ? input : {}
  // Dialects add how the caller gets the output, which changes nothing about the command.
  const rest = line === command ? more : input
  const hasMore = isPlainObject(rest) && Object.keys(rest).length > 0
  return [
    'Run a command?',
    '',
    shownLine(command, MAX_TARGET_CHARS),
    '',
    ...(hasMore ? [`With: ${shownJson(rest)}`] : []),
  ]
}

/** The answers that are offered, by their text in the form; the first is for this call alone. */
function choicesOf(request: ApprovalRequest): ReadonlyMap<string, Lasting> {
  const { pattern, values } = request.coverage
  const choices = new Map<string, Lasting>([['once', { remember: 'once' }]])
  const shown = pattern === undefined ? '' : shownLine(pattern, MAX_TARGET_CHARS)
  // Only what is shown whole is remembered.
  if (shown !== '' && !CUT.test(shown)) {
    choices.set(`this session: ${shown}`, { remember: 'session', covers: 'pattern' })
    choices.set(`always in this project: ${shown}`, { remember: 'always', covers: 'pattern' })
  } else choices.set('this session: this exact call', { remember: 'session' })
  const shownValues = values === undefined ? '' : shownLine(values, MAX_TARGET_CHARS)
  if (shownValues !== '' && !CUT.test(shownValues))
    choices.set(`always: ${shownValues}`, { remember: 'always', covers: 'values' })
  if (request.coverage.targets !== undefined)
    choices.set('this session: this tool on the same targets', { remember: 'session', covers: 'targets' })
  return choices
}

function listed(title: string, values: readonly string[]): string[] {
  const show = (value: string) => `${title}: ${shownLine(value, MAX_TARGET_CHARS)}`
  const left = values.length - MAX_HEAD_LINES - MAX_TAIL_LINES
  if (left <= 0) return values.map(show)
  return [
    ...values.slice(0, MAX_HEAD_LINES).map(show),
    `${title}: and ${left} more`,
    ...values.slice(-MAX_TAIL_LINES).map(show),
  ]
}

/** A text that is sent back unchanged: nothing may be hidden in it. */
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
  // Left out if it cannot be shown as it is: it would be sent back unseen.
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
export function questionForm(
  tool: string,
  { question, context, options, defaultAnswer, form }: Question,
): ElicitationForm {
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

/** Reads the answer for `onQuestion`; throws if the person did not answer. */
export function readQuestionAnswer({ form }: Question, { action, content }: FormAnswer): QuestionReply {
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
  return new ToolError('APPROVAL_DENIED', `The person ${what}.`, { hint: 'Continue without the answer, or stop.' })
}

function shownOptions(options: readonly string[]): string {
  return options
    .slice(0, 20)
    .map((option) => JSON.stringify(shownLine(option, 200)))
    .join(', ')
}

function textForm(defaultAnswer: string | undefined): ElicitationForm['requestedSchema'] {
  const answer = {
    type: 'string' as const,
    title: 'Answer',
    ...(VALUE.safeParse(defaultAnswer).success && { default: defaultAnswer }),
  }
  return { type: 'object', properties: { answer }, required: ['answer'] }
}

/** The tool's own form, reduced to what clients support, with harmless texts. */
function flatForm(tool: string, form: NonNullable<Question['form']>): ElicitationForm['requestedSchema'] {
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
    // The SDK's type is a union by kind of field, which the schema above has checked.
    properties: Object.fromEntries(fields) as ElicitationForm['requestedSchema']['properties'],
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

const MAX_VALUE_LENGTH = 500

/** A text of a tool or a model on one line: nothing hidden, nothing that looks like a line of the form, not too long. */
export function shownLine(text: string, maxChars = 300): string {
  return shortened(revealLine(text), maxChars)
}

/** The same over several lines. */
export function shownText(text: string, maxChars = 4_000): string {
  return shortened(revealText(text), maxChars)
}

/** A value as JSON on one line; each long text in it is shortened by itself, so that it hides nothing of what follows. */
function shownJson(value: unknown, maxChars = 4_000): string {
  const json = JSON.stringify(value, (_, part) => (typeof part === 'string' ? shortened(part, MAX_VALUE_LENGTH) : part))
  return shortened(revealJson(json ?? 'null'), maxChars)
}

/** Keeps head and tail: something dangerous could be hidden at the end. */
function shortened(text: string, maxChars: number): string {
  return shortenText(text, { maxChars, mode: 'middle', mark: (cut) => `…(${cut} characters)…` }).text
}
