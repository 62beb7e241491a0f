import type { JsonObject } from '@tool-hub/core/schema'
import { mergeObjects } from './merge-objects.ts'
import { noteInDescription } from './strict-rules.ts'
import { isSchemaObject, mapSubschemas, resolveReference } from './subschemas.ts'

/** A schema whose root is an object without a union, as every provider requires. */
export interface RepairedRoot {
  readonly schema: JsonObject
  /** The arguments are the value of `input`. */
  readonly isWrapped: boolean
  readonly changes: readonly string[]
}

/** The one argument of a tool whose arguments are not a plain object. */
export const WRAPPER = 'input'

const OBJECT_KEYWORDS = ['properties', 'required', 'additionalProperties', 'patternProperties', 'minProperties']
const VALUE_KEYWORDS = ['type', 'anyOf', 'oneOf', 'allOf', 'enum', 'const', '$ref', 'not', 'items', 'prefixItems']
const MAX_REFERENCES = 20

/** Converts any schema to one with a plain object at its root; anything else becomes the one argument `input`. */
export function repairRoot(given: unknown): RepairedRoot {
  if (!isSchemaObject(given)) return repairBoolean(given)
  const changes: string[] = []
  const root = openRoot(given, changes)
  if (!root || !isObjectOnly(root)) return wrap(given)

  const { anyOf, oneOf, not, ...plain } = root
  const described = Object.entries({ anyOf, oneOf, not }).filter(([, value]) => value !== undefined)
  if ([anyOf, oneOf].some((union) => union !== undefined && !isRequirementOnly(union))) return wrap(given)
  changes.push(...described.map(([keyword]) => `${keyword} at the root is left to the hub`))
  const schema = { ...noteInDescription(plain, Object.fromEntries(described)), type: 'object' }
  return { schema, isWrapped: false, changes }
}

/** Whether a union only says which of the properties are required. */
export function isRequirementOnly(union: unknown): boolean {
  const known = new Set(['required', 'type', 'title', 'description'])
  return (
    Array.isArray(union) &&
    union.every((branch) => isSchemaObject(branch) && Object.keys(branch).every((keyword) => known.has(keyword)))
  )
}

function repairBoolean(given: unknown): RepairedRoot {
  const schema = { type: 'object', ...(given === false && { additionalProperties: false }) }
  return { schema, isWrapped: false, changes: [`${JSON.stringify(given) ?? 'no schema'} became an empty object`] }
}

/** The root without a reference and without `allOf`, if possible. */
function openRoot(given: JsonObject, changes: string[]): JsonObject | undefined {
  let root = given
  for (let count = 0; typeof root.$ref === 'string'; count++) {
    const { $ref, ...rest } = root
    const target = resolveReference(given, $ref)
    if (!isSchemaObject(target) || count > MAX_REFERENCES || hasValueKeyword(rest)) return undefined
    const { $defs: _1, definitions: _2, ...own } = target
    root = { ...own, ...rest }
    changes.push(`${$ref} took the place of the root`)
  }
  if (root.allOf === undefined) return root
  const { allOf, $defs, definitions, ...base } = root
  const merged = Array.isArray(allOf) ? mergeObjects([base, ...allOf], given) : undefined
  if (!merged) return undefined
  changes.push('allOf at the root became one object')
  return { ...merged, ...($defs !== undefined && { $defs }), ...(definitions !== undefined && { definitions }) }
}

function hasValueKeyword(schema: JsonObject): boolean {
  return [...OBJECT_KEYWORDS, ...VALUE_KEYWORDS].some((keyword) => schema[keyword] !== undefined)
}

function isObjectOnly(root: JsonObject): boolean {
  const { type, enum: values, const: value } = root
  if (values !== undefined || value !== undefined) return false
  if (type === undefined) return OBJECT_KEYWORDS.some((keyword) => keyword in root) || !hasValueKeyword(root)
  return type === 'object' || (Array.isArray(type) && type.includes('object'))
}

function wrap(given: JsonObject): RepairedRoot {
  const { $id: _, ...schema } = given
  return {
    schema: {
      type: 'object',
      properties: { [WRAPPER]: rebase(schema) },
      required: [WRAPPER],
      additionalProperties: false,
    },
    isWrapped: true,
    changes: [`the root is not a plain object, so it is the argument ${WRAPPER}`],
  }
}

/** References start at the root, which is now one level up. */
function rebase(schema: unknown): unknown {
  if (!isSchemaObject(schema)) return schema
  const moved = mapSubschemas(schema, rebase)
  const { $ref } = moved
  if (typeof $ref !== 'string' || !($ref === '#' || $ref.startsWith('#/'))) return moved
  return { ...moved, $ref: `#/properties/${WRAPPER}${$ref.slice(1)}` }
}
