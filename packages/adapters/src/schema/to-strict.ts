import type { JsonObject } from '@tool-hub/core/schema'
import { type Branch, openBranches, type Plan, pickBranch, type SchemaDefinition } from './branches.ts'
import { joinBranch, mergeObjects } from './merge-objects.ts'
import { isRequirementOnly } from './repair-root.ts'
import {
  findExcess,
  keepKeywords,
  LONG_ENUM,
  noteInDescription,
  type StrictCounts,
  type StrictRules,
} from './strict-rules.ts'
import {
  acceptsNull,
  findOpen,
  forType,
  isSchemaObject,
  propertiesOf,
  requiredOf,
  resolveReference,
  splitAnnotations,
  typesOf,
} from './subschemas.ts'

/** A schema in the strict form of a provider, or the reason why there is none. */
export type StrictSchema =
  | {
      readonly schema: JsonObject
      readonly plan: Plan | undefined
      readonly changes: readonly string[]
      /** What counts against the limits of one request. */
      readonly optionals: number
      readonly unions: number
    }
  | { readonly problem: string }

/** Converts a schema with an object at its root to the strict form of a provider. */
export function toStrict(root: JsonObject, rules: StrictRules): StrictSchema {
  return new StrictWriter(root, rules).write()
}

/** A part of the new schema, and the plan for the values that fit it. */
interface Written {
  readonly schema: JsonObject
  readonly plan?: Plan
}

const NOTHING: Written = { schema: {} }
const NONE: ReadonlySet<string> = new Set()
const UNION = ['anyOf', 'oneOf'] as const
/** Keywords that make a schema more than a type with a few bounds. */
const STRUCTURE = [
  'properties',
  'items',
  'prefixItems',
  'patternProperties',
  'anyOf',
  'oneOf',
  'allOf',
  'enum',
  'const',
]
const TYPES = new Set(['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'])
const OF_OBJECTS = new Set(['type', 'properties', 'required', 'additionalProperties', 'unevaluatedProperties'])
const OF_LISTS = new Set(['type', 'items'])
const OF_SCALARS = new Set(['type', 'enum', 'const'])

/** Which branch of a union a value belongs to; known once all branches are written. */
class LatePick {
  readonly kind = 'union'
  pick: (value: object) => Plan | undefined = () => undefined
}

class StrictWriter {
  readonly #root: JsonObject
  readonly #rules: StrictRules
  readonly #changes = new Set<string>()
  readonly #definitions = new Map<string, SchemaDefinition>()
  readonly #unclear: { readonly path: string; readonly branches: readonly Branch[]; readonly plan: LatePick }[] = []
  #problem: string | undefined
  #drops = false
  #optionals = 0
  #unions = 0
  readonly #counts: StrictCounts = { properties: 0, enumValues: 0, nameChars: 0 }

  constructor(root: JsonObject, rules: StrictRules) {
    this.#root = root
    this.#rules = rules
  }

