import { isPlainObject } from '@tool-hub/core/lib'

type Node = Readonly<Record<string, unknown>>

/** How many parts of a schema are looked at for one argument. */
const MAX_NODES = 64

/** A schema of arguments, as far as it can be shown as JSON Schema. */
export interface ShownSchema {
  jsonSchema(): unknown
}

const shown = new WeakMap<object, unknown>()
const knownNames = new WeakMap<object, ReadonlySet<string>>()

/** A schema as JSON Schema. One that cannot be shown names nothing: then every key is a value. */
function shownAs(schema: ShownSchema): unknown {
  if (shown.has(schema)) return shown.get(schema)
  let json: unknown
  try {
    json = schema.jsonSchema()
  } catch {
    json = undefined
  }
  shown.set(schema, json)
  return json
}

/** The names of arguments and their fields in a schema, at any level. `undefined` without a schema. */
export function namesIn(schema: ShownSchema | undefined): ReadonlySet<string> | undefined {
  if (schema === undefined) return undefined
  const known = knownNames.get(schema)
  if (known) return known
  const names = new Set<string>()
  const seen = new Set<unknown>()
  const left: unknown[] = [shownAs(schema)]
  while (left.length > 0) {
    const at = left.pop()
    if (typeof at !== 'object' || at === null || seen.has(at)) continue
    seen.add(at)
    if (isPlainObject(at) && isPlainObject(at.properties))
      for (const name of Object.keys(at.properties)) names.add(name)
    left.push(...Object.values(at))
  }
  knownNames.set(schema, names)
  return names
}

/** What a schema says about one value: several parts of it may be about the same. */
export class SchemaField {
  readonly #nodes: readonly Node[]
  readonly #root: unknown

  private constructor(nodes: readonly Node[], root: unknown) {
    this.#nodes = nodes
    this.#root = root
  }

  /** The arguments as a whole. */
  static of(schema: ShownSchema | undefined): SchemaField {
    const root = schema === undefined ? undefined : shownAs(schema)
    return new SchemaField(expand([root], root), root)
  }

  /** The field of this name. */
  field(name: string): SchemaField {
    const next = this.#nodes.map(({ properties, additionalProperties }) =>
      isPlainObject(properties) && Object.hasOwn(properties, name) ? properties[name] : additionalProperties,
    )
    return new SchemaField(expand(next, this.#root), this.#root)
  }

  /** The elements of a list. */
  items(): SchemaField {
    const next = this.#nodes.flatMap(({ items, prefixItems }) => [items, prefixItems].flat())
    return new SchemaField(expand(next, this.#root), this.#root)
  }

  /** Whether only listed values are allowed. */
  get isOption(): boolean {
    return this.#nodes.some((node) => Array.isArray(node.enum) || Object.hasOwn(node, 'const'))
  }

  /** The formats that it names: `email`, `uri`, `date-time`. */
  get formats(): readonly string[] {
    return this.#nodes.flatMap(({ format }) => (typeof format === 'string' ? [format] : []))
  }

  /** Whether a value is the default, and so chooses nothing. */
  isDefault(value: unknown): boolean {
    return this.#nodes.some((node) => Object.hasOwn(node, 'default') && isSame(node.default, value))
  }
}

/** Ends at the first difference, so it takes no longer than the default is large, whatever a caller sends. */
function isSame(one: unknown, other: unknown): boolean {
  if (typeof one !== 'object' || one === null || typeof other !== 'object' || other === null) return one === other
  const keys = Object.keys(one)
  if (Array.isArray(one) !== Array.isArray(other) || keys.length > MAX_NODES) return false
  if (keys.length !== (Array.isArray(other) ? other.length : Object.keys(other).length)) return false
  const [mine, theirs] = [one, other] as Record<string, unknown>[]
  return keys.every((key) => Object.hasOwn(other, key) && isSame(mine![key], theirs![key]))
}

/** Follows references and alternatives. */
function expand(from: readonly unknown[], root: unknown): readonly Node[] {
  const nodes = new Set<Node>()
  const left = from.slice(0, MAX_NODES)
  for (let at = 0; at < left.length && nodes.size < MAX_NODES; at++) {
    const node = left[at]
    if (!isPlainObject(node) || nodes.has(node)) continue
    nodes.add(node)
    for (const key of ['anyOf', 'oneOf', 'allOf'])
      if (Array.isArray(node[key])) left.push(...node[key].slice(0, MAX_NODES))
    if (typeof node.$ref === 'string') left.push(resolve(node.$ref, root))
  }
  return [...nodes]
}

function resolve(reference: string, root: unknown): unknown {
  if (!reference.startsWith('#')) return undefined
  let at = root
  for (const key of reference.slice(1).split('/').slice(1, MAX_NODES)) {
    const name = key.replaceAll('~1', '/').replaceAll('~0', '~')
    if (!isPlainObject(at) || !Object.hasOwn(at, name)) return undefined
    at = at[name]
  }
  return at
}
