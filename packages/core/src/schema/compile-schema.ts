import { ToolError } from '../errors.ts'
import { lazyModule } from '../lazy-module.ts'
import { toModernSchema } from './json-schema.ts'
import type {
  AnySchema,
  CompiledSchema,
  JsonObject,
  SchemaResult,
  Side,
  StandardResult,
  StandardSchema,
} from './schema.ts'
import { fromStandardIssues } from './standard-issues.ts'

/** A library that says neither yes nor no has not checked the value. */
const NO_ANSWER: SchemaResult = { ok: false, issues: [{ path: '', message: 'could not be checked by its schema' }] }

const loadAjvEngine = lazyModule(() => import('./ajv-engine.ts'))

let engine: Engine | undefined

export type { CompiledSchema, SchemaIssue, SchemaResult } from './schema.ts'

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

type Engine = typeof import('./ajv-engine.ts')

type Check = (value: unknown) => SchemaResult

/** Compiles TypeBox and plain JSON Schema; ajv loads with the first value, and each schema compiles with its own first. */
export function compileJsonSchema(schema: object, side: Side): CompiledSchema {
  let json: JsonObject | undefined
  let check: Check | undefined

  const jsonSchema = (): JsonObject => {
    json ??= toModernSchema(schema, side)
    return json
  }
  const checkWith = ({ createCheck }: Engine): Check => {
    check ??= orThrowAgain(() => createCheck(jsonSchema(), side))
    return check
  }
  return {
    jsonSchema,
    validate(value) {
      if (check) return check(value)
      if (engine) return checkWith(engine)(value)
      return load().then((loaded) => checkWith(loaded)(value))
    },
  }
}

async function load(): Promise<Engine> {
  engine = await loadAjvEngine()
  return engine
}

/** A schema that does not compile fails every value the same way, without compiling again. */
function orThrowAgain(make: () => Check): Check {
  try {
    return make()
  } catch (error) {
    return () => {
      throw error
    }
  }
}

/** Compiles what follows Standard Schema: the library itself checks, so refinements, defaults and transforms run. */
function compileStandardSchema(schema: StandardSchema, side: Side): CompiledSchema {
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
