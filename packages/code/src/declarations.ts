import type { ToolCard } from '@tool-hub/core'

/** What is declared of a tool. */
interface DeclaredTool {
  /** As scripts call it. */
  readonly name: string
  readonly card: Pick<ToolCard, 'description' | 'parameters' | 'output'>
}

type Schema = Readonly<Record<string, unknown>>

/** What is nested deeper, or longer, is `unknown`. */
const MAX_DEPTH = 8
const MAX_TYPE_CHARS = 4_000
const MAX_PROPERTIES = 100
const MAX_PARTS = 1_000
const MAX_COMMENT_CHARS = 300
const IDENTIFIER = /^[A-Za-z_$][\w$]*$/

/**
 * The TypeScript declarations of what a script sees: `tools` with the types of these tools, `input` and `console`. The
 * schemas may be of anybody: whatever cannot be expressed is `unknown`.
 * @example
 * toolDeclarations(hub.cards().map((card) => ({ name: card.tool, card })))
 */
export function toolDeclarations(tools: readonly DeclaredTool[]): string {
  const root: Namespace = { children: new Map() }
  for (const tool of tools) {
    let node = root
    for (const step of tool.name.split(/[./]/)) node = childOf(node, step)
    node.tool = tool
  }
  return [
    'declare const tools: {',
    '  /** Finds tools by words. */',
    '  $search(query: string): Promise<unknown>',
    '  /** Returns the description and the schemas of a tool by its name. */',
    '  $describe(name: string): Promise<unknown>',
    ...members(root, '  '),
    '}',
    '/** The input of the script. */',
    'declare const input: any',
    "declare const console: Record<'log' | 'info' | 'warn' | 'error' | 'debug', (...values: unknown[]) => void>",
    '',
  ].join('\n')
}

/** A part of the names of tools; it can be a tool and have others below it. */
interface Namespace {
  tool?: DeclaredTool
  readonly children: Map<string, Namespace>
}

function childOf(node: Namespace, step: string): Namespace {
  const child = node.children.get(step) ?? { children: new Map() }
  node.children.set(step, child)
  return child
}

function members(node: Namespace, indent: string): string[] {
  return [...node.children].sort(([a], [b]) => (a < b ? -1 : 1)).flatMap(([step, child]) => member(step, child, indent))
}

function member(step: string, { tool, children }: Namespace, indent: string): string[] {
  const lines: string[] = []
  const comment = tool && commentOf(tool.card.description)
  if (comment) lines.push(`${indent}/** ${comment} */`)
  const key = keyOf(step)
  if (children.size === 0) return [...lines, `${indent}${key}${tool ? signature(tool) : ': {}'}`]
  const own = tool ? [`${indent}  ${signature(tool)}`] : []
  return [...lines, `${indent}${key}: {`, ...own, ...members({ children }, `${indent}  `), `${indent}}`]
}

function signature({ card: { parameters, output: outputSchema } }: DeclaredTool): string {
  const input = boundedType(parameters)
  const output = outputSchema ? boundedType(outputSchema) : 'unknown'
  const hasRequired = Array.isArray(parameters.required) && parameters.required.length > 0
  return `(input${hasRequired ? '' : '?'}: ${input}): Promise<${output}>`
}

function boundedType(schema: Schema): string {
  const type = typeOf(schema, { root: schema, above: [], depth: 0, budget: { parts: MAX_PARTS } })
  return type.length > MAX_TYPE_CHARS ? 'any' : type
}

/** Where a schema is: `above` has the references that led to it. */
interface Place {
  readonly root: Schema
  readonly above: readonly string[]
  readonly depth: number
  /** How many more parts are looked at: references can multiply them. */
  readonly budget: { parts: number }
}

