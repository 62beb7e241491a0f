import { approvalHash } from '../approval/approval-hash.ts'
import { isFiledInPart } from '../approval/encode-request.ts'
import type { ApprovalRequest } from '../result.ts'
import type { Ask } from '../store.ts'
import { deepFreeze } from '../value/deep-freeze.ts'
import { callRisks } from './ask-views/call-risks.ts'
import { NOT_WHOLE } from './ask-views/show-ends.ts'
import { viewsOf } from './ask-views/views-of.ts'
import { type Call, givenIds } from './call.ts'
import type { Parts, RunState } from './parts.ts'
import { patternOf } from './pattern-grant.ts'
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
  const redactor = parts.redactor.forDecision({ runsCode: call.capabilities.includes('exec') })
  // They help to decide; that one cannot be had is no reason not to ask.
  const views = await untilStopped(
    call,
    viewsOf(parts, run, call, redactor).catch(() => []),
  )
  const risks = callRisks(call, views, redactor)
  const id = round === 1 ? `approval-${call.id}` : `approval-${call.id}-${round}`
  const request: ApprovalRequest = {
    id: adopted?.id ?? id,
    callId: call.id,
    run: call.run,
    ...(session !== undefined && { session }),
    tool: call.name,
    input: structuredClone(redactor.value(call.input)),
    targets: [...targets],
    rule: decision.rule,
    reason: decision.reason,
    caller: call.caller,
    ...(parts.principal !== undefined && { principal: parts.principal }),
    ...(purpose !== undefined && { purpose: redactor.text(purpose) }),
    ...parts.redactor.value(givenIds(call.options)),
    requests: [...decision.requests],
    labels: run.tainted ? ['untrusted' as const] : [],
    ...(risks.length > 0 && { risks }),
    views,
    history: recentCalls(run),
    coverage: { ...coverage(parts, call, targets), ...patternCoverage(parts, run, call) },
    hash,
    askedAt: new Date(adopted?.askedAt ?? now).toISOString(),
    expiresAt: new Date(adopted?.expiresAt ?? now + parts.desk.timeoutMs).toISOString(),
  }
  const warnings = [redactor.warning(), ...viewWarning(request), ...(await keepWhole(run, call, request))]
  const reason = [decision.reason, ...warnings.filter((warning) => warning !== undefined)].join(' ')
  return deepFreeze({ ...request, reason })
}

function viewWarning({ views }: ApprovalRequest): string[] {
  const count = views.filter((view) => view.kind === 'diff' && view.diff.startsWith(NOT_WHOLE)).length
  return count === 0 ? [] : [`WARNING: of the changes of files, ${count} are not shown whole.`]
}

/** Arguments of which an ask shows the ends are there to be read as a whole, where the run has a place for it. */
async function keepWhole({ records }: RunState, call: Call, request: ApprovalRequest): Promise<string[]> {
  if (!records || !isFiledInPart(request)) return []
  try {
    const options = { name: `${request.id}.json`, mediaType: 'application/json' }
    const artifact = await untilStopped(call, records.putArtifact(JSON.stringify(request.input), options))
    call.artifacts.push(artifact)
    return [`All arguments are ${artifact.ref} of the run.`]
  } catch {
    // What is missing in the ask is told there; whether a disk that fails stops the call is for the record to say.
    return []
  }
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

/** The pattern as people read it; nothing with a secret in it is offered. */
function patternCoverage(parts: Parts, run: RunState, call: Call): { readonly pattern?: string } {
  const shown = patternOf(parts, run, call)?.shown
  return shown === undefined || parts.redactor.text(shown) !== shown ? {} : { pattern: shown }
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
