import { deepFreeze, isPlainObject } from '@tool-hub/core/lib'
import { cloneJson, type JsonObject } from '@tool-hub/core/schema'
import { restore } from './branches.ts'
import { mergeObjects } from './merge-objects.ts'
import { repairRoot, WRAPPER } from './repair-root.ts'
import { ANTHROPIC_STRICT, noteInDescription, OPENAI_STRICT, type StrictRules } from './strict-rules.ts'
import { forType, isSchemaObject, propertiesOf, requiredOf, resolveReference, typesOf } from './subschemas.ts'
import { toStrict } from './to-strict.ts'

/** The fields of Gemini's `Schema`; an unknown field makes the whole request fail. */
const KEPT = new Set([
  ...['title', 'description', 'minItems', 'maxItems', 'minProperties', 'maxProperties'],
  ...['minLength', 'maxLength', 'pattern', 'minimum', 'maximum'],
])

const HANDLED = new Set(['type', 'properties', 'required', 'items', 'anyOf', 'oneOf', 'enum', '$defs', 'definitions'])

const FORMATS = new Set(['date-time', 'enum', 'float', 'double', 'int32', 'int64'])

const SILENT = new Set(['additionalProperties', '$id', '$schema', '$comment', 'examples', 'unevaluatedProperties'])

/** References are expanded, and a few can expand to very many parts. */
const MAX_PARTS = 1_000

const PLAIN_KEY = /^[A-Za-z0-9_.-]{1,64}$/

/** The provider that reads the schema; `-strict` for its strict mode, in which it enforces the schema. */
export type Provider = 'openai' | 'openai-strict' | 'anthropic' | 'anthropic-strict' | 'gemini'

/** A tool's schema as a provider accepts it. */
export interface ProviderSchema {
  /** JSON Schema in the dialect of the provider. */
  readonly schema: ObjectSchema
  /** Whether the provider enforces the schema; false if strict mode was requested and is not possible. */
  readonly strict: boolean
  /** How it differs from the tool's own schema. */
  readonly changes: readonly string[]
  /**
   * Converts what a model sent for this schema to the tool's own arguments. Does not modify its argument, never
   * throws.
   */
  restore(args: unknown): unknown
  /** What a strict schema counts against the limits of one request. */
  readonly counts: { readonly optionals: number; readonly unions: number }
}

/** A JSON Schema of an object. */
export interface ObjectSchema {
  type: 'object'
  /** Schemas of the arguments by name. */
  properties?: Record<string, unknown>
  /** Names of arguments that must be given. */
  required?: string[]
  [keyword: string]: unknown
}

const STRICT: ReadonlyMap<string, StrictRules> = new Map([
  ['openai-strict', OPENAI_STRICT],
  ['anthropic-strict', ANTHROPIC_STRICT],
])
const known = new WeakMap<object, Map<Provider, ProviderSchema>>()

/**
 * Converts a tool's JSON Schema to the dialect of a provider. A schema that the strict mode cannot express is
 * converted for the ordinary mode, with the reason in `changes`. The result is cached per schema object.
 * @example
 * const { schema, strict, restore } = schemaFor('openai-strict', tool.parameters)
 */
export function schemaFor(provider: Provider, schema: unknown): ProviderSchema {
  if (typeof schema !== 'object' || schema === null) return convert(provider, schema)
  const made = known.get(schema) ?? new Map<Provider, ProviderSchema>()
  known.set(schema, made)
  const present = made.get(provider)
  if (present) return present
  const converted = convert(provider, schema)
  made.set(provider, converted)
  return converted
}

function convert(provider: Provider, given: unknown): ProviderSchema {
  const root = repairRoot(given)
  const rules = STRICT.get(provider)
  const strict = rules && toStrict(root.schema, rules)
  if (strict && 'problem' in strict) {
    const { changes, ...ordinary } = convert(provider === 'openai-strict' ? 'openai' : 'anthropic', given)
    return Object.freeze({ ...ordinary, changes: [...changes, `not strict: ${strict.problem}`] })
  }
  const gemini = provider === 'gemini' ? toGemini(root.schema) : undefined
  const changed = strict ?? gemini ?? { schema: { properties: {}, ...root.schema }, changes: [] }
  const { schema, names } = provider.startsWith('anthropic')
    ? renameKeys(changed.schema)
    : { schema: changed.schema, names: new Map<string, string>() }
  const plan = strict?.plan
  const steps = [
    ...(names.size > 0 ? [(args: unknown) => withNames(args, names)] : []),
    ...(plan ? [(args: unknown) => restore(args, plan)] : []),
    ...(root.isWrapped ? [unwrap] : []),
  ]
  return Object.freeze({
    schema: deepFreeze(cloneJson(schema)) as ObjectSchema,
    strict: strict !== undefined,
    changes: [...root.changes, ...changed.changes, ...[...names].map(([name, key]) => `${key} is called ${name}`)],
    restore: (args: unknown) => steps.reduce((value, step) => step(value), args),
    counts: { optionals: strict?.optionals ?? 0, unions: strict?.unions ?? 0 },
  })
}

/** A model that forgot the wrapper is understood as well. */
function unwrap(args: unknown): unknown {
  if (!isPlainObject(args) || !Object.hasOwn(args, WRAPPER) || Object.keys(args).length !== 1) return args
  return args[WRAPPER]
}

