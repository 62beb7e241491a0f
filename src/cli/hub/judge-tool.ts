import type { Capability, Effect } from '../../define.ts'
import { policyLayers } from '../../hub/policy-layers.ts'
import type { HubOptions } from '../../options.ts'
import { compilePolicy } from '../../policy/compile-policy.ts'
import { type DemandDecision, decide } from '../../policy/decide.ts'
import type { RegisteredTool } from '../../steps/registry.ts'

/** What the rules say to one capability of a tool before its targets are known. */
export interface CapabilityVerdict {
  /** Absent for a pure tool. */
  readonly capability?: Capability
  readonly effect: Effect
  readonly rule: string
  readonly source: string
  readonly reason: string
  /** Which calls need it, where not all do. */
  readonly only?: string
  /** What closes it all the same. */
  readonly but?: string
  /** What would open it. */
  readonly fix?: string
}

/** What the rules say to a tool: to what all its calls need, then to each capability. */
export interface ToolVerdict extends Omit<CapabilityVerdict, 'capability' | 'only' | 'but' | 'fix'> {
  readonly capabilities: readonly CapabilityVerdict[]
}

/** Capabilities that a tool with targets needs for some of its calls, and which. */
export const NEEDED_BY: ReadonlyMap<Capability | undefined, string> = new Map([
  ['danger:destructive', 'calls that delete, or overwrite what was not read'],
  ['send', 'calls that send data'],
])

/** Judges tools by the rules of these options. */
export function judgeTools(options: HubOptions): (tool: RegisteredTool) => ToolVerdict {
  const policy = compilePolicy(policyLayers(options))
  const hasHosts = (options.sandbox?.network ?? []).length > 0
  return (entry) => {
    const { tool, names, groups, capabilityList } = entry
    const asked = { tool: tool.name, names, groups, targets: [], caller: 'direct', tainted: false } as const
    const always = tool.targets ? capabilityList.filter((each) => !NEEDED_BY.has(each)) : capabilityList
    const { effect, rule, source, reason } = decide(policy, {
      ...asked,
      capabilities: always.length > 0 ? always : capabilityList,
    })
    const { demands } = decide(policy, { ...asked, capabilities: capabilityList })
    const capabilities = demands.map((demand) => verdictOn(demand, entry, hasHosts))
    return { effect, rule, source, reason, capabilities }
  }
}

function verdictOn(demand: DemandDecision, { tool }: RegisteredTool, hasHosts: boolean): CapabilityVerdict {
  const { capability, effect, rule, source, reason } = demand
  const only = tool.targets && NEEDED_BY.get(capability)
  const isClosed = effect !== 'deny' && capability === 'network' && !hasHosts
  return {
    ...(capability && { capability }),
    effect,
    rule,
    source,
    reason,
    ...(only && { only }),
    ...(isClosed && { but: 'no host is named in sandbox.network' }),
    ...(effect !== 'allow' && { fix: fixOf(demand, tool.name, only !== undefined) }),
  }
}

/** Nobody should open destruction everywhere because one file has to go. */
function fixOf({ capability, layer, fix }: DemandDecision, tool: string, hasTargets: boolean): string {
  if (capability !== 'danger:destructive' || layer !== 'defaults') return fix.hint
  const rule = hasTargets ? '{ ask: danger:destructive, on: "./drafts/**" }' : `{ ask: ${JSON.stringify(tool)} }`
  return `A rule such as ${rule} in policy of tool-hub.yaml opens it${hasTargets ? ' there' : ''}.`
}
