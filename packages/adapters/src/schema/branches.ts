import type { JsonObject } from '@tool-hub/core/schema'
import { isSchemaObject, propertiesOf } from './subschemas.ts'

/** One branch of a union as the provider sees it, and the plan for its values. */
export interface Branch {
  readonly schema: JsonObject
  readonly plan: Plan | undefined
}

/**
 * Returns a function that finds the branch of a value by its keys: in strict mode an object has exactly the keys of
 * its branch. Returns `undefined` if two branches with different plans cannot be told apart.
 */
export function pickBranch(branches: readonly Branch[]): ((value: object) => Plan | undefined) | undefined {
  const lists = branches.filter(({ schema }) => schema.type === 'array')
  const objects = branches.filter(({ schema }) => schema.type === 'object').map(toLook)
  if (lists.length > 1 && lists.some(({ plan }) => plan)) return undefined
  const isUnclear = objects.some((one, index) =>
    objects.slice(index + 1).some((other) => (one.plan || other.plan) && areAlike(one, other)),
  )
  if (isUnclear) return undefined
  return (value) => (Array.isArray(value) ? lists[0]?.plan : objects.find((look) => fits(value, look))?.plan)
}

interface Look {
  readonly keys: readonly string[]
  readonly values: ReadonlyMap<string, readonly unknown[]>
  readonly plan: Plan | undefined
}

function toLook({ schema, plan }: Branch): Look {
  const properties = Object.entries(propertiesOf(schema))
  const values = properties.flatMap(([key, property]) => {
    const fixed = fixedValues(property)
    return fixed ? [[key, fixed] as const] : []
  })
  return { keys: properties.map(([key]) => key), values: new Map(values), plan }
}

function fixedValues(property: unknown): readonly unknown[] | undefined {
  if (!isSchemaObject(property)) return undefined
  if (Array.isArray(property.enum)) return property.enum
  return property.const === undefined ? undefined : [property.const]
}

function areAlike(one: Look, other: Look): boolean {
  const hasSameKeys = one.keys.length === other.keys.length && one.keys.every((key) => other.keys.includes(key))
  if (!hasSameKeys) return false
  return ![...one.values].some(([key, values]) => {
    const others = other.values.get(key)
    return others !== undefined && !values.some((value) => others.includes(value))
  })
}

function fits(value: object, { keys, values }: Look): boolean {
  if (Object.keys(value).length !== keys.length) return false
  if (!keys.every((key) => Object.hasOwn(value, key))) return false
  return [...values].every(([key, allowed]) => allowed.includes((value as Record<string, unknown>)[key]))
}

/** A definition that references point to; both fields are set once it is written. */
export interface SchemaDefinition {
  readonly name: string
  schema?: JsonObject
  plan?: Plan
}

/** Definitions that refer to each other can expand to very many branches. */
const MAX_BRANCHES = 500

/** Expands references and nested unions in the branches of a union. Returns `undefined` if there are too many. */
export function openBranches(
  branches: readonly Branch[],
  definitions: Iterable<SchemaDefinition>,
): readonly Branch[] | undefined {
  const byReference = new Map(Array.from(definitions, (definition) => [`#/$defs/${definition.name}`, definition]))
  const waiting = [...branches]
  const opened: Branch[] = []
  for (let count = 0; waiting.length > 0; count++) {
    if (count > MAX_BRANCHES) return undefined
    const { schema, plan } = waiting.shift()!
    const target = byReference.get(String(schema.$ref))
    if (target?.schema) waiting.push({ schema: target.schema, plan: target.plan })
    else if (Array.isArray(schema.anyOf)) waiting.push(...schema.anyOf.map((one) => ({ schema: one, plan })))
    else opened.push({ schema, plan: hasWork(plan) ? plan : undefined })
  }
  return opened
}

/** False only if values certainly stay as they are. */
function hasWork(plan: Plan | undefined): boolean {
  if (plan?.kind === 'array') return hasWork(plan.items)
  if (plan?.kind === 'object') return plan.dropped.size > 0 || [...plan.below.values()].some(hasWork)
  return plan !== undefined
}

/** Where nulls stand for omitted values, by the shape of the arguments. */
export type Plan =
  | { readonly kind: 'object'; readonly dropped: ReadonlySet<string>; readonly below: ReadonlyMap<string, Plan> }
  | { readonly kind: 'array'; readonly items: Plan }
  | { readonly kind: 'union'; pick(value: object): Plan | undefined }
  /** Known once the whole schema is written. */
  | { readonly kind: 'reference'; readonly target: { readonly plan?: Plan } }

/** Deeper than any arguments that a hub accepts. */
const MAX_DEPTH = 1_000

/** Removes the nulls that stand for omitted values. Does not modify its argument. */
export function restore(value: unknown, plan: Plan | undefined, depth = 0): unknown {
  if (plan === undefined || typeof value !== 'object' || value === null || depth > MAX_DEPTH) return value
  switch (plan.kind) {
    case 'reference':
      return restore(value, plan.target.plan, depth + 1)
    case 'union':
      return restore(value, plan.pick(value), depth + 1)
    case 'array':
      return Array.isArray(value) ? value.map((item) => restore(item, plan.items, depth + 1)) : value
    case 'object':
      return Array.isArray(value) ? value : restoreObject(value, plan, depth)
  }
}

function restoreObject(value: object, { dropped, below }: Plan & { kind: 'object' }, depth: number): object {
  const record = value as Readonly<Record<string, unknown>>
  const changed = new Map<string, unknown>()
  for (const [key, plan] of below) {
    if (!Object.hasOwn(record, key)) continue
    const part = restore(record[key], plan, depth + 1)
    if (part !== record[key]) changed.set(key, part)
  }
  const isDropped = (key: string) => record[key] === null && dropped.has(key)
  const keys = Object.keys(record)
  if (changed.size === 0 && !keys.some(isDropped)) return value
  const entries = keys
    .filter((key) => !isDropped(key))
    .map((key) => [key, changed.has(key) ? changed.get(key) : record[key]])
  // `fromEntries` defines keys, so that one named `__proto__` stays a key.
  return Object.fromEntries(entries)
}
