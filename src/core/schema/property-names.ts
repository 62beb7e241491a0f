import { pointerKeys, valueAt } from '../../lib/index.ts'
import type { JsonObject } from './compiled-schema.ts'

/** The property names a JSON Schema knows for the object at a path: what a mistyped key may have meant. */
export function propertyNamesAt(root: JsonObject, path: readonly PropertyKey[]): Set<string> {
  let places = sameValue(root, [root])
  for (const key of path) {
    places = sameValue(
      root,
      [...places].flatMap((place) => below(place, String(key))),
    )
  }
  return new Set([...places].flatMap(({ properties }) => (isObject(properties) ? Object.keys(properties) : [])))
}

/** All subschemas that speak about the same value: references followed, combinations opened, each once. */
function sameValue(root: JsonObject, schemas: readonly unknown[]): Set<JsonObject> {
  const found = new Set<JsonObject>()
  const waiting = [...schemas]
  while (waiting.length > 0) {
    const schema = waiting.pop()
    if (!isObject(schema) || found.has(schema)) continue
    found.add(schema)
    waiting.push(referred(root, schema.$ref))
    const { allOf, anyOf, oneOf, then, else: otherwise } = schema
    for (const list of [allOf, anyOf, oneOf]) if (Array.isArray(list)) waiting.push(...list)
    waiting.push(then, otherwise)
  }
  return found
}

function below(schema: JsonObject, key: string): unknown[] {
  const { properties, additionalProperties, prefixItems, items } = schema
  if (isObject(properties) && Object.hasOwn(properties, key)) return [properties[key]]
  if (!/^\d+$/.test(key)) return [additionalProperties]
  const position = Number(key)
  return [
    Array.isArray(prefixItems) && position < prefixItems.length ? prefixItems[position] : items,
    additionalProperties,
  ]
}

/** Only references into the same schema by pointer; for others there is no hint, which is no harm. */
function referred(root: JsonObject, ref: unknown): unknown {
  if (typeof ref !== 'string' || !ref.startsWith('#')) return undefined
  return valueAt(root, pointerKeys(ref.slice(1)))
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
