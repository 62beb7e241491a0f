import { type SkillRequest, ToolError } from '../../core/index.ts'
import { withStop } from '../../lib/index.ts'
import { type Decision, decide, type PolicyQuestion, requestsFor } from '../../policy/index.ts'
import type { Parts, RunState } from '../runtime.ts'
import type { Call } from './call.ts'

/** Step 5: the caller's kind and the policy; hooks may tighten it after. */
export function decideCall(parts: Parts, run: RunState, call: Call): void {
  const { tool, callers } = call.tool!
  const { callerKind = 'direct' } = call.options
  if (!callers.includes(callerKind)) {
    throw new ToolError('POLICY_DENIED', `${tool.name} may not be called by a ${callerKind}.`, {
      hint: `Its callers: ${callers.join(', ')}.`,
    })
  }
  const asked = question(parts, run, call)
  const decision = withRequests(decide(parts.policy, asked), asked, parts.sources.requests(call.run))
  call.decision = tool.doubt === undefined ? decision : doubted(decision, tool.doubt)
  call.effect = call.decision.effect
}

/** What the skills that this run has loaded ask for, beside what the owner wrote down. */
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
export function question({ settings }: Parts, run: Pick<RunState, 'tainted'>, call: Call): PolicyQuestion {
  const { tool, ruleNames: names, groups } = call.tool!
  const { callerKind: caller = 'direct', grants, untrusted } = call.options
  const { capabilities, targets, readings } = call
  const tainted = run.tainted || untrusted === true
  const isUnsandboxed = call.sandbox === 'none' && settings.isSandboxRequired
  return { tool: tool.name, names, groups, capabilities, targets, readings, isUnsandboxed, caller, tainted, grants }
}

/** Ends a denied call with the rule that denied it and what would change that. */
export function refuse(call: Call): void {
  if (call.effect !== 'deny') return
  const { effect, rule, reason, fix } = call.decision!
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
function unreadThatDenies({ unread, decision }: Call): string | undefined {
  const denied = decision!.demands.filter(({ effect }) => effect === 'deny')
  return denied.every(({ capability }) => capability === 'danger:destructive') ? unread : undefined
}
