import path from 'node:path'
import type { z } from 'zod'
import { parseDuration, parseSize, withoutUndefined } from '../core/config/index.ts'
import { type ConfigDocument, type Rule, type SourcedRule, sourceOf } from '../core/index.ts'
import { fromPolicyYaml } from '../policy/index.ts'
import { resolvePath } from '../system/index.ts'
import type { PolicyByTool } from './allowed-roots.ts'
import { type CheckedConfig, checkConfig, checkPolicyFile, type PolicyTools } from './check-config.ts'
import type { ruleSchema } from './policy-schema.ts'
import { readDocument } from './read-document.ts'

/** The owner's rules as the files have them now, and the rest of the config to compare. */
export interface ConfigRules {
  /** How messages name the config. */
  readonly label: string
  readonly rules: readonly SourcedRule[]
  /** The config, and the policy file that it names. */
  readonly files: readonly string[]
  /** Everything in the config that is not a rule, by section. */
  readonly sections: Readonly<Record<string, unknown>>
}

/** Reads and checks a config for its rules alone: no plugin is loaded, nothing is changed. */
export async function readRules(file: string, cwd: string): Promise<ConfigRules> {
  const document = await readDocument(file, cwd)
  const config = checkConfig(document)
  const { policy, policyTools: _, ...sections } = config
  const files = typeof policy === 'string' ? [file, resolvePath(path.dirname(file), policy)] : [file]
  return { label: document.label, rules: await rulesOf(document, config, cwd), files, sections }
}

/** The rules of a checked config, with those of the policy file that it names. */
export async function rulesOf(document: ConfigDocument, config: CheckedConfig, cwd: string): Promise<SourcedRule[]> {
  return rulesFrom(document, config, await policiesOf(document, config, cwd))
}

/** The same, of a config whose policies by tool are read already. */
export function rulesFrom(
  document: ConfigDocument,
  { policy }: CheckedConfig,
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
  return rules.map((rule, index) => ({ rule: toRule(rule), source: sourceOf(document, ['policy', index]), base }))
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
  const limits = limit && {
    timeoutMs: limit.timeout === undefined ? undefined : parseDuration(limit.timeout),
    maxBytes: limit.maxBytes === undefined ? undefined : parseSize(limit.maxBytes),
    maxResults: limit.maxResults,
    retries: limit.retries,
  }
  // The schema saw to it that there is exactly one verb, which the type of the written form cannot say.
  return withoutUndefined({ ...rule, limit: limits && withoutUndefined(limits) }) as Rule
}
