import { alternativesOf, type JsonSchema, kindOf, resolve } from '../../components/schema-form/json-schema.ts'
import { describeType } from './describe-type.ts'

/** One named part of a schema, as a line of a table. */
export interface SchemaLine {
  /** `edits[].oldText`. */
  readonly path: string
  readonly depth: number
  readonly type: string
  readonly isRequired: boolean
  readonly description?: string
  readonly default?: unknown
}

const MOST_LINES = 200
const DEEPEST = 6

/** The properties of a schema and of what is in them, outermost first; at most 200, six deep. */
export function flattenSchema(root: JsonSchema): SchemaLine[] {
  const lines: SchemaLine[] = []
  addParts(root, { path: '', depth: 0, steps: 0 }, root, lines)
  return lines
}

interface Place {
  readonly path: string
  readonly depth: number
  /** Also through lists and alternatives: a schema may name itself in them. */
  readonly steps: number
}

function addParts(given: JsonSchema, place: Place, root: JsonSchema, lines: SchemaLine[]): void {
  const schema = resolve(given, root)
  const { path, depth, steps } = place
  if (steps > DEEPEST || lines.length >= MOST_LINES) return
  if (kindOf(schema) === 'list') {
    addParts(schema.items ?? {}, { path: `${path}[]`, depth, steps: steps + 1 }, root, lines)
    return
  }
  if (kindOf(schema) === 'choice-of-shapes') {
    for (const shape of alternativesOf(schema) ?? []) addParts(shape, { path, depth, steps: steps + 1 }, root, lines)
    return
  }
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    if (lines.length >= MOST_LINES) return
    const own = resolve(property, root)
    const ownPath = path === '' ? name : `${path}.${name}`
    // Alternatives share most of their parts.
    if (lines.some((line) => line.path === ownPath)) continue
    const isRequired = schema.required?.includes(name) === true
    const { description, default: preset } = own
    lines.push({ path: ownPath, depth, type: describeType(own, root), isRequired, description, default: preset })
    addParts(own, { path: ownPath, depth: depth + 1, steps: steps + 1 }, root, lines)
  }
}
