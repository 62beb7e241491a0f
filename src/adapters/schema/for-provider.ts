import { cloneJson } from '../../schema/clone-json.ts'
import { deepFreeze } from '../../value/deep-freeze.ts'
import { isPlainObject } from '../../value/is-plain-object.ts'
import { renameKeys } from './rename-keys.ts'
import { repairRoot, WRAPPER } from './repair-root.ts'
import { restore } from './restore.ts'
import { ANTHROPIC_STRICT, OPENAI_STRICT, type StrictRules } from './strict-rules.ts'
import { toGemini } from './to-gemini.ts'
import { toStrict } from './to-strict.ts'

/** Who reads the schema; `-strict` where the provider makes the model keep to it. */
export type Provider = 'openai' | 'openai-strict' | 'anthropic' | 'anthropic-strict' | 'gemini'

/** A tool's schema as a provider takes it. */
export interface ProviderSchema {
  /** JSON Schema in the dialect of the provider. */
  readonly schema: ObjectSchema
  /** Whether the provider can make the model keep to it; false also when it was asked for and cannot be. */
  readonly strict: boolean
  /** What is different from the tool's own schema. */
  readonly changes: readonly string[]
  /** Makes the tool's own arguments of what a model gave by this schema. Never changes what it is given, never throws. */
  restore(args: unknown): unknown
  /** What a strict schema counts for in one request. */
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
 * A tool's JSON Schema in the dialect of a provider. One that its strict mode cannot say is given in the ordinary mode,
 * with the reason among `changes`. The same object gives the same answer, made once.
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

/** A model that forgot the wrapper is understood all the same. */
function unwrap(args: unknown): unknown {
  if (!isPlainObject(args) || !Object.hasOwn(args, WRAPPER) || Object.keys(args).length !== 1) return args
  return args[WRAPPER]
}

function withNames(args: unknown, names: ReadonlyMap<string, string>): unknown {
  if (!isPlainObject(args)) return args
  return Object.fromEntries(Object.entries(args).map(([name, value]) => [names.get(name) ?? name, value]))
}
