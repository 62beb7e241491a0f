import type { JsonObject } from '../../core/schema/index.ts'
import type { Plan } from './restore.ts'
import { isSchemaObject, propertiesOf } from './subschemas.ts'

/** One possibility of a union, as the provider sees it, with what to do to its values. */
export interface Branch {
  readonly schema: JsonObject
  readonly plan: Plan | undefined
}

/**
 * Says by its look which possibility a value is: in strict mode an object has exactly the keys of its own. Undefined when
 * two that need different treatment cannot be told apart.
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
