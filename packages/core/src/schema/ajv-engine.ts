import { Ajv2020, type ErrorObject, type Options, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { ToolError } from '../errors.ts'
import { canonicalJson, isPlainObject, pointerKeys, valueAt } from '../lib/index.ts'
import {
  fitsNone,
  MAX_ISSUES,
  missingKey,
  notOneOf,
  propertyNamesAt,
  quoteValue,
  unknownKey,
  wrongType,
} from './issues.ts'
import { cloneJson, FORMS } from './json-schema.ts'
import { linearRegExp } from './linear-regexp.ts'
import type { JsonObject, SchemaIssue, SchemaResult, Side } from './schema.ts'

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

/** What is not JSON (a cycle, a BigInt) or endlessly deep may make the check itself fail, which does not count as valid. */
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
  return !wanted || new Set(items.map((item) => canonicalJson(item))).size === items.length
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

interface Checked {
  readonly value: unknown
  readonly schema: JsonObject
}

/** Only sums up errors that are listed too. */
const SUMMARIES: ReadonlySet<string> = new Set(['if', 'propertyNames'])

/** What ajv found, in words a model can act on; the errors of a union's branches become one issue. */
export function fromAjvErrors(errors: readonly ErrorObject[], checked: Checked): SchemaIssue[] {
  const issues = foldUnions(errors, checked).slice(0, MAX_ISSUES).map(toIssue)
  return issues.length > 0 ? issues : [{ path: '', message: 'must fit the schema' }]
}

/** An issue not yet put into words: only a few of a thousand errors will be. */
interface FoldedError {
  readonly path: string
  readonly schemaPath: string
  readonly say: () => string
}

/** ajv reports a union right after the errors of its branches. */
function foldUnions(errors: readonly ErrorObject[], checked: Checked): FoldedError[] {
  const found: FoldedError[] = []
  for (const error of errors) {
    if (SUMMARIES.has(error.keyword)) continue
    const isUnion = error.keyword === 'anyOf' || error.keyword === 'oneOf'
    const branches = isUnion ? takeBranches(found, error, checked.schema) : []
    const say = isUnion ? () => sayUnion(error, branches) : () => sayError(error, checked)
    found.push({ path: error.instancePath, schemaPath: error.schemaPath, say })
  }
  return found
}

/** Takes the errors of a union's branches off the end of the list, grouped, with paths from the union on. */
function takeBranches(
  found: FoldedError[],
  { schemaPath: unionPath, instancePath }: ErrorObject,
  schema: JsonObject,
): FoldedError[][] {
  const forms = valueAt(schema, pointerKeys(unionPath))
  if (!Array.isArray(forms)) return []
  const prefixes = forms.map(({ $ref }, index) => {
    const own = `${unionPath}/${index}/`
    return { own, referred: typeof $ref === 'string' ? `${$ref}/` : own }
  })
  const branchOf = ({ path, schemaPath }: FoldedError): number =>
    path.startsWith(instancePath)
      ? prefixes.findIndex(({ own, referred }) => schemaPath.startsWith(own) || schemaPath.startsWith(referred))
      : -1
  const first = found.findLastIndex((each) => branchOf(each) === -1) + 1
  const branches = new Map<number, FoldedError[]>()
  for (const each of found.splice(first)) {
    const branch = branches.get(branchOf(each)) ?? []
    branches.set(branchOf(each), branch)
    branch.push({ ...each, path: each.path.slice(instancePath.length) })
  }
  return [...branches.values()]
}

function toIssue({ path, say }: FoldedError): SchemaIssue {
  return { path, message: say() }
}

function sayUnion({ params }: ErrorObject, branches: readonly FoldedError[][]): string {
  if (params.passingSchemas) return 'must fit exactly one of the allowed forms, fits several'
  return fitsNone(branches.map((branch) => branch.slice(0, MAX_ISSUES).map(toIssue)))
}

/** An error about the name of a key is reported at the object that has it. */
function sayError(error: ErrorObject, checked: Checked): string {
  const message = wording(error, checked)
  return error.propertyName === undefined ? message : `key ${quoteValue(error.propertyName)} ${message}`
}

function wording(
  { keyword, params, instancePath, propertyName, message }: ErrorObject,
  { value, schema }: Checked,
): string {
  const keys = pointerKeys(instancePath)
  switch (keyword) {
    case 'additionalProperties':
      return unknownKey(params.additionalProperty, propertyNamesAt(schema, keys))
    case 'unevaluatedProperties':
      return unknownKey(params.unevaluatedProperty, propertyNamesAt(schema, keys))
    case 'required':
      return missingKey(params.missingProperty)
    case 'type':
      return wrongType([params.type].flat().join(' or '), propertyName ?? valueAt(value, keys))
    case 'enum':
      return notOneOf(params.allowedValues)
    case 'const':
      return notOneOf([params.allowedValue])
    case 'pattern':
      return `must match the pattern ${quoteValue(params.pattern)}`
    case 'format':
      return `must be in the format ${quoteValue(params.format)}`
    case 'uniqueItems':
      return 'must have no two equal items'
    case 'false schema':
      return 'must not be given'
    case 'not':
      return 'must not fit the form under "not"'
    default:
      return message?.replace('NOT', 'not') ?? `must fit ${quoteValue(keyword)}`
  }
}
