import { z } from 'zod'

/** The part of JSON Schema that zod writes and this folder reads. */
export interface SchemaNode {
  readonly type?: string
  readonly title?: string
  readonly description?: string
  readonly default?: unknown
  readonly examples?: readonly unknown[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly properties?: Readonly<Record<string, SchemaNode>>
  readonly required?: readonly string[]
  readonly additionalProperties?: SchemaNode | boolean
  readonly items?: SchemaNode
  readonly prefixItems?: readonly SchemaNode[]
  readonly anyOf?: readonly SchemaNode[]
}

/** What may be written, as JSON Schema 2020-12 for editors. */
export function toJsonSchema(schema: z.ZodType): SchemaNode {
  return z.toJSONSchema(schema, { io: 'input', target: 'draft-2020-12', reused: 'inline' }) as SchemaNode
}

/** The keys that the schema knows at a path. */
export function knownKeys(schema: SchemaNode, path: readonly (string | number)[]): string[] {
  let nodes = alternatives(schema)
  for (const step of path) nodes = nodes.flatMap((node) => childrenAt(node, step)).flatMap(alternatives)
  return [...new Set(nodes.flatMap((node) => Object.keys(node.properties ?? {})))]
}

function alternatives(node: SchemaNode): SchemaNode[] {
  return node.anyOf ? node.anyOf.flatMap(alternatives) : [node]
}

function childrenAt(node: SchemaNode, step: string | number): SchemaNode[] {
  if (typeof step === 'number') return [node.prefixItems?.[step] ?? node.items ?? {}]
  if (node.properties && Object.hasOwn(node.properties, step)) return [node.properties[step]!]
  return typeof node.additionalProperties === 'object' ? [node.additionalProperties] : []
}
