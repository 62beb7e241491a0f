import { alternativesOf, type JsonSchema, kindOf, resolve, valuesOf } from '../../components/schema-form/json-schema.ts'

/** A property of a schema. */
export interface SchemaLine {
  /** `edits[].oldText`. */
  readonly path: string
  readonly depth: number
  readonly type: string
  readonly isRequired: boolean
  readonly description?: string
  readonly default?: unknown
}

const MAX_LINES = 200
const MAX_DEPTH = 6

/** The properties of a schema, including nested ones; at most 200, up to six levels deep. */
export function flattenSchema(root: JsonSchema): SchemaLine[] {
  const lines: SchemaLine[] = []
  addParts(root, { path: '', depth: 0, steps: 0 }, root, lines)
  return lines
}

interface Place {
  readonly path: string
  readonly depth: number
  /** Counts lists and alternatives too, since a schema can refer to itself in them. */
  readonly steps: number
}

function addParts(given: JsonSchema, place: Place, root: JsonSchema, lines: SchemaLine[]): void {
  const schema = resolve(given, root)
  const { path, depth, steps } = place
  if (steps > MAX_DEPTH || lines.length >= MAX_LINES) return
  if (kindOf(schema) === 'list') {
    addParts(schema.items ?? {}, { path: `${path}[]`, depth, steps: steps + 1 }, root, lines)
    return
  }
  if (kindOf(schema) === 'choice-of-shapes') {
    for (const shape of alternativesOf(schema) ?? []) addParts(shape, { path, depth, steps: steps + 1 }, root, lines)
    return
  }
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    if (lines.length >= MAX_LINES) return
    const own = resolve(property, root)
    const ownPath = path === '' ? name : `${path}.${name}`
    // Alternatives share most of their properties.
    if (lines.some((line) => line.path === ownPath)) continue
    const isRequired = schema.required?.includes(name) === true
    const { description, default: preset } = own
    lines.push({ path: ownPath, depth, type: describeType(own, root), isRequired, description, default: preset })
    addParts(own, { path: ownPath, depth: depth + 1, steps: steps + 1 }, root, lines)
  }
}

const MAX_VALUES = 12
const MAX_SHAPES = 8
const MAX_TYPE_DEPTH = 4

/** Describes a type: `text, 1 to 4,000 characters`, `one of "a", "b"`, `list of numbers`. */
export function describeType(given: JsonSchema, root: JsonSchema, depth = 0): string {
  // A schema can refer to itself.
  if (depth > MAX_TYPE_DEPTH) return '…'
  const schema = resolve(given, root)
  const kind = kindOf(schema)
  if (kind === 'choice-of-values') return describeValues(valuesOf(schema))
  if (kind === 'choice-of-shapes') {
    const shapes = (alternativesOf(schema) ?? [])
      .slice(0, MAX_SHAPES)
      .map((shape) => describeType(shape, root, depth + 1))
    return [...new Set(shapes)].join(' or ')
  }
  if (kind === 'text') return join(schema.format ?? 'text', range(schema.minLength, schema.maxLength, 'characters'))
  if (kind === 'number')
    return join(schema.type === 'integer' ? 'whole number' : 'number', range(schema.minimum, schema.maximum))
  if (kind === 'flag') return 'true or false'
  if (kind === 'list')
    return join(
      `list of ${describeType(schema.items ?? {}, root, depth + 1)}`,
      range(schema.minItems, schema.maxItems, 'items'),
    )
  if (kind === 'group') return 'object'
  return typeof schema.type === 'string' ? schema.type : 'any JSON'
}

function describeValues(values: readonly unknown[]): string {
  const shown = values.slice(0, MAX_VALUES).map((value) => JSON.stringify(value))
  if (values.length === 1) return `always ${shown[0]}`
  return `one of ${shown.join(', ')}${values.length > MAX_VALUES ? ' …' : ''}`
}

function range(least: number | undefined, most: number | undefined, unit?: string): string | undefined {
  const words = (text: string) => (unit === undefined ? text : `${text} ${unit}`)
  // The largest safe integer is not a real bound.
  const low = least !== undefined && Math.abs(least) < Number.MAX_SAFE_INTEGER ? least : undefined
  const high = most !== undefined && Math.abs(most) < Number.MAX_SAFE_INTEGER ? most : undefined
  if (low !== undefined && high !== undefined) return words(`${format(low)} to ${format(high)}`)
  if (low !== undefined) return words(`at least ${format(low)}`)
  if (high !== undefined) return words(`at most ${format(high)}`)
  return undefined
}

function format(value: number): string {
  return value.toLocaleString('en')
}

function join(...parts: readonly (string | undefined)[]): string {
  return parts.filter(Boolean).join(', ')
}
