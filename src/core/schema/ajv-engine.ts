import { Ajv2020, type ErrorObject, type Options, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import canonicalize from 'canonicalize'
import { isPlainObject } from '../../lib/index.ts'
import { ToolError } from '../errors.ts'
import { fromAjvErrors } from './ajv-issues.ts'
import { cloneJson, FORMS } from './json-schema.ts'
import { linearRegExp } from './linear-regexp.ts'
import type { JsonObject, SchemaResult, Side } from './schema.ts'

const KEYWORD = 'x-tool-hub-step'

/** More than any honest value needs: a list of a million items that are each referred to. */
const MAX_STEPS = 1_000_000

/** Listing all errors of a value with more parts than this could take more memory than the value. */
const MAX_PARTS = 2_000

const OPTIONS: Options = {
  strict: false,
  // NaN and Infinity are no JSON.
  strictNumbers: true,
  logger: false,
  // The meta-schema costs 45 ms to compile and refuses what harmlessly deviates; toModernSchema looked already.
  meta: false,
  validateSchema: false,
  // `constructor` and the like are on every object, which does not make them given.
  ownProperties: true,
  // 0.07 is a multiple of 0.01, whatever binary fractions say.
  multipleOfPrecision: 9,
  code: { regExp: linearRegExp },
}

/** Makes the check of one schema: it stops at the first error, and looks for the others only to report them. */
export function createCheck(schema: JsonObject, side: Side): (value: unknown) => SchemaResult {
  const useDefaults = side === 'input' && JSON.stringify(schema).includes('"default"')
  const { validate: isValid, meter } = compile(schema, { side, useDefaults, allErrors: false })
  let lister: Compiled | undefined

  const errorsOf = (value: unknown): readonly ErrorObject[] => {
    if (!hasFewParts(value)) return isValid.errors ?? []
    lister ??= compile(schema, { side, useDefaults, allErrors: true })
    lister.meter?.reset()
    lister.validate(value)
    return lister.validate.errors ?? []
  }
  return (given) => {
    meter?.reset()
    try {
      const value = useDefaults ? cloneJson(given) : given
      if (isValid(value)) return { ok: true, value }
      return { ok: false, issues: fromAjvErrors(errorsOf(value), { value, schema }) }
    } catch (error) {
      return { ok: false, issues: [{ path: '', message: whyUnchecked(error) }] }
    }
  }
}

interface Compiled {
  readonly validate: ValidateFunction
  /** Where it refers to parts of itself. */
  readonly meter: StepMeter | undefined
}

/** What is not JSON (a cycle, a BigInt) or endlessly deep may make the check itself fail, which is no pass. */
function whyUnchecked(error: unknown): string {
  if (error instanceof RangeError) return 'must not be nested that deeply'
  return `could not be checked: ${error instanceof Error ? error.message : String(error)}`
}

/**
 * Every schema gets an ajv of its own (0.4 ms more): a shared one keeps all it ever compiled, and lets the `$id`s of
 * one tool's schema clash with, or be reached from, another's.
 */
function compile(
  schema: JsonObject,
  { side, useDefaults, allErrors }: { side: Side; useDefaults: boolean; allErrors: boolean },
): Compiled {
  const ajv = new Ajv2020({ ...OPTIONS, useDefaults, allErrors })
  addFormats.default(ajv)
  // ajv compares each item with each other; 150,000 items would take minutes.
  ajv.removeKeyword('uniqueItems')
  ajv.addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    validate: hasUniqueItems,
    errors: false,
  })
  const meter = /"\$(dynamicR|r)ef":/.test(JSON.stringify(schema)) ? addStepMeter(ajv) : undefined
  try {
    return { validate: ajv.compile(meter ? meterReferences(schema) : schema), meter }
  } catch (cause) {
    throw ToolError.is(cause) ? cause : unusable(cause, side)
  }
}

function hasUniqueItems(wanted: boolean, items: readonly unknown[]): boolean {
  return !wanted || new Set(items.map((item) => canonicalize(item))).size === items.length
}

function hasFewParts(value: unknown): boolean {
  const waiting = [value]
  for (let count = 1; waiting.length > 0; ) {
    const part = waiting.pop()
    if (typeof part !== 'object' || part === null) continue
    const parts: readonly unknown[] = Array.isArray(part) ? part : Object.values(part)
    count += parts.length
    if (count > MAX_PARTS) return false
    waiting.push(...parts)
  }
  return true
}

function unusable(cause: unknown, side: Side): ToolError {
  if (cause instanceof Error && 'missingRef' in cause) {
    return new ToolError(
      'CONFIG_INVALID',
      `The ${side} schema refers to ${JSON.stringify(cause.missingRef)}, which is not inside it.`,
      {
        hint: 'References are never fetched: copy the schema it means into $defs and refer to "#/$defs/…".',
        cause,
      },
    )
  }
  const reason = cause instanceof Error ? cause.message : String(cause)
  return new ToolError('CONFIG_INVALID', `The ${side} schema is not a JSON Schema: ${reason}.`, {
    hint: 'Write it by JSON Schema 2020-12.',
    cause,
  })
}

/** Counts the references that a check follows, and ends it when there are too many. */
interface StepMeter {
  reset(): void
}

/** A check that would not come to its end. */
class TooManySteps extends Error {
  constructor() {
    super(`takes over ${MAX_STEPS} steps to check`)
  }
}

/**
 * Without references a schema takes as long as it is large. With them, 3 KB of a stranger's schema can mean days: each
 * may be two of the next. So every reference is counted when it is followed.
 */
function addStepMeter(ajv: Ajv2020): StepMeter {
  let steps = 0
  ajv.addKeyword({
    keyword: KEYWORD,
    before: '$ref',
    schemaType: 'boolean',
    errors: false,
    validate: () => {
      if (++steps > MAX_STEPS) throw new TooManySteps()
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
function meterReferences(schema: JsonObject): JsonObject {
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
