/** The subset of JSON Schema that forms support. */
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

/** The controls of a form; schemas without one are edited as JSON. */
type FieldKind = 'text' | 'number' | 'flag' | 'choice-of-values' | 'list' | 'group' | 'choice-of-shapes' | 'json'

/** The control for a schema. */
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

/** The alternatives of a schema, if it has several. */
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

/** The initial value of a field: the default, or the smallest value of its type; undefined if it is not given. */
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

// Required text, numbers and JSON start absent, so that they are reported as missing; nested groups start open.
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

/** Problems by the path of the field (`edits.0.path`; '' is the whole value). */
export type Problems = ReadonlyMap<string, string>

/** The problems that the form can find before it is sent; the server validates everything. */
export function checkValue(schema: JsonSchema, value: unknown): Problems {
  const problems = new Map<string, string>()
  check(schema, value, '', schema, problems)
  return problems
}

function check(given: JsonSchema, value: unknown, path: string, root: JsonSchema, problems: Map<string, string>): void {
  const schema = resolve(given, root)
  const problem = problemOf(schema, value)
  if (problem !== undefined) problems.set(path, problem)
  if (kindOf(schema) === 'list' && Array.isArray(value)) {
    for (const [index, item] of value.entries())
      check(schema.items ?? {}, item, join(path, String(index)), root, problems)
  }
  if (kindOf(schema) !== 'group' || typeof value !== 'object' || value === null) return
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const child = Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined
    if (child !== undefined) check(property, child, join(path, name), root, problems)
    else if (schema.required?.includes(name)) problems.set(join(path, name), 'This is required.')
  }
}

function problemOf(schema: JsonSchema, value: unknown): string | undefined {
  const kind = kindOf(schema)
  if (kind === 'choice-of-values') return valuesOf(schema).includes(value) ? undefined : 'Choose one of the values.'
  if (kind === 'choice-of-shapes') return alternativesOf(schema)?.length ? undefined : 'No alternative matches.'
  if (kind === 'number') return numberProblem(schema, value)
  if (kind === 'text' && typeof value === 'string') {
    if (value.length < (schema.minLength ?? 0)) return `At least ${schema.minLength} characters, not ${value.length}.`
    if (value.length > (schema.maxLength ?? Number.POSITIVE_INFINITY)) return `At most ${schema.maxLength} characters.`
  }
  if (kind === 'list' && Array.isArray(value)) {
    if (value.length < (schema.minItems ?? 0)) return `At least ${schema.minItems} items.`
    if (value.length > (schema.maxItems ?? Number.POSITIVE_INFINITY)) return `At most ${schema.maxItems} items.`
  }
  return undefined
}

function numberProblem({ type, minimum, maximum }: JsonSchema, value: unknown): string | undefined {
  if (typeof value !== 'number' || !Number.isFinite(value)) return 'Enter a number.'
  if (type === 'integer' && !Number.isInteger(value)) return 'Enter a whole number.'
  if (minimum !== undefined && value < minimum) return `At least ${minimum}.`
  if (maximum !== undefined && value > maximum) return `At most ${maximum}.`
  return undefined
}

function join(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`
}
