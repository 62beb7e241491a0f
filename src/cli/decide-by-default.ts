import type { AnyTool } from '../define.ts'
import { compilePolicy, type PolicyLayers } from '../policy/compile-policy.ts'
import { type Decision, decide } from '../policy/decide.ts'
import { groupsOf } from '../policy/tool-groups.ts'
import { namesOf } from './names-of.ts'

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
