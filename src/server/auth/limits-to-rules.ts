import { homedir } from 'node:os'
import { join } from 'node:path'
import { checkConfig, toRules } from '../../config/index.ts'
import type { ConfigDocument } from '../../core/document/index.ts'
import type { SourcedRule } from '../../core/index.ts'
import { compilePolicy } from '../../policy/index.ts'
import type { TokenLimits } from '../../protocol/index.ts'

/** Whose rules they are. */
export interface RuleOwner {
  readonly limits: TokenLimits
  readonly label: string
  readonly base: string
  readonly howToAllowDanger: string
}

const DANGERS = [
  { deny: 'exec', what: 'Commands are' },
  { deny: 'danger:destructive', what: 'Calls that destroy something are' },
] as const

/** The rules that hold for one caller beside the owner's: its own, and that nothing dangerous is done from afar. */
export function limitsToRules({ limits, label, base, howToAllowDanger }: RuleOwner): readonly SourcedRule[] {
  const own = readRules(limits.policy ?? [], label, base)
  if (limits.allowDanger) return own
  const dangers = DANGERS.map(({ deny, what }) => ({
    rule: { deny, reason: `${what} off over the network for ${label}.` },
    source: { file: label },
    base,
    remedy: howToAllowDanger,
  }))
  return [...own, ...dangers]
}

/** Rules as people write them, read and checked like those of a config; CONFIG_INVALID names what is wrong. */
function readRules(policy: readonly unknown[], label: string, base: string): readonly SourcedRule[] {
  if (policy.length === 0) return []
  const document: ConfigDocument = { file: join(base, 'policy'), label, value: { policy }, locate: () => undefined }
  const { policy: checked } = checkConfig(document)
  const rules = Array.isArray(checked) ? toRules(document, checked) : []
  // Says now what is wrong with a pattern, not at the first call.
  compilePolicy({ owner: rules, home: homedir() })
  return rules
}
