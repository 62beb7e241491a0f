import { type Capability, type SkillRequest, ToolError } from '../../core/index.ts'
import { withStop } from '../../lib/index.ts'
import { type Decision, decide, type PolicyQuestion, requestsFor } from '../../policy/index.ts'
import type { RunState, Runtime } from '../runtime.ts'
import type { Call, DecidedCall, FoundCall, ValidCall } from './call.ts'

/** Step 5: the caller's kind and the policy; hooks may tighten the decision afterwards. */
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

/** Adds what the skills that this run has loaded ask for. */
function withRequests(decision: Decision, asked: PolicyQuestion, requests: readonly SkillRequest[]): Decision {
  if (requests.length === 0) return decision
  return { ...decision, requests: [...new Set([...decision.requests, ...requestsFor(requests, asked)])] }
}

/** Rules were written for the tool as it was; what it is now, a person looks at first. */
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
    fix: { hint: 'Approve it when asked. What an MCP server changed is accepted with `tool-hub mcp pin`.' },
  }
}

/** What policy is asked about a call. */
export function question({ settings }: Runtime, run: Taint, call: FoundCall): PolicyQuestion {
  const { tool, ruleNames: names, groups } = call.tool
  const { callerKind: caller = 'direct', grants, untrusted } = call.options
  const { capabilities, targets, readings } = call
  const tainted = run.tainted || untrusted === true
  const isUnsandboxed = call.sandbox === 'none' && settings.isSandboxRequired
  return { tool: tool.name, names, groups, capabilities, targets, readings, isUnsandboxed, caller, tainted, grants }
}

/** Throws POLICY_DENIED if the call is denied, with the rule and what would change it. */
export function denyCall(call: DecidedCall): void {
  if (call.effect !== 'deny') return
  const { effect, rule, reason, fix } = call.decision
  if (effect === 'deny') {
    const unread = unreadThatDenies(call)
    const about = unread === undefined ? '' : ` ${JSON.stringify(unread)} exists, and this run has not read it.`
    // A rule without a reason of its own has been named already.
    const why = reason === `Denied by ${rule}.` ? '.' : `: ${withStop(reason)}`
    throw new ToolError('POLICY_DENIED', `${call.name} is denied by ${rule}${why}${about}`, {
      // Without a key: reading is for the caller to do.
      fix: unread === undefined ? fix : { hint: `Read the whole file first, then write. Or: ${fix.hint}` },
    })
  }
  throw new ToolError('POLICY_DENIED', `${call.name} is denied by a decide hook.`, {
    hint: 'Ask the owner of the hook.',
  })
}

/** A file that is there and that nobody has looked at, where that alone is what denies: reading it first would help. */
function unreadThatDenies({ unread, decision }: DecidedCall): string | undefined {
  const denied = decision.demands.filter(({ effect }) => effect === 'deny')
  return denied.every(({ capability }) => capability === 'danger:destructive') ? unread : undefined
}

/** All that a decision looks at of a run. */
type Taint = Pick<RunState, 'tainted'>

/** At the moment of use: a target that was not judged before the call is judged now, and nobody can be asked any more. */
export function holdToDecision(
  runtime: Runtime,
  run: Taint,
  call: DecidedCall,
  capability: Capability,
  value: string,
): void {
  if (isNamed(call, capability, value)) return
  const { effect, rule, fix } = decideNow(runtime, run, call, capability, value)
  // The person who would be asked has said yes already, to all that is below; or is the one who calls.
  const isYes = effect === 'allow' || (effect === 'ask' && (isApproved(call, capability, value) || isOwners(call)))
  if (!isYes) throw unnamed(call, `${capability} ${value}`, `${rule} does not allow it unasked`, fix.key)
  // A decide hook cannot be asked here, where nothing may wait; without its yes there is none.
  if (runtime.hooks.looksAt('decide', call))
    throw unnamed(call, `${capability} ${value}`, 'a decide hook was not asked')
}

/** The decision on one thing at the moment of use. */
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
  return new ToolError('POLICY_DENIED', `${call.name} reached for ${target}, which it had not named: ${why}.`, {
    fix: { key, hint: 'Have the tool name the target in targets(), so that it is judged before the call.' },
  })
}

/** The owner's own calls, such as undo. */
export function isOwners({ tool }: FoundCall): boolean {
  return tool.origin === 'owner'
}

/** Whether the call has named the target, so that it was part of the decision. */
export function isNamed({ targets }: Call, capability: Capability, value: string): boolean {
  return targets.some((target) => target.capability === capability && target.value === value)
}