function typeOf(schema: unknown, place: Place): string {
  if (!isRecord(schema) || place.depth > MAX_DEPTH || place.budget.parts-- <= 0) return 'unknown'
  const below = { ...place, depth: place.depth + 1 }
  if (typeof schema.$ref === 'string') return typeOfReference(schema.$ref, below)
  if ('const' in schema) return literal(schema.const)
  if (Array.isArray(schema.enum)) return union(schema.enum.slice(0, MAX_PROPERTIES).map(literal))
  const choices = schema.anyOf ?? schema.oneOf
  if (Array.isArray(choices)) return union(choices.slice(0, MAX_PROPERTIES).map((choice) => typeOf(choice, below)))
  if (Array.isArray(schema.allOf) && schema.allOf.length > 0) {
    return schema.allOf
      .slice(0, MAX_PROPERTIES)
      .map((part) => `(${typeOf(part, below)})`)
      .join(' & ')
  }
  const types = Array.isArray(schema.type) ? schema.type : [schema.type ?? (schema.properties ? 'object' : undefined)]
  return union(types.map((type) => typeOfKind(type, schema, below)))
}

function typeOfKind(type: unknown, schema: Schema, place: Place): string {
  if (type === 'string' || type === 'boolean' || type === 'null') return type
  if (type === 'number' || type === 'integer') return 'number'
  if (type === 'array') return `Array<${typeOf(schema.items, place)}>`
  if (type === 'object') return typeOfObject(schema, place)
  return 'unknown'
}

function typeOfObject({ properties, required, additionalProperties }: Schema, place: Place): string {
  const names = isRecord(properties) ? Object.keys(properties) : []
  if (!isRecord(properties) || names.length === 0) {
    return `Record<string, ${isRecord(additionalProperties) ? typeOf(additionalProperties, place) : 'unknown'}>`
  }
  const needed = new Set(Array.isArray(required) ? required : [])
  const fields = names.slice(0, MAX_PROPERTIES).map((name) => {
    const schema = properties[name]
    const comment = isRecord(schema) ? commentOf(schema.description) : ''
    return `${comment && `/** ${comment} */ `}${keyOf(name)}${needed.has(name) ? '' : '?'}: ${typeOf(schema, place)}`
  })
  const isOpen = names.length > MAX_PROPERTIES || isRecord(additionalProperties) || additionalProperties === true
  return `{ ${[...fields, ...(isOpen ? ['[key: string]: unknown'] : [])].join('; ')} }`
}

/** The type of another part of the same schema. One that contains itself is `unknown` there. */
function typeOfReference(reference: string, place: Place): string {
  if (place.above.includes(reference) || !/^#(\/|$)/.test(reference)) return 'unknown'
  let found: unknown = place.root
  for (const step of reference.split('/').slice(1)) {
    const key = step.replaceAll('~1', '/').replaceAll('~0', '~')
    found = (isRecord(found) || Array.isArray(found)) && Object.hasOwn(found, key) ? Reflect.get(found, key) : undefined
  }
  return typeOf(found, { ...place, above: [...place.above, reference] })
}

function union(types: readonly string[]): string {
  const distinct = [...new Set(types)]
  if (distinct.length === 0) return 'never'
  if (distinct.includes('unknown')) return 'unknown'
  return distinct.map((type) => (distinct.length > 1 && type.includes(' & ') ? `(${type})` : type)).join(' | ')
}

function literal(value: unknown): string {
  if (value === null || typeof value === 'boolean') return String(value)
  if (typeof value === 'number' && Number.isFinite(value)) return String(value)
  return typeof value === 'string' ? quoted(value) : 'unknown'
}

function keyOf(name: string): string {
  return IDENTIFIER.test(name) ? name : quoted(name)
}

/** A string literal. JSON allows two characters that end lines. */
function quoted(text: string): string {
  return JSON.stringify(text.slice(0, MAX_COMMENT_CHARS))
    .replaceAll('\u2028', '\\u2028')
    .replaceAll('\u2029', '\\u2029')
}

/** A description as one line that cannot end the comment it is in. */
function commentOf(description: unknown): string {
  if (typeof description !== 'string') return ''
  const line = description
    .slice(0, MAX_COMMENT_CHARS)
    .replaceAll(/[\s\p{Cc}\u2028\u2029]+/gu, ' ')
    .trim()
  return line.replaceAll('*/', '*\\/')
}

function isRecord(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
