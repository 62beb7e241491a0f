import {
  type ConfigDocument,
  configError,
  didYouMean,
  type KeyPath,
  MAX_PROBLEMS,
  type ToolError,
} from '@tool-hub/core'
import { isPlainObject, valueAt } from '@tool-hub/core/lib'
import { z } from 'zod'
import { policyFileSchema, type rulesSchema } from './policy-schema.ts'
import { type Config, configSchemas, VISIBILITY_KEYS } from './schema.ts'

/** `tools` in the form of a policy.yaml. */
export type PolicyTools = z.output<typeof policyFileSchema>['tools']

/** A checked config, with `tools` as one of its two forms, and `policy` without its shadow. */
export interface CheckedConfig extends Omit<Config, 'tools' | 'policy'> {
  readonly policy?: z.output<typeof rulesSchema>
  /** Path of the file with the shadow policy, as it is written. */
  readonly shadow?: string
  readonly visibility?: z.output<typeof configSchemas.visibility>['tools']
  readonly policyTools?: PolicyTools
}

// Enough for any owner; what follows may take its time over each.
const MAX_ENTRIES = 20_000
const RESERVED = new Set<unknown>(['__proto__', 'constructor', 'prototype'])

/** A config out of a parsed file; throws one error that names all its problems. */
export function checkConfig(document: ConfigDocument): CheckedConfig {
  if (toolsForm(document) === 'visibility') {
    const { tools: visibility, ...config } = check(document, configSchemas.visibility)
    return { ...withShadow(config), visibility }
  }
  const { tools: policyTools, ...config } = check(document, configSchemas.policy)
  return { ...withShadow(config), policyTools }
}

/** Where the rules of a `policy` list stand in a config. */
export function rulesPath({ value }: ConfigDocument): KeyPath {
  return isMapping((value as { policy?: unknown } | null)?.policy) ? ['policy', 'rules'] : ['policy']
}

function withShadow({ policy, ...config }: Omit<Config, 'tools'>): CheckedConfig {
  if (typeof policy !== 'object' || Array.isArray(policy)) return { ...config, policy }
  return { ...config, policy: policy.rules, shadow: policy.shadow }
}

/** The `tools` of a policy.yaml out of a parsed file. */
export function checkPolicyFile(document: ConfigDocument): PolicyTools {
  return check(document, policyFileSchema).tools
}

function check<T>(document: ConfigDocument, schema: z.ZodType<T>): T {
  const hostile = hostileEntries(document.value)
  if (hostile.length > 0) throw refusal(document, hostile)
  const value = document.value ?? {} // an empty file says nothing, which is fine
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const known = toJsonSchema(schema)
  throw refusal(
    document,
    result.error.issues.flatMap((issue) => describeIssue(issue, value, known)),
  )
}

/** `tools` sets either which tools are visible or what each tool may do. A mixture is refused, because it would be misread. */
function toolsForm(document: ConfigDocument): 'visibility' | 'policy' {
  const tools = (document.value as { tools?: unknown } | null)?.tools
  const entries = isMapping(tools) ? Object.entries(tools) : []
  const visibility = entries.map(([name]) => name).filter((name) => VISIBILITY_KEYS.includes(name))
  const policy = entries.filter(([name, value]) => name === 'default' || isMapping(value)).map(([name]) => name)
  const [other] = policy.filter((name) => !visibility.includes(name))
  if (other === undefined) return 'visibility'
  if (visibility.length === 0) return 'policy'
  const message = `${visibility[0]} says which tools are visible, ${other} what a tool may do, and tools holds one of the two. Move the policy into a file: policy: ./policy.yaml.`
  throw refusal(document, [{ path: ['tools', other], part: 'key', message }])
}