  write(): StrictSchema {
    const { $defs: _1, definitions: _2, $id: _3, ...own } = this.#root
    const { schema, plan } = this.#write(own, '', 0)
    for (const { path, branches, plan } of this.#unclear) this.#settleUnion(path, branches, plan)
    const excess = findExcess(this.#counts, this.#rules)
    if (excess) this.#refuse('', excess)
    if (this.#problem !== undefined) return { problem: this.#problem }
    const definitions = [...this.#definitions.values()].map((definition) => [definition.name, definition.schema])
    return {
      schema: { ...schema, ...(definitions.length > 0 && { $defs: Object.fromEntries(definitions) }) },
      plan: this.#drops ? plan : undefined,
      changes: [...this.#changes],
      optionals: this.#optionals,
      unions: this.#unions,
    }
  }

  #write(given: unknown, path: string, level: number): Written {
    if (this.#problem !== undefined) return NOTHING
    if (!isSchemaObject(given)) return this.#refuse(path, given === false ? 'accepts nothing' : 'accepts anything')
    if (level > this.#rules.most.levels) return this.#refuse(path, `is over ${this.#rules.most.levels} levels deep`)
    const odd = ['$id', '$dynamicRef', '$recursiveRef', 'patternProperties', 'prefixItems'].find((key) => key in given)
    if (odd) return this.#refuse(path, `has ${odd}`)
    if (typeof given.$ref === 'string') return this.#writeReference(given, given.$ref, path)
    if (Array.isArray(given.allOf)) return this.#writeAll(given, given.allOf, path, level)
    const union = UNION.find((keyword) => Array.isArray(given[keyword]))
    if (union) return this.#writeUnion(given, union, path, level)
    return this.#writeTyped(given, path, level)
  }

  #writeTyped(given: JsonObject, path: string, level: number): Written {
    const types = typesOf(given)
    const isMixed = types.length > 1 && types.some((type) => type === 'object' || type === 'array')
    if (isMixed) {
      const branches = types.map((type) => forType(given, type))
      return this.#writeBranches(given, branches, path, level)
    }
    if (types.length === 0) return this.#refuse(path, 'has no type')
    if (!types.every((type) => TYPES.has(type))) return this.#refuse(path, 'has an unknown type')
    if (types[0] === 'object') return this.#writeObject(given, path, level)
    if (types[0] === 'array') return this.#writeArray(given, path, level)
    return this.#writeScalar(given, types, path)
  }

  #writeObject(given: JsonObject, path: string, level: number): Written {
    const properties = Object.entries(propertiesOf(given))
    const open = findOpen(given, { isRoot: level === 0 })
    if (open) return this.#refuse(path, open)
    if (given.additionalProperties === undefined) this.#note(path, 'takes no further properties')
    const required = new Set(requiredOf(given))
    const dropped = new Set<string>()
    const below = new Map<string, Plan>()
    const written: [string, JsonObject][] = []
    for (const [name, property] of properties) {
      const place = path === '' ? name : `${path}.${name}`
      if (property === false && !required.has(name)) continue
      const { schema, plan } = this.#write(property, place, level + 1)
      const isKept = required.has(name) || this.#rules.optionals === 'kept'
      if (!required.has(name)) this.#optionals++
      written.push([name, isKept ? schema : this.#makeNullable(property, schema, name, place, dropped)])
      if (plan) below.set(name, plan)
      this.#counts.nameChars += name.length
    }
    this.#counts.properties += written.length
    if (dropped.size > 0) this.#drops = true
    const names = written.map(([name]) => name)
    const schema = {
      type: 'object',
      properties: Object.fromEntries(written),
      required: this.#rules.optionals === 'kept' ? names.filter((name) => required.has(name)) : names,
      additionalProperties: false,
    }
    const plan = dropped.size + below.size > 0 ? ({ kind: 'object', dropped, below } as const) : undefined
    return { schema: this.#describe(given, schema, path, OF_OBJECTS), plan }
  }

  /**
   * An optional property that is already nullable: null and absent must mean the same, or they could not be told
   * apart.
   */
  #makeNullable(property: unknown, schema: JsonObject, name: string, path: string, dropped: Set<string>): JsonObject {
    if (acceptsNull(property, this.#root)) {
      if (isSchemaObject(property) && property.default === null) return schema
      this.#refuse(path, 'may be left out or be null, which strict mode cannot tell apart')
      return schema
    }
    dropped.add(name)
    this.#note(path, 'is null when it is left out')
    return nullable(schema)
  }

  #writeArray(given: JsonObject, path: string, level: number): Written {
    if (!isSchemaObject(given.items)) return this.#refuse(path, 'is a list of anything')
    const { schema: items, plan } = this.#write(given.items, `${path}[]`, level + 1)
    const schema = this.#describe(given, { type: 'array', items }, path, OF_LISTS)
    return { schema, plan: plan && ({ kind: 'array', items: plan } as const) }
  }

  #writeScalar(given: JsonObject, types: readonly string[], path: string): Written {
    const { enum: values, const: value } = given
    const literals = Array.isArray(values) ? values : value === undefined ? [] : [value]
    if (literals.some((literal) => typeof literal === 'object' && literal !== null)) {
      return this.#refuse(path, 'has an enum of objects or lists')
    }
    const chars = literals.reduce((sum: number, literal) => sum + String(literal).length, 0)
    const { longEnumChars } = this.#rules.most
    if (literals.length > LONG_ENUM && chars > longEnumChars) {
      return this.#refuse(path, `has an enum of ${chars} characters, the limit is ${longEnumChars}`)
    }
    this.#counts.enumValues += literals.length
    this.#counts.nameChars += chars
    if (types.length > 1) this.#unions++
    const schema = {
      type: types.length === 1 ? types[0] : types,
      ...(values !== undefined && { enum: values }),
      ...(value !== undefined && { const: value }),
    }
    return { schema: this.#describe(given, schema, path, OF_SCALARS) }
  }

  #writeReference(given: JsonObject, reference: string, path: string): Written {
    const { $ref: _, ...siblings } = given
    if (STRUCTURE.some((keyword) => keyword in siblings)) return this.#refuse(path, 'has more beside its $ref')
    const known = this.#definitions.get(reference)
    const target = known ?? this.#define(reference, path)
    if (target.schema === undefined && known && !this.#rules.allowsRecursion) return this.#refuse(path, 'holds itself')
    const plan = { kind: 'reference', target } as const
    const pointer = { $ref: `#/$defs/${target.name}` }
    const described = this.#describe(siblings, {}, path, NONE)
    return { schema: Object.keys(described).length > 0 ? { anyOf: [pointer], ...described } : pointer, plan }
  }

  #define(reference: string, path: string): SchemaDefinition {
    const definition: SchemaDefinition = { name: this.#newName(reference) }
    this.#definitions.set(reference, definition)
    this.#counts.nameChars += definition.name.length
    const target = resolveReference(this.#root, reference)
    const { schema, plan } =
      target === undefined
        ? this.#refuse(path, `refers to ${reference}, which is not inside it`)
        : this.#write(withoutDefinitions(target), `$defs.${definition.name}`, 1)
    return Object.assign(definition, { schema, plan })
  }

  #newName(reference: string): string {
    const last = reference.slice(reference.lastIndexOf('/') + 1).replaceAll(/[^A-Za-z0-9_-]/g, '_')
    const taken = new Set([...this.#definitions.values()].map(({ name }) => name))
    const wanted = last === '_' || last === '' ? 'root' : last
    for (let count = 2, name = wanted; ; count++) {
      if (!taken.has(name)) return name
      name = `${wanted}_${count}`
    }
  }

  #writeAll(given: JsonObject, allOf: readonly unknown[], path: string, level: number): Written {
    const { allOf: _, ...base } = given
    const isAlone = allOf.length === 1 && isSchemaObject(allOf[0]) && !STRUCTURE.some((keyword) => keyword in base)
    const merged = isAlone && base.type === undefined ? { ...base, ...(allOf[0] as JsonObject) } : undefined
    const one = merged ?? mergeObjects([base, ...allOf], this.#root)
    if (!one) return this.#refuse(path, 'has allOf that cannot be written as one schema')
    this.#note(path, 'has allOf written as one schema')
    return this.#write(one, path, level)
  }

  #writeUnion(given: JsonObject, keyword: (typeof UNION)[number], path: string, level: number): Written {
    const { [keyword]: union, ...base } = given
    if (isRequirementOnly(union) && typesOf(base).includes('object')) {
      this.#note(path, `leaves ${keyword} to the hub`)
      return this.#write(noteInDescription(base, { [keyword]: union }), path, level)
    }
    if (keyword === 'oneOf') this.#note(path, 'has anyOf for oneOf')
    const branches = (union as readonly unknown[]).filter((branch) => branch !== false)
    const { rest } = splitAnnotations(base)
    const whole = branches.map((branch) => joinBranch(rest, branch, this.#root))
    if (whole.includes(undefined)) return this.#refuse(path, `has ${keyword} beside what it cannot be joined with`)
    return this.#writeBranches(base, whole, path, level)
  }

  #writeBranches(base: JsonObject, branches: readonly unknown[], path: string, level: number): Written {
    const written = branches.map((branch, index) => this.#write(branch, `${path}|${index + 1}`, level))
    if (written.length === 0) return this.#refuse(path, 'accepts nothing')
    this.#unions++
    const plan = new LatePick()
    this.#unclear.push({ path, branches: written.map(({ schema, plan }) => ({ schema, plan })), plan })
    const { annotations } = splitAnnotations(base)
    const union = { anyOf: written.map(({ schema }) => schema) }
    return { schema: this.#describe(annotations, union, path, NONE), plan }
  }

  #settleUnion(path: string, branches: readonly Branch[], plan: LatePick): void {
    if (!this.#drops) return
    const opened = openBranches(branches, this.#definitions.values())
    const pick = opened && pickBranch(opened)
    if (pick) plan.pick = pick
    else this.#refuse(path, 'has possibilities that strict mode cannot tell apart')
  }

  /** The new schema with the supported keywords; the others are described in words. */
  #describe(given: JsonObject, schema: JsonObject, path: string, handled: ReadonlySet<string>): JsonObject {
    const kept = keepKeywords(schema, given, handled, this.#rules)
    for (const keyword of kept.dropped) this.#note(path, `leaves ${keyword} to the hub`)
    return kept.schema
  }

  #note(path: string, what: string): void {
    this.#changes.add(`${path === '' ? 'the root' : path} ${what}`)
  }

  #refuse(path: string, why: string): Written {
    this.#problem ??= `${path === '' ? 'the schema' : path} ${why}`
    return NOTHING
  }
}

function withoutDefinitions(schema: unknown): unknown {
  if (!isSchemaObject(schema)) return schema
  const { $defs: _1, definitions: _2, $id: _3, ...own } = schema
  return own
}

/** A schema that also accepts null. */
function nullable(schema: JsonObject): JsonObject {
  const { type, enum: values, const: value, anyOf, ...rest } = schema
  if (Array.isArray(anyOf)) return { ...rest, anyOf: [...anyOf, { type: 'null' }] }
  const isScalar = typeof type === 'string' ? type !== 'object' && type !== 'array' : Array.isArray(type)
  if (!isScalar) return { anyOf: [schema, { type: 'null' }] }
  const literals = Array.isArray(values) ? values : value === undefined ? undefined : [value]
  return { ...rest, type: [type, 'null'].flat(), ...(literals && { enum: [...literals, null] }) }
}
