import type { Rule, SourcedRule } from '../core/index.ts'
import { compilePolicy, type Policy, type PolicyLayers } from '../policy/index.ts'
import { sourced } from './policy-layers.ts'

/** The rules of a hub: those that hold now, and what becomes of them with the rules of one principal. */
export class PolicyHistory {
  #layers: PolicyLayers
  #policy: Policy

  constructor(layers: PolicyLayers) {
    this.#layers = layers
    this.#policy = compilePolicy(layers)
  }

  get layers(): PolicyLayers {
    return this.#layers
  }

  get policy(): Policy {
    return this.#policy
  }

  /** Replaces the owner's rules; those that cannot be compiled change nothing. */
  replace(rules: readonly (Rule | SourcedRule)[]): void {
    const layers = { ...this.#layers, owner: rules.map(sourced) }
    this.#policy = compilePolicy(layers)
    this.#layers = layers
  }

  /** The policy with further rules beside the owner's, also after those are replaced. */
  beside(rules: readonly (Rule | SourcedRule)[]): () => Policy {
    if (rules.length === 0) return () => this.#policy
    const own = rules.map(sourced)
    const compile = () => compilePolicy({ ...this.#layers, owner: [...(this.#layers.owner ?? []), ...own] })
    let from = this.#policy
    let compiled = compile()
    return () => {
      if (from === this.#policy) return compiled
      from = this.#policy
      compiled = compile()
      return compiled
    }
  }
}
