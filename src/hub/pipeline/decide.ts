import { type Capability, type SkillRequest, ToolError } from '../../core/index.ts'
import { withStop } from '../../lib/index.ts'
import { type Decision, decide, type PolicyQuestion, requestsFor } from '../../policy/index.ts'
import type { RunState, Runtime } from '../runtime.ts'
import type { Call, DecidedCall, FoundCall, ValidCall } from './call.ts'

/** Step 5: checks the kind of the caller and applies the policy. Hooks may tighten the decision afterwards. */
export function decideCall(runtime: Runtime, run: Taint, call: ValidCall): DecidedCall {
  const { tool, callers } = call.tool
  const { callerKind = 'direct' } = call.options
  if (!callers.includes(callerKind)) {
    throw new ToolError('POLICY_DENIED', `${tool.name} may not be called by a ${callerKind}.`, {
      hint: `Its callers: ${callers.join(', ')}.`,
    })
  }
  const asked = question(runtime, run, call)
  const decision = withRequests(decide(runtime.policy, asked), asked, runtime.sources.requests(call.run))
  call.decision = tool.doubt === undefined ? decision : doubted(decision, tool.doubt)
  call.effect = call.decision.effect
  return call as DecidedCall
}

/** Adds the requests of the skills that this run has loaded. */
function withRequests(decision: Decision, asked: PolicyQuestion, requests: readonly SkillRequest[]): Decision {
  if (requests.length === 0) return decision
  return { ...decision, requests: [...new Set([...decision.requests, ...requestsFor(requests, asked)])] }
}

/** Tightens `allow` to `ask` for a tool in doubt: the rules were written for its earlier definition. */
function doubted(decision: Decision, doubt: string): Decision {
  if (decision.effect === 'deny') return decision
  if (decision.effect === 'ask') return { ...decision, reason: `${decision.reason} ${doubt}` }
  return {
    ...decision,
    effect: 'ask',
    rule: 'default: a tool in doubt asks',
    source: 'built in',
    layer: 'fallback',
    reason: doubt,
    fix: { hint: 'Approve the call when asked. Accept the changes of an MCP server with `tool-hub mcp pin`.' },
  }
}

/** Returns the question about a call that policy decides. */
export function question({ settings }: Runtime, run: Taint, call: FoundCall): PolicyQuestion {
  const { tool, ruleNames: names, groups } = call.tool
  const { callerKind: caller = 'direct', grants, untrusted } = call.options
  const { capabilities, targets, readings } = call
  const tainted = run.tainted || untrusted === true
  const isUnsandboxed = call.sandbox === 'none' && settings.isSandboxRequired
  return { tool: tool.name, names, groups, capabilities, targets, readings, isUnsandboxed, caller, tainted, grants }
}

/** Throws POLICY_DENIED if the call is denied, with the rule and the fix. */
export function denyCall(call: DecidedCall): void {
  if (call.effect !== 'deny') return
  const { effect, rule, reason, fix } = call.decision
  if (effect === 'deny') {
    const unread = unreadThatDenies(call)
    const about = unread === undefined ? '' : ` ${JSON.stringify(unread)} exists, and this run has not read it.`
    // The default reason only repeats the rule.
    const why = reason === `Denied by ${rule}.` ? '.' : `: ${withStop(reason)}`
    throw new ToolError('POLICY_DENIED', `${call.name} is denied by ${rule}${why}${about}`, {
      // Without a key, because the caller itself can read the file.
      fix: unread === undefined ? fix : { hint: `Read the whole file first, then write. Or: ${fix.hint}` },
    })
  }
  throw new ToolError('POLICY_DENIED', `${call.name} is denied by a decide hook.`, {
    hint: 'Ask the owner of the hook.',
  })
}

/** Returns the existing file that the run has not read, if that alone is why the call is denied. */
function unreadThatDenies({ unread, decision }: DecidedCall): string | undefined {
  const denied = decision.demands.filter(({ effect }) => effect === 'deny')
  return denied.every(({ capability }) => capability === 'danger:destructive') ? unread : undefined
}

/** The state of a run that decisions depend on. */
type Taint = Pick<RunState, 'tainted'>

/** Checks a target at the moment of use. Throws POLICY_DENIED unless it was decided before or is allowed without asking. */
export function holdToDecision(
  runtime: Runtime,
  run: Taint,
  call: DecidedCall,
  capability: Capability,
  value: string,
): void {
  if (isNamed(call, capability, value)) return
  const { effect, rule, fix } = decideNow(runtime, run, call, capability, value)
  // The approver has already approved everything below the target, or the owner is the caller.
  const isYes = effect === 'allow' || (effect === 'ask' && (isApproved(call, capability, value) || isOwners(call)))
  if (!isYes) throw unnamed(call, `${capability} ${value}`, `${rule} does not allow it without approval`, fix.key)
  // A decide hook cannot run here, because nothing may wait; without its consent the target is denied.
  if (runtime.hooks.looksAt('decide', call))
    throw unnamed(call, `${capability} ${value}`, 'a decide hook was not asked')
}

/** Decides on one target at the moment of use. */
export function decideNow(
  runtime: Runtime,
  run: Taint,
  call: DecidedCall,
  capability: Capability,
  value: string,
): Decision {
  const asked = { ...question(runtime, run, call), capabilities: [capability], targets: [{ capability, value }] }
  return decide(runtime.policy, asked)
}

function isApproved({ approvedBy, targets }: Call, capability: Capability, value: string): boolean {
  // A command has nothing below it.
  if (approvedBy === undefined || capability === 'exec') return false
  return targets.some((target) => target.capability === capability && value.startsWith(`${target.value}/`))
}

function unnamed(call: Call, target: string, why: string, key?: string): ToolError {
  return new ToolError('POLICY_DENIED', `${call.name} used ${target}, which is not among its targets: ${why}.`, {
    fix: { key, hint: 'Return the target from targets() of the tool, so that policy decides before the call.' },
  })
}

/** Returns whether the owner itself makes the call, such as an undo. */
export function isOwners({ tool }: FoundCall): boolean {
  return tool.origin === 'owner'
}

/** Returns whether the target was part of the decision. */
export function isNamed({ targets }: Call, capability: Capability, value: string): boolean {
  return targets.some((target) => target.capability === capability && target.value === value)
}
