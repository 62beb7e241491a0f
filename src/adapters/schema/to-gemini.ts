import type { JsonObject } from '../../schema/compiled-schema.ts'
import { mergeObjects } from './merge-objects.ts'
import { forType, typesOf } from './schema-types.ts'
import { isSchemaObject, propertiesOf, requiredOf, resolveReference } from './subschemas.ts'
import { tellInDescription } from './tell-in-description.ts'

/** The fields of Gemini's `Schema`; one that it does not know makes the whole request fail. */
const KEPT = new Set([
  ...['title', 'description', 'minItems', 'maxItems', 'minProperties', 'maxProperties'],
  ...['minLength', 'maxLength', 'pattern', 'minimum', 'maximum'],
])
const HANDLED = new Set(['type', 'properties', 'required', 'items', 'anyOf', 'oneOf', 'enum', '$defs', 'definitions'])
const FORMATS = new Set(['date-time', 'enum', 'float', 'double', 'int32', 'int64'])
const SILENT = new Set(['additionalProperties', '$id', '$schema', '$comment', 'examples', 'unevaluatedProperties'])
/** References are written out, and a few can stand for very many. */
const MOST_PARTS = 1_000

/** Writes a schema with an object at its root as the subset of OpenAPI that Gemini's function declarations take. */
export function toGemini(root: JsonObject): { readonly schema: JsonObject; readonly changes: readonly string[] } {
  const changes = new Set<string>()
  let parts = 0

  const write = (given: unknown, within: readonly string[]): JsonObject => {
    if (!isSchemaObject(given) || ++parts > MOST_PARTS) return {}
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
    return tellInDescription(kept, dropped)
  }

  return { schema: { ...write(root, []), type: 'object' }, changes: [...changes] }
}

/** The texts that a value may be: Gemini knows no other enums. */
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