function isMapping(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function hostileEntries(value: unknown): IssueDescription[] {
  const findings: IssueDescription[] = []
  let entries = 0
  for (const { path } of walkConfig(value)) {
    if (RESERVED.has(path.at(-1))) findings.push({ path, part: 'key', message: 'this name is reserved by JavaScript.' })
    if (++entries > MAX_ENTRIES) return [{ path: [], part: 'value', message: `has more than ${MAX_ENTRIES} entries.` }]
    if (path.length <= MAX_CONFIG_DEPTH) continue
    return [{ path: path.slice(0, 3), part: 'key', message: `nested deeper than ${MAX_CONFIG_DEPTH} levels.` }]
  }
  return findings
}

/** Where a key is missing, the place is that of its parent. */
function refusal({ label, locate }: ConfigDocument, findings: readonly IssueDescription[]): ToolError {
  const place = ({ path, part }: IssueDescription) => locate(path, part) ?? locate(path.slice(0, -1))
  return configError(
    label,
    findings.map((finding, index) => ({
      path: finding.path,
      message: finding.message,
      position: index < MAX_PROBLEMS ? place(finding) : undefined,
    })),
  )
}

/** A problem before its place is looked up. */
interface IssueDescription {
  readonly path: KeyPath
  /** Whether the key itself is wrong, or what stands there. */
  readonly part: 'key' | 'value'
  readonly message: string
}

type Issue = z.core.$ZodIssue

const TYPE_NAMES: ReadonlyMap<string, string> = new Map([
  ['string', 'a text'],
  ['number', 'a number'],
  ['int', 'a whole number'],
  ['boolean', 'true or false'],
  ['array', 'a list'],
  ['tuple', 'a list of a name and its options'],
  ['object', 'a mapping of keys'],
  ['record', 'a mapping of keys'],
])

/** What an owner can do something with, out of what zod found in `value`. */
export function describeIssue(issue: Issue, value: unknown, schema: SchemaNode): IssueDescription[] {
  const path = issue.path as KeyPath
  const found = valueAt(value, path)
  const finding = (message: string): IssueDescription[] => [{ path, part: 'value', message }]
  switch (issue.code) {
    case 'unrecognized_keys':
      return unknownKeys(path, issue.keys, knownKeys(schema, path))
    case 'invalid_type':
      return finding(wrongType([issue], found))
    case 'invalid_value':
      return finding(wrongValue(issue.values.map(String), found))
    case 'invalid_union':
      return describeUnion(issue, value, schema)
    case 'too_small':
      return finding(
        typeof found === 'number'
          ? `must be ${issue.inclusive ? 'at least' : 'over'} ${issue.minimum}, not ${found}.`
          : 'must not be empty.',
      )
    default:
      return finding(issue.message)
  }
}

/** Of several forms, the one whose kind fits is explained; when none fits, all are named. */
function describeUnion(
  issue: Extract<Issue, { code: 'invalid_union' }>,
  value: unknown,
  schema: SchemaNode,
): IssueDescription[] {
  const fitting = issue.errors.find((issues) => !issues.some(isWrongKind))
  if (fitting)
    return fitting.flatMap((inner) => describeIssue({ ...inner, path: [...issue.path, ...inner.path] }, value, schema))
  const path = issue.path as KeyPath
  return [{ path, part: 'value', message: wrongType(issue.errors.flat().filter(isWrongKind), valueAt(value, path)) }]
}

function isWrongKind(issue: Issue): boolean {
  return issue.path.length === 0 && (issue.code === 'invalid_type' || issue.code === 'invalid_value')
}

function unknownKeys(path: KeyPath, names: readonly string[], known: readonly string[]): IssueDescription[] {
  const all = `Known here: ${known.join(', ')}.`
  return names.map((name) => ({
    path: [...path, name],
    part: 'key',
    message: `unknown key. ${didYouMean(name, known) || all}`,
  }))
}

function wrongType(issues: readonly Issue[], found: unknown): string {
  const wanted = new Set(issues.map(wantedBy))
  return `must be ${[...wanted].join(' or ')}, ${butIs(found)}.`
}

function wantedBy(issue: Issue): string {
  if (issue.code === 'invalid_value') return issue.values.map(String).join(', ')
  return issue.code === 'invalid_type' ? (TYPE_NAMES.get(issue.expected) ?? issue.expected) : issue.message
}

function wrongValue(allowed: readonly string[], found: unknown): string {
  const list = allowed.length === 1 ? allowed[0]! : `one of ${allowed.join(', ')}`
  const guess = typeof found === 'string' ? didYouMean(found, allowed) : ''
  return `must be ${list}, ${butIs(found)}.${guess === '' ? '' : ` ${guess}`}`
}

function butIs(found: unknown): string {
  return found === undefined ? 'and is missing' : `not ${kindOf(found)}`
}

function kindOf(found: unknown): string {
  if (found === null) return 'nothing'
  if (Array.isArray(found)) return 'a list'
  if (typeof found === 'object') return 'a mapping of keys'
  return typeof found === 'string' ? JSON.stringify(found.slice(0, 40)) : String(found).slice(0, 40)
}

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

/** A key and its value, somewhere in a config. */
interface ConfigEntry {
  readonly path: KeyPath
  readonly value: unknown
}

/** Deeper than any config; data from JSON5 and modules has no other bound. */
const MAX_CONFIG_DEPTH = 64

/** Every key and item of a config, parents first, each object once, down to one level below the deepest. */
export function* walkConfig(root: unknown): Generator<ConfigEntry> {
  const seen = new Set<unknown>()
  const waiting: ConfigEntry[] = [{ path: [], value: root }]
  for (let entry = waiting.pop(); entry; entry = waiting.pop()) {
    yield entry
    const { path, value } = entry
    if (!isData(value) || seen.has(value) || path.length > MAX_CONFIG_DEPTH) continue
    seen.add(value)
    const children: [string | number, unknown][] = Array.isArray(value) ? [...value.entries()] : Object.entries(value)
    for (const [key, child] of children.reverse()) waiting.push({ path: [...path, key], value: child })
  }
}

/** Lists and plain objects: a module may hand a plugin any object with a life of its own. */
function isData(value: unknown): value is object {
  return Array.isArray(value) || isPlainObject(value)
}
