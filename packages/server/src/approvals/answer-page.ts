import { createHash } from 'node:crypto'
import { numberLines, revealText } from '@tool-hub/core/lib'
import type { Approval, QuestionEntry } from '@tool-hub/core/protocol'
import { describePlace } from '@tool-hub/runtime/approvals'
import { z } from 'zod'

const STYLE = `:root{color-scheme:light dark;font:16px/1.5 system-ui,sans-serif}
body{max-width:46rem;margin:0 auto;padding:1.5rem 1rem}
h1{font-size:1.35rem;margin:0 0 1rem;overflow-wrap:anywhere}
dt{font-size:.8rem;opacity:.75;margin-top:.75rem}
dd{margin:0;overflow-wrap:anywhere}
pre{overflow:auto;padding:.75rem;border:1px solid color-mix(in srgb,currentColor 25%,transparent);border-radius:.4rem;font-size:.85rem;max-height:24rem;white-space:pre-wrap;overflow-wrap:anywhere}
form{display:flex;flex-wrap:wrap;gap:.75rem;margin-top:1.5rem}
form>label,fieldset{flex:1 1 100%;display:grid;gap:.25rem;min-width:0}
input[type=text],select{flex:1 1 100%;font:inherit;padding:.6rem;min-width:0}
button{font:inherit;font-weight:600;padding:.7rem 1.4rem;border-radius:.4rem;border:1px solid currentColor;cursor:pointer;background:transparent;color:inherit;overflow-wrap:anywhere}
button.yes{background:#1a6b3c;border-color:#1a6b3c;color:#fff}`

/** A page may only use its own style sheet and form. */
export const ANSWER_PAGE_CSP = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`

/**
 * The page behind a webhook link; works without scripts, on any phone. It shows everything that was stored of the call;
 * if only the ends of its arguments were stored, the reason says so. `source` is that of the script that makes the call.
 */
export function approvalPage(approval: Approval, source?: string): string {
  const {
    tool,
    caller,
    purpose,
    targets,
    reason,
    rule,
    input,
    views,
    labels,
    taintedBy,
    unproven,
    history,
    requests,
    script,
    expiresAt,
  } = approval
  const { risks = [] } = approval
  return page(`May ${caller} call ${tool}?`, [
    facts([
      ['Asked by', caller],
      ['Script', script && describePlace(script)],
      ['Why, as the caller says', purpose],
      ['Risks', risks.join('\n') || undefined],
      ['Targets', targets.join('\n') || undefined],
      ['Rule', rule],
      ['Reason', reason],
      ['Skills ask for', requests.join('\n') || undefined],
      ['Labels', labels.join(', ') || undefined],
      ['Read from outside', taintedBy?.join(', ')],
      ['Nothing shows that the user chose', unproven?.join(', ')],
      ['Before', history.map(pastCall).join('\n') || undefined],
      ['Waits until', expiresAt],
    ]),
    ...(script ? [scriptOf(script, source)] : []),
    ...views.map(viewOf),
    `<p>Arguments</p>${block(JSON.stringify(input, undefined, 2) ?? 'none')}`,
    approval.state === 'waiting'
      ? `<form method="post"><input type="text" name="reason" maxlength="2000" placeholder="Reason (the agent reads it)" aria-label="Reason">
<button class="yes" name="decision" value="allow">Allow once</button><button name="decision" value="deny">Deny</button></form>`
      : `<p>${htmlText(stateOf(approval))}</p>`,
  ])
}

/** The same for a question. */
export function questionPage(question: QuestionEntry): string {
  const { tool, caller, context, defaultAnswer, expiresAt } = question
  return page(question.question, [
    facts([
      ['Asked by', `${caller}, through ${tool}`],
      ['Context', context],
      ['Without an answer', defaultAnswer],
      ['Waits until', expiresAt],
    ]),
    question.state === 'waiting' ? questionForm(question) : `<p>${htmlText(stateOf(question))}</p>`,
  ])
}

/** A page with one message. */
export function plainPage(title: string, message: string): string {
  return page(title, [`<p>${htmlText(message)}</p>`])
}

function page(title: string, parts: readonly string[]): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><meta name="robots" content="noindex"><title>${htmlText(title)}</title><style>${STYLE}</style></head><body><main><h1>${lines(title)}</h1>${parts.join('\n')}</main></body></html>`
}

