import path from 'node:path'
import type { z } from 'zod'
import { type ConfigDocument, sourceOf } from '../core/document/config-document.ts'
import type { Rule, SourcedRule } from '../core/rule.ts'
import { fromPolicyYaml } from '../policy/from-policy-yaml.ts'
import type { PolicyTools } from './check-config.ts'
import type { ruleSchema } from './policy-schema.ts'
import { parseDuration, parseSize } from './units.ts'
import { withoutUndefined } from './without-undefined.ts'

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
