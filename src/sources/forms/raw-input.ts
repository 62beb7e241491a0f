import type { AnySchema, StandardResult, StandardSchema } from '../../schema/infer.ts'

/** A schema, and what each value it let through was before. */
export interface RawInput {
  readonly schema: AnySchema
  /** What the caller gave, for arguments that this schema made; others as they are. */
  rawOf(input: unknown): unknown
}

/**
 * For tools that parse their arguments themselves once more: policy judges the parsed ones, defaults filled in, and the
 * tool gets what they were made from. Parsed twice, a transform would refuse its own result.
 */
export function keepRaw(schema: AnySchema): RawInput {
  if (!('~standard' in schema)) return { schema, rawOf: (input) => input }
  const given = new WeakMap<object, unknown>()
  const keep = (result: StandardResult<unknown>, raw: unknown) => {
    if ('value' in result && typeof result.value === 'object' && result.value !== null) given.set(result.value, raw)
    return result
  }
  const standard = (schema as StandardSchema)['~standard']
  return {
    schema: {
      '~standard': {
        version: 1,
        vendor: standard.vendor,
        validate: (value) => {
          const result = standard.validate(value)
          return result instanceof Promise ? result.then((late) => keep(late, value)) : keep(result, value)
        },
        jsonSchema: standard.jsonSchema,
      },
    },
    rawOf: (input) => (typeof input === 'object' && input !== null ? (given.get(input) ?? input) : input),
  }
}