/** Options are sent as numbers, so that the answer is one of them. */
function questionForm({ options = [], form }: QuestionEntry): string {
  if (form) return `<form method="post">${showFields(form)}<button class="yes">Send</button></form>`
  const choices = options.map((option, index) => `<button name="option" value="${index}">${htmlText(option)}</button>`)
  const offered = choices.length === 0 ? '' : `<form method="post">${choices.join('')}</form>`
  return `${offered}<form method="post"><input type="text" name="answer" required maxlength="20000" aria-label="Answer"><button class="yes">Send</button></form>`
}

function facts(entries: readonly (readonly [string, string | undefined])[]): string {
  const shown = entries.flatMap(([name, value]) =>
    value === undefined ? [] : [`<dt>${htmlText(name)}</dt><dd>${lines(value)}</dd>`],
  )
  return `<dl>${shown.join('')}</dl>`
}

function scriptOf({ line }: NonNullable<Approval['script']>, source: string | undefined): string {
  if (source === undefined) return '<p>The source of the script is not available.</p>'
  const lines = numberLines(source, new Set(line === undefined ? [] : [line]))
  return `<p>Script</p>${block(lines.map(({ text }) => text).join('\n'))}`
}

function viewOf(view: Approval['views'][number]): string {
  if (view.kind === 'diff') return `<p>${htmlText(view.path)}${view.isNew ? ' (new)' : ''}</p>${block(view.diff)}`
  if (view.kind === 'url')
    return facts([
      ['URL', view.url],
      ['Addresses', view.problem ?? view.addresses.join(', ')],
    ])
  const parts = view.parts.map((part) => `${part.decides ? '▶' : ' '} ${part.effect}  ${part.text}  (${part.rule})`)
  const where = view.cwd === undefined ? 'Command' : `Command in ${view.cwd}`
  const notes = (view.notes ?? []).map((note) => `<p>${htmlText(note)}</p>`).join('')
  return `<p>${htmlText(where)}</p>${block(`${view.command}\n\n${parts.join('\n')}`)}${notes}`
}

function pastCall({ tool, status, summary }: Approval['history'][number]): string {
  return summary === undefined ? `${tool}: ${status}` : `${tool}: ${status}, ${summary}`
}

function stateOf({ state, answered }: Approval | QuestionEntry): string {
  if (answered) return `${answered.by} has answered already${answered.decision ? `: ${answered.decision}` : ''}.`
  return state === 'expired' ? 'Nobody answered in time.' : 'The call no longer waits.'
}

/** Browsers drop a line break directly after the tag, so one is added. */
function block(value: string): string {
  return `<pre>\n${htmlText(value)}</pre>`
}

function lines(value: string): string {
  return value.split('\n').map(htmlText).join('<br>')
}

const choices = z.array(z.object({ const: z.string(), title: z.string().optional() })).max(200)
const fieldSchema = z.object({
  type: z.enum(['string', 'number', 'integer', 'boolean', 'array']).catch('string'),
  title: z.string().optional(),
  description: z.string().optional(),
  enum: z.array(z.string()).max(200).optional().catch(undefined),
  oneOf: choices.optional().catch(undefined),
  items: z
    .object({ enum: z.array(z.string()).max(200).optional(), anyOf: choices.optional() })
    .optional()
    .catch(undefined),
})
const formSchema = z.object({
  properties: z.record(z.string(), fieldSchema).catch({}),
  required: z.array(z.string()).catch([]),
})

interface Field {
  readonly name: string
  /** Name of the input; fields and choices are sent as numbers, so that they cannot be changed. */
  readonly sentAs: string
  readonly label: string
  readonly description: string | undefined
  readonly isRequired: boolean
  readonly type: z.infer<typeof fieldSchema>['type']
  readonly choices: readonly { readonly value: string | boolean; readonly label: string }[] | undefined
}

