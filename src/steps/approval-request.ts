import { approvalHash } from '../approval/approval-hash.ts'
import type { ApprovalRequest } from '../result.ts'
import type { Ask } from '../store.ts'
import { deepFreeze } from '../value/deep-freeze.ts'
import { viewsOf } from './ask-views/views-of.ts'
import type { Call } from './call.ts'
import type { Parts, RunState } from './parts.ts'
import { recentCalls } from './recent-calls.ts'
import { targetLines } from './target-lines.ts'
import { untilStopped } from './until-stopped.ts'

const MOST_NAMED_TARGETS = 5

/** What the person sees; secrets are marked out. An ask that was adopted keeps its id and its time. */
export async function approvalRequest(
  parts: Parts,
  run: RunState,
  call: Call,
  asked: { readonly hash: string; readonly targets: readonly string[]; readonly round: number; readonly adopted?: Ask },
): Promise<ApprovalRequest> {
  const { hash, targets, round, adopted } = asked
  const decision = call.decision!
  const { session, purpose } = call.options
  const now = parts.clock.now()
  const id = round === 1 ? `approval-${call.id}` : `approval-${call.id}-${round}`
  return deepFreeze({
    id: adopted?.id ?? id,
    callId: call.id,
    run: call.run,
    ...(session !== undefined && { session }),
    tool: call.name,
    input: structuredClone(parts.redactor.value(call.input)),
    targets: [...targets],
    rule: decision.rule,
    reason: decision.reason,
    caller: call.caller,
    ...(parts.principal !== undefined && { principal: parts.principal }),
    ...(purpose !== undefined && { purpose: parts.redactor.text(purpose) }),
    requests: [...decision.requests],
    labels: run.tainted ? ['untrusted' as const] : [],
    // They help to decide; that one cannot be had is no reason not to ask.
    views: await untilStopped(
      call,
      viewsOf(parts, run, call).catch(() => []),
    ),
    history: recentCalls(run),
    coverage: coverage(parts, call, targets),
    hash,
    askedAt: new Date(adopted?.askedAt ?? now).toISOString(),
    expiresAt: new Date(adopted?.expiresAt ?? now + parts.desk.timeoutMs).toISOString(),
  })
}

/** What the approval of a call is bound to: change any of it and the answer no longer holds. */
export function boundTo(parts: Parts, call: Call): { readonly hash: string; readonly targets: readonly string[] } {
  const targets = targetLines(parts, call)
  const { doubt } = call.tool!.tool
  const sandbox = call.sandbox ?? 'none'
  return { hash: approvalHash({ tool: call.name, input: call.input, targets, sandbox, doubt }), targets }
}

/** The target of a command says nothing of its folder, variables and input: a yes to it is a yes to this very call. */
export function canCoverTargets({ capabilities, tool }: Call): boolean {
  return !capabilities.includes('exec') && tool!.tool.doubt === undefined
}

function coverage(parts: Parts, call: Call, targets: readonly string[]): ApprovalRequest['coverage'] {
  const by = parts.principal === undefined ? '' : ` by ${parts.principal}`
  const exact = `this very call of ${call.name}${by}, with the same arguments`
  if (targets.length === 0 || !canCoverTargets(call)) return { exact }
  const others = targets.length - MOST_NAMED_TARGETS
  const named = targets.slice(0, MOST_NAMED_TARGETS).join(', ')
  const on = others > 0 ? `${named} and ${others} more` : named
  return { exact, targets: `every call of ${call.name}${by} on ${on}, whatever else it says` }
}
