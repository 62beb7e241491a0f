import { ToolError } from '../../core/index.ts'
import type { AnySchema, StandardSchema } from '../../core/schema/index.ts'

/** A schema of another framework's tool as the hub takes it: zod, arktype, JSON Schema; refused immediately when it could not be shown. */
export function acceptSchema(schema: unknown, what: string): AnySchema {
  if (isStandard(schema)) {
    const { vendor, jsonSchema } = schema['~standard']
    if (jsonSchema) return schema
    throw unusable(what, `was made with a version of ${vendor} that has no JSON Schema form`)
  }
  if (typeof schema === 'object' && schema !== null && !Array.isArray(schema)) return schema
  throw unusable(what, `is ${schema === null ? 'null' : typeof schema}, not a schema`)
}

/** For a tool that takes nothing. */
export const NO_ARGUMENTS = Object.freeze({ type: 'object', properties: {}, additionalProperties: false })

function isStandard(schema: unknown): schema is StandardSchema {
  const isHolder = (typeof schema === 'object' && schema !== null) || typeof schema === 'function'
  return isHolder && typeof (schema as Partial<StandardSchema>)['~standard']?.validate === 'function'
}

function unusable(what: string, why: string): ToolError {
  return new ToolError('CONFIG_INVALID', `The schema of ${what} ${why}.`, {
    hint: 'Give the schema of the arguments as JSON Schema, or with zod from 4.2, in the option input.',
  })
}