const MAX_FIELDS = 100
const MAX_CHARS = 20_000

/** Renders the form of a question as inputs. */
function showFields(form: Readonly<Record<string, unknown>>): string {
  const fields = fieldsOf(form)
  const left = Object.keys(formSchema.parse(form).properties).length - fields.length
  const more = left > 0 ? [`<p>${left} more fields do not fit on this page: answer in the console.</p>`] : []
  return [...fields.map(showField), ...more].join('\n')
}

/** Reads the values of a form by name, without empty ones. The hub validates them. */
export function readFields(form: Readonly<Record<string, unknown>>, sent: URLSearchParams): Record<string, unknown> {
  const filled = fieldsOf(form).flatMap((field) => {
    const value = readField(field, sent.getAll(field.sentAs))
    return value === undefined ? [] : [[field.name, value] as const]
  })
  return Object.fromEntries(filled)
}

/** Escapes text from outside: no markup, and no characters that hide or reorder words. */
function htmlText(value: string): string {
  return revealText(value).replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)
}

function fieldsOf(form: Readonly<Record<string, unknown>>): Field[] {
  const { properties, required } = formSchema.parse(form)
  return Object.entries(properties)
    .slice(0, MAX_FIELDS)
    .map(([name, { type, title = name, description, ...field }], index) => ({
      name,
      sentAs: `field-${index}`,
      label: title,
      description,
      isRequired: required.includes(name),
      type,
      choices: choicesOf(type, field),
    }))
}

function choicesOf(
  type: Field['type'],
  { enum: values, oneOf, items }: Pick<z.infer<typeof fieldSchema>, 'enum' | 'oneOf' | 'items'>,
): Field['choices'] {
  if (type === 'boolean') return YES_OR_NO
  const titled = type === 'array' ? items?.anyOf : oneOf
  if (titled) return titled.map(({ const: value, title = value }) => ({ value, label: title }))
  const plain = type === 'array' ? (items?.enum ?? []) : values
  return plain?.map((value) => ({ value, label: value }))
}

const YES_OR_NO = [
  { value: true, label: 'Yes' },
  { value: false, label: 'No' },
]

function showField(field: Field): string {
  const { sentAs, label, description, isRequired, type, choices } = field
  const name = `<span>${htmlText(label)}${isRequired ? '' : ' (may be left empty)'}</span>`
  const more = description === undefined ? '' : `<small>${htmlText(description)}</small>`
  const required = isRequired ? ' required' : ''
  const options = choices?.map((choice, index) => ({ index, label: htmlText(choice.label) }))
  if (options && type === 'array') {
    const boxes = options.map(
      (each) => `<label><input type="checkbox" name="${sentAs}" value="${each.index}"> ${each.label}</label>`,
    )
    return `<fieldset><legend>${name}</legend>${more}${boxes.join('')}</fieldset>`
  }
  if (options) {
    const shown = options.map((each) => `<option value="${each.index}">${each.label}</option>`)
    return `<label>${name}${more}<select name="${sentAs}"${required}><option value=""></option>${shown.join('')}</select></label>`
  }
  const isNumber = type === 'number' || type === 'integer'
  return `<label>${name}${more}<input type="text" name="${sentAs}"${isNumber ? ' inputmode="decimal"' : ''} maxlength="${MAX_CHARS}"${required}></label>`
}

function readField({ type, choices, isRequired }: Field, sent: readonly string[]): unknown {
  const texts = sent.filter((text) => text !== '').map((text) => text.slice(0, MAX_CHARS))
  const chosen = choices ? texts.map((text) => choices[/^\d{1,3}$/.test(text) ? Number(text) : -1]?.value) : texts
  const known = chosen.filter((value) => value !== undefined)
  if (type === 'array') return known.length > 0 || isRequired ? known : undefined
  const [first] = known
  if (typeof first !== 'string' || (type !== 'number' && type !== 'integer')) return first
  const number = Number(first)
  // The hub reports a text that is not a number.
  return Number.isFinite(number) ? number : first
}
