import type { Ajv2020 } from 'ajv/dist/2020.js'
import { isPlainObject } from '../value/is-plain-object.ts'
import type { JsonObject } from './compiled-schema.ts'
import { FORMS } from './schema-forms.ts'

const KEYWORD = 'x-tool-hub-step'

/** More than any honest value needs: a list of a million items that are each referred to. */
const MOST_STEPS = 1_000_000

/** Counts the references that a check follows, and ends it when there are too many. */
export interface StepMeter {
  reset(): void
}

/** A check that would not come to its end. */
export class TooManySteps extends Error {
  constructor() {
    super(`takes over ${MOST_STEPS} steps to check`)
  }
}

/**
 * Without references a schema takes as long as it is large. With them, 3 KB of a stranger's schema can mean days: each
 * may be two of the next. So every reference is counted when it is followed.
 */
export function addStepMeter(ajv: Ajv2020): StepMeter {
  let steps = 0
  ajv.addKeyword({
    keyword: KEYWORD,
    before: '$ref',
    schemaType: 'boolean',
    errors: false,
    validate: () => {
      if (++steps > MOST_STEPS) throw new TooManySteps()
      return true
    },
  })
  return {
    reset() {
      steps = 0
    },
  }
}

/** The same schema with every reference marked to be counted. */
export function meterReferences(schema: JsonObject): JsonObject {
  const entries = Object.entries(schema).map(([keyword, value]) => [keyword, meterKeyword(keyword, value)] as const)
  const refers = typeof schema.$ref === 'string' || typeof schema.$dynamicRef === 'string'
  return Object.fromEntries(refers ? [...entries, [KEYWORD, true]] : entries)
}

function meterKeyword(keyword: string, value: unknown): unknown {
  const form = FORMS.get(keyword)
  if (form === 'schema') return meterAny(value)
  if (form === 'list' && Array.isArray(value)) return value.map(meterAny)
  if (form !== 'map' || !isPlainObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, schema]) => [key, meterAny(schema)]))
}

function meterAny(schema: unknown): unknown {
  return isPlainObject(schema) ? meterReferences(schema) : schema
}
