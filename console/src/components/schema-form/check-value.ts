import { alternativesOf, type JsonSchema, kindOf, resolve, valuesOf } from './json-schema.ts'

/** What is wrong, by the path of the field (`edits.0.path`; '' is the whole). */
export type Problems = ReadonlyMap<string, string>

/** What the form can tell is wrong before it is sent; the server checks everything. */
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
  if (kind === 'choice-of-shapes') return alternativesOf(schema)?.length ? undefined : 'Nothing fits here.'
  if (kind === 'number') return numberProblem(schema, value)
  if (kind === 'text' && typeof value === 'string') {
    if (value.length < (schema.minLength ?? 0)) return `At least ${schema.minLength} characters, not ${value.length}.`
    if (value.length > (schema.maxLength ?? Number.POSITIVE_INFINITY)) return `At most ${schema.maxLength} characters.`
  }
  if (kind === 'list' && Array.isArray(value)) {
    if (value.length < (schema.minItems ?? 0)) return `At least ${schema.minItems} of them.`
    if (value.length > (schema.maxItems ?? Number.POSITIVE_INFINITY)) return `At most ${schema.maxItems} of them.`
  }
  return undefined
}

function numberProblem({ type, minimum, maximum }: JsonSchema, value: unknown): string | undefined {
  if (typeof value !== 'number' || !Number.isFinite(value)) return 'This is a number.'
  if (type === 'integer' && !Number.isInteger(value)) return 'This is a whole number.'
  if (minimum !== undefined && value < minimum) return `At least ${minimum}.`
  if (maximum !== undefined && value > maximum) return `At most ${maximum}.`
  return undefined
}

function join(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`
}
