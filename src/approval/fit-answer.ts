import { ToolError } from '../errors.ts'
import { compileSchema } from '../schema/compile-schema.ts'
import { describeIssues } from '../schema/describe-issues.ts'
import type { JsonSchema } from '../schema/infer.ts'
import { isPlainObject } from '../value/is-plain-object.ts'

/** A text, or what was filled into a form. */
export interface FittingAnswer {
  /** Empty for a form. */
  readonly answer: string
  readonly values?: Readonly<Record<string, unknown>>
}

/** An answer as its question wants it; a form that has one field may be answered with its text alone. */
export async function fitAnswer(
  { tool, form }: { readonly tool: string; readonly form?: JsonSchema | Readonly<Record<string, unknown>> },
  answer: unknown,
): Promise<FittingAnswer> {
  if (!form) {
    if (typeof answer === 'string') return { answer }
    throw unfit(tool, 'it is no text')
  }
  const names = isPlainObject(form.properties) ? Object.keys(form.properties) : []
  const values = typeof answer === 'string' && names.length === 1 ? { [names[0]!]: answer } : answer
  const checked = await compileSchema(form as JsonSchema, { side: 'input' }).validate(values)
  if (checked.ok && isPlainObject(checked.value)) return { answer: '', values: checked.value }
  throw unfit(tool, checked.ok ? 'it is no object' : describeIssues(checked.issues, 'it does not fit the form'))
}

function unfit(tool: string, why: string): ToolError {
  return new ToolError('INPUT_SCHEMA_INVALID', `The answer to ${tool} cannot be used: ${why}`, {
    hint: 'Answer with a text, or with the values of the form by name.',
  })
}
