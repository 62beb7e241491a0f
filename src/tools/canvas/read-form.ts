import { z } from 'zod'
import { ToolError } from '../../core/errors.ts'

const MAX_FIELDS = 50
const words = z.string().max(4_000)
const option = z.union([z.string().max(200), z.number(), z.boolean()])

const field = z.looseObject({
  type: z.enum(['string', 'number', 'integer', 'boolean']),
  title: words.optional(),
  description: words.optional(),
  enum: z.array(option).min(1).max(100).optional(),
})

const form = z.looseObject({
  type: z.literal('object'),
  properties: z.record(z.string().min(1).max(100), field),
  required: z.array(z.string()).optional(),
})

/** A form as people can fill it in everywhere: a flat object of texts, numbers, yes or no, and choices. */
export function readForm(content: string): z.infer<typeof form> {
  const parsed = form.safeParse(readJson(content))
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    throw invalid(`${issue!.path.join('.') || 'the content'}: ${issue!.message}`)
  }
  const count = Object.keys(parsed.data.properties).length
  if (count === 0 || count > MAX_FIELDS) throw invalid(`it has ${count} fields, and 1 to ${MAX_FIELDS} are possible`)
  return parsed.data
}

/** What is wrong with a form; nothing when people can fill it in. */
export function formProblem(content: string): string | undefined {
  try {
    readForm(content)
    return undefined
  } catch (error) {
    if (!ToolError.is(error)) throw error
    return `${error.message} ${error.fix.hint}`
  }
}

function readJson(content: string): unknown {
  try {
    return JSON.parse(content)
  } catch (error) {
    throw invalid((error as Error).message)
  }
}

function invalid(why: string): ToolError {
  return new ToolError('INPUT_SCHEMA_INVALID', `This is no form: ${why}.`, {
    hint: 'Give a JSON Schema: {"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}.',
  })
}
