import path from 'node:path'
import { type ConfigDocument, configError, type Rule, type SourcedRule, sourceOf, ToolError } from '@tool-hub/core'
import { parseDuration, parseSize, withoutUndefined } from '@tool-hub/core/config'
import { fromPolicyYaml } from '@tool-hub/policy'
import { resolvePath } from '@tool-hub/sandbox/system'
import type { z } from 'zod'
import type { PolicyByTool } from './allowed-roots.ts'
import { type CheckedConfig, checkConfig, checkPolicyFile, type PolicyTools, rulesPath } from './check-config.ts'
import type { ruleSchema } from './policy-schema.ts'
import { readDocument } from './read-document.ts'

/** The owner's rules as the files have them now, and the rest of the config to compare. */
export interface ConfigRules {
  /** How messages name the config. */
  readonly label: string
  readonly rules: readonly SourcedRule[]
  /** The rules of the shadow policy, if the config names one. */
  readonly shadow?: readonly SourcedRule[]
  /** The config, and the policy files that it names. */
  readonly files: readonly string[]
  /** Everything in the config that is not a rule, by section. */
  readonly sections: Readonly<Record<string, unknown>>
}

/** Reads and checks a config for its rules alone: no plugin is loaded, nothing is changed. */
export async function readRules(file: string, cwd: string): Promise<ConfigRules> {
  const document = await readDocument(file, cwd)
  const config = checkConfig(document)
  const { policy: _policy, shadow: _shadow, policyTools: _tools, ...sections } = config
  const rules = await rulesOf(document, config, cwd)
  const shadow = await shadowOf(document, config, cwd)
  return { label: document.label, rules, shadow, files: [file, ...policyFiles(file, config)], sections }
}

/** The files with rules that a config names. */
export function policyFiles(configFile: string, { policy, shadow }: CheckedConfig): string[] {
  const named = [typeof policy === 'string' ? policy : undefined, shadow]
  return named.flatMap((each) => (each === undefined ? [] : [resolvePath(path.dirname(configFile), each)]))
}

const SHADOW_KEYS = new Set(['policy', 'tools', 'version', '$schema'])

/**
 * The rules of the shadow policy that a config names: a list of rules, alone or below `policy:`, or a policy.yaml. A file
 * with other sections is refused, because the calls would not be decided by them.
 */
export async function shadowOf(
  config: ConfigDocument,
  { shadow }: CheckedConfig,
  cwd: string,
): Promise<SourcedRule[] | undefined> {
  if (shadow === undefined) return undefined
  const { file } = config
  const found = await readDocument(resolvePath(path.dirname(file), shadow), cwd).catch((error) => {
    // A file that is there explains itself, with its line.
    if (!ToolError.is(error) || !Object.hasOwn(Object(error.cause), 'syscall')) throw error
    const position = config.locate(['policy', 'shadow'])
    throw configError(config.label, [{ path: ['policy', 'shadow'], position, message: error.message }], {
      hint: error.fix.hint,
      cause: error.cause,
    })
  })
  const isList = Array.isArray(found.value)
  const document: ConfigDocument = isList
    ? { ...found, value: { policy: found.value }, locate: (keys, at) => found.locate(keys.slice(1), at) }
    : found
  const { policy, policyTools, ...others } = checkConfig(document)
  const problem = (path: string[], message: string) =>
    configError(document.label, [{ path, position: document.locate(path, 'key'), message }], {
      hint: 'A shadow policy is a list of rules, such as - { allow: "read:fs" }, that list below policy:, or a policy.yaml.',
    })
  if (policy === undefined && policyTools === undefined && others.visibility === undefined)
    throw configError(document.label, [{ message: 'has no rules.' }], {
      hint: 'Write policy: and below it the rules, as in tool-hub.yaml. policy: [] tries the shipped policy alone.',
    })
  const other = Object.keys(Object(document.value)).find((key) => !SHADOW_KEYS.has(key))
  if (other !== undefined) throw problem([other], 'is not part of the rules, so a shadow policy cannot try it.')
  if (others.visibility !== undefined)
    throw problem(['tools'], 'says which tools are visible, which a shadow policy cannot try.')
  if (others.shadow !== undefined) throw problem(['policy', 'shadow'], 'a shadow policy has no shadow policy.')
  if (typeof policy === 'string') throw problem(['policy'], 'names a file; here the rules themselves are needed.')
  return rulesFrom(document, { policy }, policyTools ? [{ document, tools: policyTools }] : [])
}

/** The rules of a checked config, with those of the policy file that it names. */
export async function rulesOf(document: ConfigDocument, config: CheckedConfig, cwd: string): Promise<SourcedRule[]> {
  return rulesFrom(document, config, await policiesOf(document, config, cwd))
}

/** The same, of a config whose policies by tool are read already. */
export function rulesFrom(
  document: ConfigDocument,
  { policy }: Pick<CheckedConfig, 'policy'>,
  policies: readonly PolicyByTool[],
): SourcedRule[] {
  const byTool = policies.flatMap((each) => toPolicyRules(each.document, each.tools))
  return typeof policy === 'string' ? byTool : [...byTool, ...toRules(document, policy ?? [])]
}

/** What a config says tool by tool: in its own `tools`, and in the policy file that it names. */
export async function policiesOf(
  document: ConfigDocument,
  { policy, policyTools }: CheckedConfig,
  cwd: string,
): Promise<PolicyByTool[]> {
  const own = policyTools ? [{ document, tools: policyTools }] : []
  if (typeof policy !== 'string') return own
  const policyDocument = await readDocument(resolvePath(path.dirname(document.file), policy), cwd)
  return [...own, { document: policyDocument, tools: checkPolicyFile(policyDocument) }]
}

type WrittenRule = z.output<typeof ruleSchema>

/** The rules of a `policy` list, each with its file, line and the folder that its globs start from. */
export function toRules(document: ConfigDocument, rules: readonly WrittenRule[]): SourcedRule[] {
  const base = path.dirname(document.file)
  const at = rulesPath(document)
  return rules.map((rule, index) => ({ rule: toRule(rule), source: sourceOf(document, [...at, index]), base }))
}

/** The rules of a policy.yaml's `tools`. */
export function toPolicyRules(document: ConfigDocument, tools: PolicyTools): readonly SourcedRule[] {
  return fromPolicyYaml(
    { tools },
    {
      file: document.label,
      base: path.dirname(document.file),
      lineOf: (keys) => document.locate(keys, 'key')?.line,
      parseSize,
    },
  )
}

function toRule({ limit, ...rule }: WrittenRule): Rule {
  const { timeout, maxBytes, maxFileBytes, ...others } = limit ?? {}
  const limits = limit && {
    timeoutMs: timeout === undefined ? undefined : parseDuration(timeout),
    maxBytes: maxBytes === undefined ? undefined : parseSize(maxBytes),
    maxFileBytes: maxFileBytes === undefined ? undefined : parseSize(maxFileBytes),
    ...others,
  }
  // The schema saw to it that there is exactly one verb, which the type of the written form cannot say.
  return withoutUndefined({ ...rule, limit: limits && withoutUndefined(limits) }) as Rule
}
