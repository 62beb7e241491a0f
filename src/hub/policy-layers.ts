import { realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import type { HubOptions, Rule, SourcedRule } from '../core/index.ts'
import { DEFAULT_POLICY, type PolicyLayers } from '../policy/index.ts'

/** The effective policy, before it is compiled: what is always denied, what the owner says, what holds otherwise. */
export function policyLayers({
  policy = [],
  requests = [],
  sandbox = {},
}: Pick<HubOptions, 'policy' | 'requests' | 'sandbox'>): PolicyLayers {
  const defaults = sandbox.network?.includes('*')
    ? [...DEFAULT_POLICY.defaults, ASK_BEFORE_SENDING]
    : DEFAULT_POLICY.defaults
  return { ...DEFAULT_POLICY, defaults, owner: policy.map(sourced), requests, home: realHome() }
}

/** Sending is allowed by default because the owner named every host; with `*` nobody did. */
const ASK_BEFORE_SENDING: SourcedRule = {
  rule: { ask: 'send', reason: 'sandbox.network is open to every host, so no host was chosen to send data to.' },
  source: { file: 'sandbox.network' },
  base: '/',
}

/** A rule with where it comes from; one that was given in code is known by its place. */
export function sourced(rule: Rule | SourcedRule, index: number): SourcedRule {
  if ('rule' in rule) return rule
  return { rule, source: { file: `policy[${index}]` }, base: process.cwd() }
}

/** Targets are real paths, so the home that `~` means must be one too. */
function realHome(): string {
  try {
    return realpathSync(homedir())
  } catch {
    // A home that does not exist holds nothing to protect; its name still does no harm in a pattern.
    return homedir()
  }
}
