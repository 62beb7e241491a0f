import { compilePolicy, type PolicyLayers } from '../../policy/compile-policy.ts'
import { type Decision, decide } from '../../policy/decide.ts'
import type { RegisteredTool } from '../../steps/registry.ts'

/** What the rules say to a tool before its targets are known. */
export function decideByDefault(layers: PolicyLayers): (tool: RegisteredTool) => Decision {
  const policy = compilePolicy(layers)
  return ({ tool: { name, capabilities }, names, groups }) =>
    decide(policy, { tool: name, names, groups, capabilities, targets: [], caller: 'direct', tainted: false })
}
