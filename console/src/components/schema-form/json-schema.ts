/** The part of JSON Schema that a form is made from. */
export interface JsonSchema {
  readonly type?: string | readonly string[]
  readonly title?: string
  readonly description?: string
  readonly default?: unknown
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
  readonly items?: JsonSchema
  readonly oneOf?: readonly JsonSchema[]
  readonly anyOf?: readonly JsonSchema[]
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly format?: string
  readonly $ref?: string
  readonly $defs?: Readonly<Record<string, JsonSchema>>
}

/** Which control a schema gets; whatever no control is made for is written as JSON. */
type FieldKind = 'text' | 'number' | 'flag' | 'choice-of-values' | 'list' | 'group' | 'choice-of-shapes' | 'json'

/** Which control a schema gets. */
export function kindOf(schema: JsonSchema): FieldKind {
  if (schema.enum ?? allConstants(schema)) return 'choice-of-values'
  if (alternativesOf(schema)) return 'choice-of-shapes'
  if (schema.type === 'string') return 'text'
  if (schema.type === 'number' || schema.type === 'integer') return 'number'
  if (schema.type === 'boolean') return 'flag'
  if (schema.type === 'array' && schema.items) return 'list'
  if (schema.type === 'object' && schema.properties) return 'group'
  return 'json'
}

/** The values of an enum, of one constant, or of alternatives that are all constants. */
export function valuesOf(schema: JsonSchema): readonly unknown[] {
  return schema.enum ?? allConstants(schema) ?? []
}

/** The shapes to choose from, where there are several. */
export function alternativesOf(schema: JsonSchema): readonly JsonSchema[] | undefined {
  const given = schema.oneOf ?? schema.anyOf
  if (given) return given
  if (!Array.isArray(schema.type)) return undefined
  return (schema.type as readonly string[]).map((type) => ({ ...schema, type }))
}

/** The schema that a local `$ref` names (`#/$defs/name`); anything else is free JSON. */
export function resolve(schema: JsonSchema, root: JsonSchema): JsonSchema {
  let current = schema
  for (let step = 0; current.$ref !== undefined && step < 20; step += 1) {
    const name = /^#\/\$defs\/([^/]+)$/.exec(current.$ref)?.[1]
    if (name === undefined || !root.$defs || !Object.hasOwn(root.$defs, name))
      return { description: current.description }
    const { $ref: _, ...own } = current
    current = { ...root.$defs[name], ...own, $ref: root.$defs[name]?.$ref }
  }
  return current
}

/** What a new field begins with: the default, or the least that its type can be; undefined for “not given”. */
export function firstValue(schema: JsonSchema, root: JsonSchema): unknown {
  const known = resolve(schema, root)
  if (known.default !== undefined) return known.default
  const kind = kindOf(known)
  if (kind === 'choice-of-values') return valuesOf(known)[0]
  if (kind === 'choice-of-shapes') return firstValue(alternativesOf(known)?.[0] ?? {}, root)
  if (kind === 'text') return ''
  if (kind === 'flag') return false
  if (kind === 'list') return []
  if (kind === 'group') return firstGroup(known, root)
  return known.type === 'null' ? null : undefined
}

// Required text starts empty but absent, so that what is missing can be said; nested groups start open.
function firstGroup({ properties = {}, required = [] }: JsonSchema, root: JsonSchema): Record<string, unknown> {
  const filled = required.flatMap((name) => {
    if (!Object.hasOwn(properties, name)) return []
    const schema = resolve(properties[name] ?? {}, root)
    const isAbsent = schema.default === undefined && ['text', 'number', 'json'].includes(kindOf(schema))
    return isAbsent ? [] : [[name, firstValue(schema, root)] as const]
  })
  return Object.fromEntries(filled)
}

function allConstants({ const: only, oneOf, anyOf }: JsonSchema): readonly unknown[] | undefined {
  if (only !== undefined) return [only]
  const given = oneOf ?? anyOf
  if (!given?.every((alternative) => alternative.const !== undefined)) return undefined
  return given.map((alternative) => alternative.const)
}
