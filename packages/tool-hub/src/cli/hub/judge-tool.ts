import type { Capability, Effect, HubOptions, ResolvedTarget, SourcedRule } from '@tool-hub/core'
import { compilePolicy, type DemandDecision, decide, effectOf, type Policy, STRICTNESS } from '@tool-hub/policy'
import { policyLayers, type RegisteredTool } from '@tool-hub/runtime/hub'

/** What the rules decide about one capability of a tool before its targets are known. */
export interface CapabilityVerdict {
  /** Absent for a pure tool. */
  readonly capability?: Capability
  readonly effect: Effect
  readonly rule: string
  readonly source: string
  readonly reason: string
  /** Which calls need it, if not all do. */
  readonly only?: string
  /** What denies it even so. */
  readonly but?: string
  /** What would allow it. */
  readonly fix?: string
}

/** What the rules decide about a tool: about what all its calls need, then about each capability. */
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
  const layers = policyLayers(options)
  const policy = compilePolicy(layers)
  const forExceptions = compilePolicy({ ...layers, owner: layers.owner?.filter(isWithoutExceptions) })
  const hasHosts = (options.sandbox?.network ?? []).length > 0
  return (entry) => {
    const { tool, names, groups } = entry
    const { capabilities: needed, targets } = fixedDemands(entry)
    const asked = { tool: tool.name, names, groups, targets, caller: 'direct', tainted: false } as const
    const always = tool.targets ? needed.filter((each) => !NEEDED_BY.has(each)) : needed
    const hasUnknown = tool.targets !== undefined && targets.length === 0
    const decideFor = (policy: Policy) => ({
      call: decide(policy, {
        ...asked,
        targets: targets.filter(({ capability }) => always.length === 0 || always.includes(capability)),
        capabilities: always.length > 0 ? always : needed,
      }),
      demands: decide(policy, { ...asked, capabilities: needed }).demands,
    })
    const all = decideFor(policy)
    const exceptions = hasUnknown || policy.readsArguments ? decideFor(forExceptions) : all
    const { effect, rule, source, reason } = milder(all.call, exceptions.call)
    const capabilities = all.demands.map((demand, index) => {
      const shown = milder(demand, exceptions.demands[index]!)
      return verdictOn(shown, entry, { hasHosts, elsewhere: shown === demand ? undefined : demand.rule })
    })
    return { effect, rule, source, reason, capabilities }
  }
}

/** The capabilities of remote tools, whose targets are plain texts. */
const REMOTE = new Set<Capability>(['remote', 'danger:destructive'])

interface Demands {
  readonly capabilities: readonly Capability[]
  readonly targets: readonly ResolvedTarget[]
}

/** A remote tool has one fixed target, whatever its arguments are, so it is decided on that. */
function fixedDemands({ tool, capabilityList }: RegisteredTool): Demands {
  const unknown = { capabilities: capabilityList, targets: [] }
  const isRemote = capabilityList.includes('remote') && capabilityList.every((each) => REMOTE.has(each))
  if (!tool.targets || !isRemote) return unknown
  try {
    const stated = Object.entries(tool.targets({}, { isUnread: () => false })) as [Capability, unknown][]
    const unused = stated.filter(([, value]) => Array.isArray(value) && value.length === 0).map(([name]) => name)
    const targets = stated.flatMap(([capability, value]) =>
      [value].flat().flatMap((each) => (typeof each === 'string' ? [{ capability, value: each }] : [])),
    )
    return { capabilities: capabilityList.filter((each) => !unused.includes(each)), targets }
  } catch {
    // Its targets depend on its arguments.
    return unknown
  }
}

/** A rule that restricts all but some targets, or some arguments, says nothing about the others. */
function isWithoutExceptions({ rule }: SourcedRule): boolean {
  return (rule.except === undefined && rule.where === undefined) || effectOf(rule) === 'allow'
}

/** Whether a target is an exception of a rule is not known yet: the decision for exceptions is shown if it is milder. */
function milder<T extends { readonly effect: Effect }>(other: T, exception: T): T {
  return STRICTNESS[exception.effect] < STRICTNESS[other.effect] ? exception : other
}

interface Beside {
  /** Whether sandbox.network names a host. */
  readonly hasHosts: boolean
  /** The rule that decides on all targets but its exceptions. */
  readonly elsewhere: string | undefined
}

function verdictOn(
  demand: DemandDecision,
  { tool }: RegisteredTool,
  { hasHosts, elsewhere }: Beside,
): CapabilityVerdict {
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
    ...(elsewhere !== undefined && { but: `elsewhere ${elsewhere}` }),
    ...(isClosed && { but: 'no host is named in sandbox.network' }),
    ...(effect !== 'allow' && { fix: fixOf(demand, tool.name, only !== undefined) }),
  }
}

/** The suggested rule allows destruction only where it is needed. */
function fixOf({ capability, layer, fix }: DemandDecision, tool: string, hasTargets: boolean): string {
  if (capability !== 'danger:destructive' || layer !== 'defaults') return fix.hint
  const rule = hasTargets ? '{ ask: danger:destructive, on: "./drafts/**" }' : `{ ask: ${JSON.stringify(tool)} }`
  return `A rule such as ${rule} in policy of tool-hub.yaml opens it${hasTargets ? ' there' : ''}.`
}
