import { type CheckedConfig, checkConfig } from '../../config/check-config.ts'
import { toPolicyRules, toRules } from '../../config/to-rules.ts'
import type { ConfigDocument } from '../../core/document/config-document.ts'
import { parseYaml } from '../../core/document/parse-yaml.ts'
import { configError } from '../../core/document/problem.ts'
import type { SourcedRule } from '../../core/rule.ts'

/** How the places in a draft are named. */
const LABEL = 'rules'

/** Rules that somebody has typed. */
export interface Draft {
  readonly rules: readonly SourcedRule[]
  /** As a part of a config: with its key. */
  readonly part: string
}

/** Reads typed rules: a list of them, or the `policy:` part of a config. What is wrong is told with its line. */
export function readDraft(yaml: string, { file }: { readonly file: string }): Draft {
  const { value, locate } = parseYaml(yaml, LABEL)
  const isList = Array.isArray(value)
  const part = isList ? `policy:\n${yaml}` : yaml
  const document: ConfigDocument = {
    file,
    label: LABEL,
    value: isList ? { policy: value } : (value ?? { policy: [] }),
    locate: (keys, at) => locate(isList ? keys.slice(1) : keys, at),
  }
  refuseOthers(document)
  return { rules: rulesIn(document, checkConfig(document)), part: value === null ? 'policy: []\n' : part }
}

/** The owner's rules in a config that is at hand as text. */
export function readOwnerRules(text: string, { file, label }: { readonly file: string; readonly label: string }) {
  const document = { file, label, ...parseYaml(text, label) }
  const config = checkConfig(document)
  return { rules: rulesIn(document, config), config }
}

function rulesIn(document: ConfigDocument, { policy, policyTools }: CheckedConfig): SourcedRule[] {
  const byTool = policyTools ? toPolicyRules(document, policyTools) : []
  return [...byTool, ...toRules(document, typeof policy === 'string' ? [] : (policy ?? []))]
}

function refuseOthers({ value, locate }: ConfigDocument): void {
  const isMapping = typeof value === 'object' && value !== null
  const others = isMapping ? Object.keys(value).filter((key) => key !== 'policy') : []
  const isNamed = isMapping && typeof (value as { readonly policy?: unknown }).policy === 'string'
  if (isMapping && others.length === 0 && !isNamed) return
  const hint = 'Write a list of rules, such as - { allow: "read:fs" }, or that list below policy:.'
  const problem = isNamed
    ? { path: ['policy'], position: locate(['policy']), message: 'names a file; here the rules themselves are needed.' }
    : others.length === 0
      ? { message: 'is no list of rules.' }
      : { path: [others[0]!], position: locate([others[0]!], 'key'), message: 'is no part of the rules.' }
  throw configError(LABEL, [problem], { hint })
}