function withNames(args: unknown, names: ReadonlyMap<string, string>): unknown {
  if (!isPlainObject(args)) return args
  return Object.fromEntries(Object.entries(args).map(([name, value]) => [names.get(name) ?? name, value]))
}

/** Renames arguments whose names Anthropic does not accept, and returns how to restore them. */
function renameKeys(schema: JsonObject): {
  readonly schema: JsonObject
  /** Original names by the new ones. */
  readonly names: ReadonlyMap<string, string>
} {
  const properties = propertiesOf(schema)
  const taken = new Set(Object.keys(properties))
  const renamed = new Map<string, string>()
  for (const key of Object.keys(properties)) {
    if (PLAIN_KEY.test(key)) continue
    const name = freeName(key, taken)
    taken.add(name)
    renamed.set(key, name)
  }
  if (renamed.size === 0) return { schema, names: renamed }
  const nameOf = (key: string) => renamed.get(key) ?? key
  const entries = Object.entries(properties).map(([key, property]) => [nameOf(key), property])
  return {
    schema: { ...schema, properties: Object.fromEntries(entries), required: requiredOf(schema).map(nameOf) },
    names: new Map([...renamed].map(([key, name]) => [name, key])),
  }
}

function freeName(key: string, taken: ReadonlySet<string>): string {
  const wanted = key.replaceAll(/[^A-Za-z0-9_.-]+/g, '_').slice(0, 60) || '_'
  for (let count = 2, name = wanted; ; count++) {
    if (!taken.has(name)) return name
    name = `${wanted}_${count}`
  }
}

/** Converts a schema with an object at its root to the subset of OpenAPI that Gemini's function declarations accept. */
function toGemini(root: JsonObject): { readonly schema: JsonObject; readonly changes: readonly string[] } {
  const changes = new Set<string>()
  let parts = 0

  const write = (given: unknown, within: readonly string[]): JsonObject => {
    if (!isSchemaObject(given) || ++parts > MAX_PARTS) return {}
    if (typeof given.$ref === 'string') return writeReference(given, given.$ref, within)
    if (Array.isArray(given.allOf)) {
      const { allOf, ...base } = given
      changes.add('allOf became one schema')
      return write(mergeObjects([base, ...allOf], root) ?? { ...base, ...firstObject(allOf) }, within)
    }
    const types = typesOf(given).filter((type) => type !== 'null')
    const isNullable = typesOf(given).includes('null')
    const union = given.anyOf ?? given.oneOf
    if (types.length > 1 && !Array.isArray(union)) {
      const anyOf = types.map((type) => write(forType(given, type), within))
      return { ...describe(given), anyOf, ...(isNullable && { nullable: true }) }
    }
    return {
      ...describe(given),
      ...(types.length === 1 && { type: types[0] }),
      ...(isNullable && { nullable: true }),
      ...writeParts(given, types[0], within),
      ...(Array.isArray(union) && { anyOf: union.map((branch) => write(branch, within)) }),
    }
  }

  const writeReference = (given: JsonObject, reference: string, within: readonly string[]): JsonObject => {
    const { $ref: _, ...siblings } = given
    if (within.includes(reference)) {
      changes.add(`${reference} holds itself and is an object of any keys there`)
      return { ...describe(siblings), type: 'object' }
    }
    const target = resolveReference(root, reference)
    changes.add(`${reference} is written out`)
    return write(isSchemaObject(target) ? { ...target, ...siblings } : siblings, [...within, reference])
  }

  const writeParts = (given: JsonObject, type: string | undefined, within: readonly string[]): JsonObject => {
    const properties = Object.entries(propertiesOf(given)).map(([name, property]) => [name, write(property, within)])
    const required = requiredOf(given).filter((name) => Object.hasOwn(propertiesOf(given), name))
    const values = textsOf(given)
    return {
      ...(properties.length > 0 && { properties: Object.fromEntries(properties) }),
      ...(required.length > 0 && { required }),
      ...(type === 'array' && { items: write(given.items, within) }),
      ...(type === 'string' && values && { enum: values }),
    }
  }

  const describe = (given: JsonObject): JsonObject => {
    const kept: JsonObject = {}
    const dropped: JsonObject = {}
    for (const [keyword, value] of Object.entries(given)) {
      const isUnderstood = KEPT.has(keyword) || (keyword === 'format' && FORMATS.has(String(value)))
      const isSaid =
        keyword === 'const' ? typeof value === 'string' : HANDLED.has(keyword) && !isOddEnum(given, keyword)
      if (isUnderstood) kept[keyword] = value
      else if (!isSaid && !SILENT.has(keyword)) dropped[keyword] = value
    }
    for (const keyword of Object.keys(dropped)) changes.add(`${keyword} is left to the hub`)
    return noteInDescription(kept, dropped)
  }

  return { schema: { ...write(root, []), type: 'object' }, changes: [...changes] }
}

/** The texts of an enum: Gemini accepts no other values. */
function textsOf({ enum: values, const: value }: JsonObject): readonly string[] | undefined {
  if (typeof value === 'string') return [value]
  if (!Array.isArray(values)) return undefined
  const texts = values.filter((one) => typeof one === 'string')
  return texts.length > 0 ? texts : undefined
}

function isOddEnum(given: JsonObject, keyword: string): boolean {
  return keyword === 'enum' && textsOf(given) === undefined
}

function firstObject(schemas: readonly unknown[]): JsonObject {
  return schemas.find(isSchemaObject) ?? {}
}
