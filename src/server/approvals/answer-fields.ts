import { z } from 'zod'
import { revealText } from '../../lib/index.ts'

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
  /** Name of the input: names and choices come back by number, so that they cannot be changed. */
  readonly sentAs: string
  readonly label: string
  readonly description: string | undefined
  readonly isRequired: boolean
  readonly type: z.infer<typeof fieldSchema>['type']
  readonly choices: readonly { readonly value: string | boolean; readonly label: string }[] | undefined
}

const MAX_FIELDS = 100
const MAX_CHARS = 20_000

/** Shows the form of a question as inputs of a page. */
export function showFields(form: Readonly<Record<string, unknown>>): string {
  const fields = fieldsOf(form)
  const left = Object.keys(formSchema.parse(form).properties).length - fields.length
  const more = left > 0 ? [`<p>${left} more fields do not fit on this page: answer in the console.</p>`] : []
  return [...fields.map(showField), ...more].join('\n')
}

/** Reads the values that were filled in, by name; empty ones are absent. The hub checks whether they fit the form. */
export function readFields(form: Readonly<Record<string, unknown>>, sent: URLSearchParams): Record<string, unknown> {
  const filled = fieldsOf(form).flatMap((field) => {
    const value = readField(field, sent.getAll(field.sentAs))
    return value === undefined ? [] : [[field.name, value] as const]
  })
  return Object.fromEntries(filled)
}

/** Text from outside in a page: neither markup, nor characters that hide or reorder words. */
export function htmlText(value: string): string {
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
