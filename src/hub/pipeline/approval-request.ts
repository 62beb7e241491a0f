import { isStoredInPart } from '../../approvals/index.ts'
import type { ApprovalRequest, StoredApproval } from '../../core/index.ts'
import { deepFreeze, hashJson } from '../../lib/index.ts'
import { callRisks, viewsOf } from './approval-views/call-views.ts'
import { NOT_WHOLE } from './approval-views/diff-views.ts'
import { type Call, givenIds } from './call.ts'
import type { Parts, RunState } from './parts.ts'
import { patternOf } from './pattern-grant.ts'
import { recentCalls } from './recent-calls.ts'
import { targetLines } from './target-lines.ts'
import { untilStopped } from './until-stopped.ts'

const MAX_NAMED_TARGETS = 5

/** What the approver sees, without secrets. An adopted request keeps its id and its times. */
export async function createApprovalRequest(
  parts: Parts,
  run: RunState,
  call: Call,
  asked: {
    readonly hash: string
    readonly targets: readonly string[]
    readonly round: number
    readonly adopted?: StoredApproval
  },
): Promise<ApprovalRequest> {
  const { hash, targets, round, adopted } = asked
  const decision = call.decision!
  const { session, purpose } = call.options
  const now = parts.clock.now()
  const redactor = parts.redactor.forDecision({ runsCode: call.capabilities.includes('exec') })
  // Views only help to decide: the request is made without one that fails.
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
    expiresAt: new Date(adopted?.expiresAt ?? now + parts.approvals.timeoutMs).toISOString(),
  }
  const warnings = [redactor.warning(), ...viewWarning(request), ...(await keepWhole(run, call, request))]
  const reason = [decision.reason, ...warnings.filter((warning) => warning !== undefined)].join(' ')
  return deepFreeze({ ...request, reason })
}

function viewWarning({ views }: ApprovalRequest): string[] {
  const count = views.filter((view) => view.kind === 'diff' && view.diff.startsWith(NOT_WHOLE)).length
  return count === 0 ? [] : [`WARNING: of the changes of files, ${count} are not shown whole.`]
}

/** If only the ends of the arguments are stored, keeps them whole as an artifact of the run. */
async function keepWhole({ records }: RunState, call: Call, request: ApprovalRequest): Promise<string[]> {
  if (!records || !isStoredInPart(request)) return []
  try {
    const options = { name: `${request.id}.json`, mediaType: 'application/json' }
    const artifact = await untilStopped(call, records.putArtifact(JSON.stringify(request.input), options))
    call.artifacts.push(artifact)
    return [`All arguments are ${artifact.ref} of the run.`]
  } catch {
    // The request says what is missing; the records decide whether a failing disk stops the call.
    return []
  }
}

/** What the approval of a call is bound to: if any of it changes, the answer no longer holds. */
export function boundTo(parts: Parts, call: Call): { readonly hash: string; readonly targets: readonly string[] } {
  const targets = targetLines(parts, call)
  const { doubt } = call.tool!.tool
  const sandbox = call.sandbox ?? 'none'
  return { hash: approvalHash({ tool: call.name, input: call.input, targets, sandbox, doubt }), targets }
}

/** The hash that an answer is bound to. */
export function approvalHash({
  tool,
  input,
  targets,
  sandbox,
  doubt,
}: {
  readonly tool: string
  readonly input: unknown
  readonly targets: readonly string[]
  /** The level of isolation: an approval for inside the sandbox does not hold outside. */
  readonly sandbox: string
  /** Why the tool is in doubt: an approval of one change does not cover the next. */
  readonly doubt?: string
}): string {
  return hashJson({ tool, input, targets, sandbox, doubt })
}

/** The target of a command does not include its folder, variables and input: an approval covers this very call only. */
export function canCoverTargets({ capabilities, tool }: Call): boolean {
  return !capabilities.includes('exec') && tool!.tool.doubt === undefined
}

/** The pattern for people; one that holds a secret is not offered. */
function patternCoverage(parts: Parts, run: RunState, call: Call): { readonly pattern?: string } {
  const shown = patternOf(parts, run, call)?.shown
  return shown === undefined || parts.redactor.text(shown) !== shown ? {} : { pattern: shown }
}

function coverage(parts: Parts, call: Call, targets: readonly string[]): ApprovalRequest['coverage'] {
  const by = parts.principal === undefined ? '' : ` by ${parts.principal}`
  const exact = `this very call of ${call.name}${by}, with the same arguments`
  if (targets.length === 0 || !canCoverTargets(call)) return { exact }
  const others = targets.length - MAX_NAMED_TARGETS
  const named = targets.slice(0, MAX_NAMED_TARGETS).join(', ')
  const on = others > 0 ? `${named} and ${others} more` : named
  return { exact, targets: `every call of ${call.name}${by} on ${on}, whatever else it says` }
}
