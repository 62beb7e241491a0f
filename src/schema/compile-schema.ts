import { ToolError } from '../errors.ts'
import { compileJsonSchema } from './compile-json-schema.ts'
import { compileStandardSchema } from './compile-standard-schema.ts'
import type { CompiledSchema, Side } from './compiled-schema.ts'
import type { AnySchema, StandardSchema } from './infer.ts'

export type { CompiledSchema, SchemaIssue, SchemaResult } from './compiled-schema.ts'

const compiled: Record<Side, WeakMap<object, CompiledSchema>> = { input: new WeakMap(), output: new WeakMap() }

/** Makes a schema of any supported kind ready for use; the same object and side give the same result. */
export function compileSchema(schema: AnySchema, { side }: { readonly side: Side }): CompiledSchema {
  if (!isSchemaLike(schema)) throw notASchema(schema, side)
  const known = compiled[side].get(schema)
  if (known) return known
  const fresh = isStandardSchema(schema) ? compileStandardSchema(schema, side) : compileJsonSchema(schema, side)
  compiled[side].set(schema, fresh)
  return fresh
}

/** arktype's schemas are functions, all others are objects. */
function isSchemaLike(schema: unknown): schema is object {
  return (typeof schema === 'object' && schema !== null && !Array.isArray(schema)) || typeof schema === 'function'
}

/** A JSON Schema from outside may carry any key, but never a function. */
function isStandardSchema(schema: object): schema is StandardSchema {
  const standard = (schema as Partial<StandardSchema>)['~standard']
  return typeof standard?.validate === 'function'
}

function notASchema(schema: unknown, side: Side): ToolError {
  const got = schema === null ? 'null' : Array.isArray(schema) ? 'array' : typeof schema
  return new ToolError('CONFIG_INVALID', `The ${side} schema must be an object, got ${got}.`, {
    hint: 'Give a zod, arktype or TypeBox schema, or a JSON Schema object.',
  })
}
