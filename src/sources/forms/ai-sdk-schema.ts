import { ToolError } from '../../errors.ts'
import type { AnySchema, JsonSchema, StandardResult, StandardSchema } from '../../schema/infer.ts'
import { acceptSchema, NO_ARGUMENTS } from './accept-schema.ts'

/** What `jsonSchema()` of the AI SDK makes. */
interface AiSdkSchema {
  readonly jsonSchema: unknown
  readonly validate?: (value: unknown) => Validated | PromiseLike<Validated>
}

type Validated =
  | { readonly success: true; readonly value: unknown }
  | { readonly success: false; readonly error: Error }

const MARK = Symbol.for('vercel.ai.schema')

/** A schema as AI SDK tools have it: zod, Standard Schema, `jsonSchema()`, or a function that makes one when it is needed. */
export function aiSdkSchema(schema: unknown, what: string): AnySchema {
  if (schema === undefined || schema === null) return NO_ARGUMENTS
  if (typeof schema === 'function' && !('~standard' in schema)) return aiSdkSchema(schema(), what)
  return isAiSdkSchema(schema) ? unwrap(schema, what) : acceptSchema(schema, what)
}

function isAiSdkSchema(schema: unknown): schema is AiSdkSchema {
  return typeof schema === 'object' && schema !== null && MARK in schema
}

function unwrap(schema: AiSdkSchema, what: string): AnySchema {
  const { jsonSchema } = schema
  if (isPromise(jsonSchema)) {
    throw new ToolError('CONFIG_INVALID', `The schema of ${what} is not there yet: it is made by a promise.`, {
      hint: 'Await it first, and give it in the option input.',
    })
  }
  const json = acceptSchema(jsonSchema, what) as JsonSchema
  return schema.validate ? checkedBy(schema.validate, json) : json
}

/** Its author wrote a check of their own, which then is the one that counts, as in the AI SDK. */
function checkedBy(validate: NonNullable<AiSdkSchema['validate']>, json: JsonSchema): StandardSchema {
  const show = () => json as Record<string, unknown>
  return {
    '~standard': {
      version: 1,
      vendor: 'ai-sdk',
      validate: (value) => {
        const result = validate(value)
        return isPromise(result) ? Promise.resolve(result).then(toStandard) : toStandard(result)
      },
      jsonSchema: { input: show, output: show },
    },
  }
}

function toStandard(result: Validated): StandardResult<unknown> {
  if (result.success) return { value: result.value }
  return { issues: [{ message: result.error?.message ?? 'does not fit' }] }
}

function isPromise<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function'
}
