import { homedir } from 'node:os'
import { resolve } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { HubOptions, Rule, SourcedRule } from '@tool-hub/core'
import { compilePolicy, DEFAULT_POLICY, type Policy, type PolicyLayers } from '@tool-hub/policy'
import { realIfThere } from '@tool-hub/sandbox/system'

type Rules = readonly (Rule | SourcedRule)[]

/** The current policy of a hub and its shadow policy, alone and combined with the rules of a principal. */
export class PolicyHistory {
  #layers: PolicyLayers
  #policy: Policy
  #shadowRules: readonly SourcedRule[] | undefined
  #shadow: Policy | undefined

  constructor(layers: PolicyLayers, shadow?: Rules) {
    this.#layers = layers
    this.#policy = compilePolicy(layers)
    this.replaceShadow(shadow)
  }

  get layers(): PolicyLayers {
    return this.#layers
  }

  get policy(): Policy {
    return this.#policy
  }

  get shadowRules(): readonly SourcedRule[] | undefined {
    return this.#shadowRules
  }

  get shadow(): Policy | undefined {
    return this.#shadow
  }

  /**
   * Replaces the owner's rules. Throws if they cannot be compiled; the current rules then stay in force. Returns whether
   * the rules have changed.
   */
  replace(rules: Rules): boolean {
    const before = this.#layers.owner
    const layers = { ...this.#layers, owner: rules.map(sourced) }
    this.#policy = compilePolicy(layers)
    this.#layers = layers
    return !isDeepStrictEqual(before, layers.owner)
  }

  /** Replaces the shadow policy: other rules of the owner with the same shipped policy. Throws like `replace`. */
  replaceShadow(rules: Rules | undefined): boolean {
    const before = this.#shadowRules
    const owner = rules?.map(shadowed)
    this.#shadow = owner && compilePolicy({ ...this.#layers, owner })
    this.#shadowRules = owner
    return !isDeepStrictEqual(before, owner)
  }

  /** Returns a getter of the policy with these rules in addition to the owner's; it follows every `replace`. */
  beside(rules: Rules): () => Policy {
    if (rules.length === 0) return () => this.#policy
    const own = rules.map(sourced)
    const beside = following(
      () => this.#policy,
      () => this.#withOwn(this.#layers.owner, own),
    )
    // Compiled now, so that a broken rule is reported here and not by the first call.
    beside()
    return beside
  }

  /** The same with the shadow policy; the getter is for hubs that have one now. */
  besideShadow(rules: Rules): () => Policy {
    if (rules.length === 0) return () => this.#shadow!
    const own = rules.map(sourced)
    return following(
      () => this.#shadow,
      () => this.#withOwn(this.#shadowRules, own),
    )
  }

  #withOwn(owner: readonly SourcedRule[] = [], own: readonly SourcedRule[]): Policy {
    return compilePolicy({ ...this.#layers, owner: [...owner, ...own] })
  }
}

/** Returns a getter of what is compiled from the current policy; it is compiled again when that was replaced. */
function following(current: () => Policy | undefined, compile: () => Policy): () => Policy {
  let from: Policy | undefined
  let compiled: Policy | undefined
  return () => {
    const now = current()
    if (compiled !== undefined && from === now) return compiled
    compiled = compile()
    from = now
    return compiled
  }
}

/** Returns the effective policy before it is compiled: what is always denied, the owner's rules, and the defaults. */
export function policyLayers({
  policy,
  requests = [],
  sandbox = {},
}: Pick<HubOptions, 'policy' | 'requests' | 'sandbox'>): PolicyLayers {
  const defaults = sandbox.network?.includes('*')
    ? [...DEFAULT_POLICY.defaults, ASK_BEFORE_SENDING]
    : DEFAULT_POLICY.defaults
  return {
    ...DEFAULT_POLICY,
    defaults,
    owner: (policy ?? []).map(sourced),
    requests,
    // Targets are real paths, so `~` must expand to a real path too.
    home: realIfThere(resolve(homedir())),
    place: placeOf(policy),
  }
}

/** Where the owner adds rules: options read from a config always have a list, and its rules know their file. */
function placeOf(policy: Rules | undefined): string | undefined {
  const isInCode = policy === undefined || (policy.length > 0 && !policy.some((rule) => 'rule' in rule))
  return isInCode ? 'the policy option of createToolHub' : undefined
}

/** Sending is allowed by default because the owner has named every host. With `*` no host was named, so sending asks. */
const ASK_BEFORE_SENDING: SourcedRule = {
  rule: { ask: 'send', reason: 'sandbox.network is open to every host, so no host was chosen to send data to.' },
  source: { file: 'sandbox.network' },
  base: '/',
}

/** Adds the source of a rule. A rule given in code is identified by its index. */
export function sourced(rule: Rule | SourcedRule, index: number): SourcedRule {
  if ('rule' in rule) return rule
  return { rule, source: { file: `policy[${index}]` }, base: process.cwd() }
}

/** A rule of a shadow policy given in code. */
function shadowed(rule: Rule | SourcedRule, index: number): SourcedRule {
  if ('rule' in rule) return rule
  return { ...sourced(rule, index), source: { file: `shadowPolicy[${index}]` } }
}
