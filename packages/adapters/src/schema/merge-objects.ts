import type { JsonObject } from '@tool-hub/core/schema'
import { isSchemaObject, propertiesOf, requiredOf, resolveReference, typesOf } from './subschemas.ts'

/** Keywords that may appear in a part and do not restrict values. */
const PASSED_BY = new Set(['default', 'examples', '$comment', 'deprecated', '$defs', 'definitions'])
const MAX_PARTS = 200
const MERGED = new Set(['type', 'properties', 'required', 'additionalProperties', 'description', 'title'])

/** Merges the parts of an `allOf` into one object schema. Returns `undefined` if that is not possible. */
export function mergeObjects(parts: readonly unknown[], root: JsonObject): JsonObject | undefined {
  const budget = { parts: MAX_PARTS }
  const opened = parts.flatMap((part) => openPart(part, root, budget))
  if (opened.some((part) => part === undefined || !isMergeable(part))) return undefined
  const schemas = opened as readonly JsonObject[]

  const properties = new Map<string, unknown>()
  for (const [name, schema] of schemas.flatMap((part) => Object.entries(propertiesOf(part)))) {
    if (properties.has(name) && !isSame(properties.get(name), schema)) return undefined
    properties.set(name, schema)
  }
  const closed = schemas.filter((part) => part.additionalProperties === false)
  if (closed.some((part) => [...properties.keys()].some((name) => !Object.hasOwn(propertiesOf(part), name)))) {
    return undefined
  }
  const required = [...new Set(schemas.flatMap(requiredOf))]
  return {
    ...annotations(schemas),
    type: 'object',
    properties: Object.fromEntries(properties),
    ...(required.length > 0 && { required }),
    ...closure(schemas, closed),
  }
}

/** A part with its references and lists expanded; a few that refer to each other can expand to very many. */
function openPart(part: unknown, root: JsonObject, budget: { parts: number }): (JsonObject | undefined)[] {
  if (part === true) return []
  if (!isSchemaObject(part) || budget.parts-- <= 0) return [undefined]
  const { $ref, allOf, ...rest } = part
  const referred = typeof $ref === 'string' ? openPart(resolveReference(root, $ref), root, budget) : []
  const listed = Array.isArray(allOf) ? allOf.flatMap((other) => openPart(other, root, budget)) : []
  return Object.keys(rest).length > 0 ? [rest, ...referred, ...listed] : [...referred, ...listed]
}

function isMergeable(part: JsonObject): boolean {
  const isKnown = Object.keys(part).every((keyword) => MERGED.has(keyword) || PASSED_BY.has(keyword))
  const { type = 'object', additionalProperties = true } = part
  return isKnown && type === 'object' && typeof additionalProperties === 'boolean'
}

function annotations(schemas: readonly JsonObject[]): JsonObject {
  const title = schemas.find((part) => typeof part.title === 'string')?.title
  const descriptions = schemas.flatMap(({ description }) => (typeof description === 'string' ? [description] : []))
  return {
    ...(title !== undefined && { title }),
    ...(descriptions.length > 0 && { description: [...new Set(descriptions)].join('\n') }),
  }
}

function closure(schemas: readonly JsonObject[], closed: readonly JsonObject[]): JsonObject {
  if (closed.length > 0) return { additionalProperties: false }
  return schemas.some((part) => part.additionalProperties === true) ? { additionalProperties: true } : {}
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

/**
 * Merges one branch of a union with the keywords next to the union. Returns `undefined` if they cannot be one schema.
 */
export function joinBranch(base: JsonObject, branch: unknown, root: JsonObject): unknown {
  const keywords = Object.keys(base)
  if (keywords.length === 0) return branch
  if (!isSchemaObject(branch)) return branch === true ? base : undefined
  const isOnlyType = keywords.length === 1 && keywords[0] === 'type'
  if (isOnlyType && JSON.stringify(typesOf(branch)) === JSON.stringify(typesOf(base))) return branch
  if (typesOf(base).includes('object')) return mergeObjects([base, branch], root)
  const isClear = Object.keys(branch).every((keyword) => !(keyword in base)) && branch.$ref === undefined
  return isClear ? { ...base, ...branch } : undefined
}
