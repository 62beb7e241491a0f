import { isPlainObject } from '../../lib/index.ts'
import type { McpJsonObject } from './definitions.ts'

const UNIONS = ['anyOf', 'oneOf', 'allOf'] as const
/** Chains of references and nested unions have to end. */
const MAX_STEPS = 200

/**
 * Turns the schema of a server's arguments into one that hubs and model providers accept: an object at its root, with
 * properties and without a union. Several shapes become one that every one of them fits; the server still validates.
 * Returns `undefined` if the schema does not describe an object.
 */
export function repairInput(given: unknown): McpJsonObject | undefined {
  if (given === undefined || given === null || given === true) return EMPTY
  if (!isPlainObject(given)) return undefined
  const flat = flatten(given, { root: given, left: MAX_STEPS })
  if (!flat) return undefined
  const { properties, required, ...others } = flat
  const names = Array.isArray(required) ? required.filter((name) => typeof name === 'string') : []
  return {
    ...others,
    type: 'object',
    properties: isPlainObject(properties) ? properties : {},
    ...(names.length > 0 && { required: [...new Set(names)] }),
  }
}

const EMPTY: McpJsonObject = { type: 'object', properties: {} }

/** The root that references point into, and how many steps are left. */
interface Walk {
  readonly root: McpJsonObject
  left: number
}

function flatten(schema: McpJsonObject, walk: Walk): McpJsonObject | undefined {
  if (walk.left-- <= 0 || !mayBeObject(schema.type)) return undefined
  const target = typeof schema.$ref === 'string' ? refersTo(schema.$ref, walk.root) : undefined
  if (target) {
    const { $ref, ...others } = schema
    const meant = flatten(target, walk)
    return meant && flatten(both(meant, others), walk)
  }
  const union = UNIONS.find((keyword) => Array.isArray(schema[keyword]))
  if (!union) return schema
  const { [union]: branches, ...others } = schema
  const objects = (branches as readonly unknown[])
    .filter(isPlainObject)
    .map((branch) => flatten(branch, walk))
    .filter((branch) => branch !== undefined)
  if (objects.length === 0) return (branches as readonly unknown[]).length === 0 ? others : undefined
  const merged = objects.reduce(union === 'allOf' ? both : either)
  return flatten(both(others, merged), walk)
}

/** The intersection of two schemas: all properties, everything that either requires. */
function both(a: McpJsonObject, b: McpJsonObject): McpJsonObject {
  return { ...a, ...b, ...merged(a, b, 'allOf'), required: [...namesOf(a.required), ...namesOf(b.required)] }
}

/** The union of two schemas: all properties, only what both require. */
function either(a: McpJsonObject, b: McpJsonObject): McpJsonObject {
  const alsoNeeded = new Set(namesOf(b.required))
  const { additionalProperties: first, ...others } = a
  const isClosed = first === false && b.additionalProperties === false
  return {
    ...others,
    ...merged(a, b, 'anyOf'),
    required: namesOf(a.required).filter((name) => alsoNeeded.has(name)),
    ...(isClosed && { additionalProperties: false }),
  }
}

function merged(a: McpJsonObject, b: McpJsonObject, how: 'allOf' | 'anyOf'): McpJsonObject {
  const properties = new Map<string, unknown>(isPlainObject(a.properties) ? Object.entries(a.properties) : [])
  for (const [name, schema] of isPlainObject(b.properties) ? Object.entries(b.properties) : []) {
    const known = properties.get(name)
    const isSame = known === undefined || JSON.stringify(known) === JSON.stringify(schema)
    properties.set(name, isSame ? schema : { [how]: [known, schema] })
  }
  return properties.size > 0 ? { properties: Object.fromEntries(properties) } : {}
}

function refersTo(reference: string, root: McpJsonObject): McpJsonObject | undefined {
  const [, place, name] = /^#\/(\$defs|definitions)\/([^/]+)$/.exec(reference) ?? []
  const definitions = place === undefined ? undefined : root[place]
  if (!isPlainObject(definitions) || name === undefined || !Object.hasOwn(definitions, name)) return undefined
  const found = definitions[name]
  return isPlainObject(found) ? found : undefined
}

function mayBeObject(type: unknown): boolean {
  return type === undefined || type === 'object' || (Array.isArray(type) && type.includes('object'))
}

function namesOf(required: unknown): string[] {
  return Array.isArray(required) ? required.filter((name) => typeof name === 'string') : []
}
