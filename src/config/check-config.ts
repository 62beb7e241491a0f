import type { z } from 'zod'
import type { ConfigDocument } from '../core/document/config-document.ts'
import { configError, MAX_SHOWN } from '../core/document/problem.ts'
import type { ToolError } from '../core/errors.ts'
import { toJsonSchema } from './config-json-schema.ts'
import { describeIssue, type IssueDescription } from './describe-issue.ts'
import { policyFileSchema } from './policy-schema.ts'
import { type Config, configSchemas, VISIBILITY_KEYS } from './schema.ts'
import { MAX_CONFIG_DEPTH, walkConfig } from './walk-config.ts'

/** `tools` in the form of a policy.yaml. */
export type PolicyTools = z.output<typeof policyFileSchema>['tools']

/** A checked config, its `tools` told apart. */
export interface CheckedConfig extends Omit<Config, 'tools'> {
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
    return { ...config, visibility }
  }
  const { tools: policyTools, ...config } = check(document, configSchemas.policy)
  return { ...config, policyTools }
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

/** S3's `tools` says what is visible, S2's what each tool may do. Both at once would be read wrong by somebody. */
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
      position: index < MAX_SHOWN ? place(finding) : undefined,
    })),
  )
}
