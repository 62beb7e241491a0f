import { z } from 'zod'

const MOST_FIELDS = 50
const MOST_FORM_CHARS = 50_000

const texts = { title: z.string().optional(), description: z.string().optional() }
const options = z.array(z.object({ const: z.string(), title: z.string().optional() }))
const number = z.number().optional()

/** The kinds of fields that the protocol knows, each with its own keywords and no other. */
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
 * A form that a server asks somebody to fill in: flat, and made of nothing but what the protocol knows. What a schema
 * could be built of beyond that may take for ever to check, and would be shown to nobody.
 */
export const ElicitationForm = z
  .looseObject({ type: z.literal('object'), properties: z.record(z.string(), z.unknown()) })
  .refine((form) => isFlat(form, ROOT), { error: 'A form is flat.', abort: true })
  .refine(({ properties }) => Object.keys(properties).length <= MOST_FIELDS, {
    error: `A form has at most ${MOST_FIELDS} fields.`,
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
      required: z.array(z.string()).max(MOST_FIELDS).optional(),
    }),
  )
  .refine((form) => JSON.stringify(form).length <= MOST_FORM_CHARS, `A form has at most ${MOST_FORM_CHARS} characters.`)

const ROOT: ReadonlySet<string> = new Set(['properties', 'required'])
const OPTIONS: ReadonlySet<string> = new Set(['enum', 'enumNames', 'oneOf', 'items', 'default'])

/** What leads elsewhere is refused rather than left out: it would mean something else without. */
function isFlat(part: unknown, nested: ReadonlySet<string>): boolean {
  if (typeof part !== 'object' || part === null) return true
  return Object.entries(part).every(
    ([keyword, value]) => keyword !== '$ref' && (nested.has(keyword) || typeof value !== 'object' || value === null),
  )
}
