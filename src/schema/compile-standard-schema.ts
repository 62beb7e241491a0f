import { ToolError } from '../errors.ts'
import type { CompiledSchema, JsonObject, SchemaResult, Side } from './compiled-schema.ts'
import type { StandardResult, StandardSchema } from './infer.ts'
import { fromStandardIssues } from './standard-issues.ts'
import { toModernSchema } from './to-modern-schema.ts'

/** Compiles what follows Standard Schema: the library itself checks, so refinements, defaults and transforms run. */
export function compileStandardSchema(schema: StandardSchema, side: Side): CompiledSchema {
  const standard = schema['~standard']
  let json: JsonObject | undefined

  const jsonSchema = (): JsonObject => {
    json ??= toModernSchema(convert(standard, side), side)
    return json
  }
  const settle = (result: StandardResult<unknown>, value: unknown): SchemaResult => {
    if (result.issues) return { ok: false, issues: fromStandardIssues(result.issues, { value, jsonSchema }) }
    return 'value' in result ? { ok: true, value: result.value } : NO_ANSWER
  }
  return {
    jsonSchema,
    validate(value) {
      const result = standard.validate(value)
      return result instanceof Promise ? result.then((late) => settle(late, value)) : settle(result, value)
    },
  }
}

/** A library that says neither yes nor no has not checked the value. */
const NO_ANSWER: SchemaResult = { ok: false, issues: [{ path: '', message: 'could not be checked by its schema' }] }

function convert({ vendor, jsonSchema }: StandardSchema['~standard'], side: Side): JsonObject {
  if (!jsonSchema) {
    throw new ToolError('CONFIG_INVALID', `The ${side} schema, made with ${vendor}, cannot be shown as JSON Schema.`, {
      hint: `Use a version of ${vendor} that has Standard JSON Schema ("~standard".jsonSchema; zod from 4.2), wrap it with its converter, or give a JSON Schema.`,
    })
  }
  try {
    return jsonSchema[side]({ target: 'draft-2020-12' })
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new ToolError(
      'CONFIG_INVALID',
      `The ${side} schema, made with ${vendor}, has no JSON Schema form: ${reason}`,
      {
        hint: 'Use only types that JSON has (a date is a string with a format) and convert inside execute.',
        cause,
      },
    )
  }
}
