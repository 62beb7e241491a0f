import { homedir } from 'node:os'
import type { AnyTool } from '../define.ts'
import type { HubOptions } from '../options.ts'
import { compilePolicy, type PolicyLayers } from '../policy/compile-policy.ts'
import { type Decision, decide } from '../policy/decide.ts'
import { DEFAULT_POLICY } from '../policy/default-policy.generated.ts'
import { groupsOf } from '../policy/tool-groups.ts'
import type { SourcedRule } from '../rule.ts'
import { namesOf } from './names-of.ts'

/** Every rule that holds, by who made it, as a hub computes it. A config knows the source of each of its rules. */
export function effectiveLayers({ policy = [], requests = [] }: HubOptions): PolicyLayers {
  const owner = policy.filter((rule): rule is SourcedRule => 'rule' in rule)
  return { ...DEFAULT_POLICY, owner, requests, home: homedir() }
}

/** What the rules say to a tool before its targets are known. */
export function decideByDefault(layers: PolicyLayers): (tool: AnyTool) => Decision {
  const policy = compilePolicy(layers)
  return (tool) => {
    const { name, group, capabilities } = tool
    const names = namesOf(tool)
    const groups = groupsOf({ name, names, group })
    return decide(policy, { tool: name, names, groups, capabilities, targets: [], caller: 'direct', tainted: false })
  }
}
