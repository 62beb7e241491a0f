import { approvalHash } from '../approval/approval-hash.ts'
import type { Grant } from '../approval/grants.ts'
import { ToolError } from '../errors.ts'
import type { ApprovalAnswered, ApprovalRequested } from '../record/events.ts'
import type { ApprovalReply, ApprovalRequest } from '../result.ts'
import { deepFreeze } from '../value/deep-freeze.ts'
import type { Call } from './call.ts'
import type { Parts, RunState } from './parts.ts'
import { targetLines } from './target-lines.ts'
import { tell } from './tell.ts'

/**
 * Step 7: a remembered answer, or a person's. Bound to a hash of tool, final input, targets and sandbox level. Everybody
 * who is told gets a frozen copy, and the hash is looked at again: nobody changes what was approved while it waits.
 */
export async function approve(parts: Parts, run: RunState, call: Call): Promise<void> {
  if (call.tool!.origin === 'owner') {
    // The person who would be asked is the one who calls.
    call.approvedBy = call.caller
    return
  }
  const request = approvalRequest(parts, call)
  const { hash, tool, targets } = request
  const remembered = rememberedAnswer(parts, call, { hash, targets })
  if (remembered?.effect === 'deny') {
    throw new ToolError(
      'APPROVAL_DENIED',
      `${tool} was refused before by ${remembered.by}: ${remembered.reason ?? 'no reason given'}.`,
    )
  }
  if (remembered) {
    call.approvedBy = `${remembered.by} (grant ${remembered.id})`
    return
  }
  if (parts.inbox && !parts.inbox.isOpen) await parts.inbox.open()
  tell(parts, call, { type: 'approval-requested', callId: call.id, request })
  const of = { callId: call.id, tool, approval: request.id }
  const record = (event: ApprovalRequested | ApprovalAnswered) => run.records?.append(parts.redactor.value(event))
  record({ type: 'approval-requested', ...of, hash, rule: request.rule, reason: request.reason })
  try {
    const reply = await parts.desk.ask(request, call.signal, call.options.approve)
    if (hashOf(call, targets) !== hash) throw changed(tool)
    call.approvedBy = reply.by ?? 'approver'
    remember(parts, call, request, reply)
    const { covers, reason } = reply
    const lasts = typeof reply.remember === 'object' ? `until ${reply.remember.until}` : reply.remember
    record({
      type: 'approval-answered',
      ...of,
      decision: 'allow',
      by: call.approvedBy,
      remember: lasts,
      covers,
      reason,
    })
  } catch (error) {
    const refusal = refusalOf(error)
    if (refusal) remember(parts, call, request, refusal)
    const decision = unanswered(error)
    record({ type: 'approval-answered', ...of, decision, by: refusal?.by, reason: (error as Error).message })
    throw withRule(error, call)
  }
}

/** What was answered before and holds for this call too. */
export function rememberedAnswer(
  parts: Parts,
  call: Call,
  { hash, targets }: { readonly hash: string; readonly targets: readonly string[] } = boundTo(parts, call),
): Grant | undefined {
  const { session = `run:${call.run}` } = call.options
  // What is doubted is another tool than the one that was answered for; only a yes to this very doubt counts.
  const isExact = call.tool!.tool.doubt !== undefined
  return parts.grants.find({ hash, tool: call.name, targets, session, isExact })
}

function boundTo(parts: Parts, call: Call) {
  const targets = targetLines(parts, call)
  return { hash: hashOf(call, targets), targets }
}

/** Where nobody can be asked, a rule of the owner's is what helps: the one to add is named. */
function withRule(error: unknown, { decision, caller }: Call): unknown {
  if (!ToolError.is(error) || error.code !== 'APPROVAL_UNAVAILABLE' || decision?.effect !== 'ask') return error
  const { message, details, cause } = error
  const fix = { ...decision.fix, hint: `${whoCouldAnswer(caller)} For all such calls: ${decision.fix.hint}` }
  return new ToolError(error.code, message, { fix, details, ...(cause !== undefined && { cause }) })
}

function whoCouldAnswer(caller: string): string {
  return caller.startsWith('mcp:')
    ? 'Use a client that shows forms, or set approvals: { inbox: true } and answer with tool-hub approvals.'
    : 'Set an approver (approve, or whoever watches hub.approvals); on the command line use --yes or --wait.'
}

function changed(tool: string): ToolError {
  return new ToolError('CONFLICT', `The arguments of ${tool} changed while it waited for an approval.`)
}

/** The answer holds for this call, whether or not it can be kept for later ones. */
function remember(parts: Parts, call: Call, request: ApprovalRequest, reply: ApprovalReply): void {
  try {
    parts.grants.remember(request, asFarAsShown(call, reply))
  } catch (error) {
    call.notices.push(`The answer was not remembered: ${(error as Error).message}`)
  }
}

/** The target of a command says nothing of its folder, variables and input: a yes to it is a yes to this very call. */
function asFarAsShown({ capabilities, tool }: Call, reply: ApprovalReply): ApprovalReply {
  const isMore = capabilities.includes('exec') || tool!.tool.doubt !== undefined
  return reply.covers === 'targets' && isMore ? { ...reply, covers: 'exact' } : reply
}

/** What the person sees; secrets are marked out. */
function approvalRequest(parts: Parts, call: Call): ApprovalRequest {
  const decision = call.decision!
  const targets = targetLines(parts, call)
  const { session, purpose } = call.options
  return deepFreeze({
    id: `approval-${call.id}`,
    callId: call.id,
    run: call.run,
    ...(session !== undefined && { session }),
    tool: call.name,
    input: structuredClone(parts.redactor.value(call.input)),
    targets,
    rule: decision.rule,
    reason: decision.reason,
    caller: call.caller,
    ...(purpose !== undefined && { purpose: parts.redactor.text(purpose) }),
    requests: [...decision.requests],
    hash: hashOf(call, targets),
    askedAt: new Date(parts.clock.now()).toISOString(),
  })
}

function hashOf(call: Call, targets: readonly string[]): string {
  const { doubt } = call.tool!.tool
  return approvalHash({ tool: call.name, input: call.input, targets, sandbox: call.sandbox ?? 'none', doubt })
}

/** A person's no, which may be remembered like a yes. */
function refusalOf(error: unknown): ApprovalReply | undefined {
  if (!ToolError.is(error) || error.code !== 'APPROVAL_DENIED') return undefined
  return error.details?.reply as ApprovalReply | undefined
}

function unanswered(error: unknown): 'deny' | 'timeout' | 'aborted' | 'unavailable' {
  const code = ToolError.is(error) ? error.code : undefined
  if (code === 'ABORTED') return 'aborted'
  if (code === 'APPROVAL_TIMEOUT') return 'timeout'
  return code === 'APPROVAL_DENIED' ? 'deny' : 'unavailable'
}
