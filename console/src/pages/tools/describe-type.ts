import { alternativesOf, type JsonSchema, kindOf, resolve, valuesOf } from '../../components/schema-form/json-schema.ts'

const MOST_VALUES = 12
const MOST_SHAPES = 8
const DEEPEST = 4

/** What fits a schema, in words: `text, 1 to 4,000 characters`, `one of "a", "b"`, `list of numbers`. */
export function describeType(given: JsonSchema, root: JsonSchema, depth = 0): string {
  // A schema may name itself.
  if (depth > DEEPEST) return '…'
  const schema = resolve(given, root)
  const kind = kindOf(schema)
  if (kind === 'choice-of-values') return describeValues(valuesOf(schema))
  if (kind === 'choice-of-shapes') {
    const shapes = (alternativesOf(schema) ?? [])
      .slice(0, MOST_SHAPES)
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
  const shown = values.slice(0, MOST_VALUES).map((value) => JSON.stringify(value))
  if (values.length === 1) return `always ${shown[0]}`
  return `one of ${shown.join(', ')}${values.length > MOST_VALUES ? ' …' : ''}`
}

function range(least: number | undefined, most: number | undefined, unit?: string): string | undefined {
  const words = (text: string) => (unit === undefined ? text : `${text} ${unit}`)
  // A bound at the end of what a number can be is none.
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
