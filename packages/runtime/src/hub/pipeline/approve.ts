import { type ApprovalReply, type ApprovalRequest, type StoredApproval, ToolError } from '@tool-hub/core'
import { approvalReason, type Grant, repeatCallHint } from '../../approvals/index.ts'
import { type BoundInput, takeInput } from '../../limits/index.ts'
import type { ApprovalAnswered, ApprovalRequested } from '../../records/log/index.ts'
import type { RunState } from '../run-state.ts'
import type { Runtime } from '../runtime.ts'
import {
  boundTo,
  canCoverTargets,
  coveredCall,
  createApprovalRequest,
  patternOf,
  valuesToApprove,
} from './approval-request.ts'
import { type Call, type DecidedCall, emitEvent, type FoundCall } from './call.ts'
import { denyCall } from './decide.ts'
import { accepted, judgeInput } from './judge.ts'
import { readNamedScripts, scriptsOfCall } from './named-scripts.ts'
import { rememberedAnswer } from './remembered-answers.ts'

/** How many requests a call makes if identical calls take the answers. */
const MAX_ROUNDS = 3

/**
 * Step 7: gets an approval, from a remembered answer or from a person. It is bound to a hash of tool, final input, targets
 * and sandbox level. Approvers and hooks get a frozen copy of the input, and the hash is checked again afterwards: only the
 * approver can change the arguments while the call waits, and changed arguments pass through steps 2 to 5 again. Returns the
 * call as it was approved.
 */
export async function approve(runtime: Runtime, run: RunState, decided: DecidedCall): Promise<DecidedCall> {
  const { call, tool } = decided
  if (tool.origin === 'owner') {
    // The approver would be the caller itself.
    call.approvedBy = call.caller
    return decided
  }
  const remembered = await rememberedAnswer(runtime, run, decided.valid)
  if (remembered?.effect === 'deny') {
    throw new ToolError(
      'APPROVAL_DENIED',
      `${call.name} was already refused by ${remembered.by}: ${remembered.reason ?? 'no reason given'}.`,
    )
  }
  if (remembered) {
    call.approvedBy = `${remembered.by} (grant ${remembered.id})`
    return decided
  }
  for (let round = 1; round <= MAX_ROUNDS; round++) {
    const approved = await askPeople(runtime, run, decided, round)
    if (approved) return approved
  }
  throw new ToolError('CONFLICT', `The approvals of ${call.name} were used by identical calls of other processes.`)
}

/** Makes one request. Returns the approved call, or `undefined` if another call used the answer. */
async function askPeople(
  runtime: Runtime,
  run: RunState,
  decided: DecidedCall,
  round: number,
): Promise<DecidedCall | undefined> {
  const { call, valid } = decided
  const bound = boundTo(runtime, valid)
  const adopted = round === 1 ? await adopt(runtime, decided, bound.hash) : undefined
  const changed =
    valid.scripts.size === 0 ? [] : await runtime.people.grants.findChangedScripts(coveredCall(runtime, run, valid))
  const request = await createApprovalRequest(runtime, run, decided, { ...bound, round, adopted, changed })
  const log = logOf(runtime, run, call, request)
  log.requested()
  try {
    const reply = await call.waitFor(answerOf(runtime, decided, request, adopted))
    if (reply === 'lost') return undefined
    if (valid.scripts.size > 0) valid.scripts = await readNamedScripts(run, valid)
    if (boundTo(runtime, valid).hash !== request.hash) throw changedWhileWaiting(call.name)
    await assertStillKnown(runtime, call)
    call.approvedBy = reply.by ?? 'approver'
    log.answered(reply)
    return await applyReply(runtime, run, decided, { request, reply, log })
  } catch (error) {
    const refusal = refusalOf(error)
    if (refusal) {
      log.answered(refusal)
      await remember(runtime, run, decided, request, refusal)
    }
    log.unanswered(error)
    throw withRule(error, call)
  }
}

/** Throws if the principal has lost its rights, for example because its token was revoked, while the call waited. */
async function assertStillKnown({ identity: { rights, principalNow } }: Runtime, { name }: Call): Promise<void> {
  if (rights === undefined || (await principalNow(rights)) !== undefined) return
  throw new ToolError('FORBIDDEN', `${rights.name} may no longer call ${name}: its token was revoked or has expired.`)
}

async function answerOf(
  runtime: Runtime,
  { call, valid }: DecidedCall,
  request: ApprovalRequest,
  adopted: StoredApproval | undefined,
): Promise<ApprovalReply | 'lost'> {
  if (adopted?.answer) return runtime.people.approvals.useAnswer(adopted, request)
  const check = async ({ input }: ApprovalReply) => {
    if (input !== undefined) await checkChange(runtime, valid.found, input)
  }
  const onRequested = () => emitEvent(runtime, call, { type: 'approval-requested', callId: call.id, request })
  const { approve, onAsk } = call.options
  const options = { hash: request.hash, responders: [approve], isAdopted: adopted !== undefined, check, onRequested }
  const isLeft = onAsk === 'return'
  if (!isLeft) return runtime.people.approvals.ask(request, call.signal, options)
  await runtime.people.approvals.leave(request, options)
  throw left(request)
}

/** Returns the pending request of this call that an earlier process left behind, or `undefined` if the store fails. */
async function adopt(runtime: Runtime, { call }: DecidedCall, hash: string): Promise<StoredApproval | undefined> {
  try {
    // An answer for one principal does not apply to another.
    const caller = runtime.identity.principal ?? call.caller
    return await runtime.people.approvals.adopt({ hash, caller }, call.options.onAsk === 'return')
  } catch {
    // The caller makes a new request, which fails if it needs the store.
    return undefined
  }
}

/** An approval, as it is applied. */
interface Approval {
  readonly request: ApprovalRequest
  readonly reply: ApprovalReply
  readonly log: ApprovalLog
}

/** Applies the approval, with the arguments that the approver changed, and remembers it if requested. */
async function applyReply(
  runtime: Runtime,
  run: RunState,
  decided: DecidedCall,
  { request, reply, log }: Approval,
): Promise<DecidedCall> {
  const { call, valid } = decided
  let approved = decided
  if (reply.input !== undefined) {
    approved = await changeInput(runtime, run, valid.found, reply.input)
    call.report.notices.push(`${call.approvedBy} changed the arguments before the call ran.`)
  }
  const grant = await remember(runtime, run, approved, { ...request, ...boundTo(runtime, approved.valid) }, reply)
  log.allowed(reply, grant)
  return approved
}

/** Adds to APPROVAL_UNAVAILABLE the rule that the owner could add. */
function withRule(error: unknown, { caller, decided }: Call): unknown {
  const { decision } = decided ?? {}
  if (!ToolError.is(error) || error.code !== 'APPROVAL_UNAVAILABLE' || decision?.effect !== 'ask') return error
  const { message, details, cause } = error
  if (details?.waits || error.retryable) return error
  const fix = { ...decision.fix, hint: `${whoCouldAnswer(caller)} For all such calls: ${decision.fix.hint}` }
  return new ToolError(error.code, message, { fix, details, ...(cause !== undefined && { cause }) })
}

function whoCouldAnswer(caller: string): string {
  if (caller.startsWith('mcp:'))
    return 'Use a client that supports forms, or set approvals: { inbox: true } and answer with tool-hub approvals.'
  if (caller.startsWith('cli:')) return 'Use --yes, or --wait 5m and tool-hub approvals in another terminal.'
  return 'Set an approver: the approve option or hub.approvals.watch().'
}

function changedWhileWaiting(tool: string): ToolError {
  return new ToolError(
    'CONFLICT',
    `The arguments of ${tool}, or a script that it names, changed while it waited for an approval.`,
  )
}

function left(request: ApprovalRequest): ToolError {
  const { id, tool } = request
  return new ToolError('APPROVAL_UNAVAILABLE', `${tool} needs an approval: ${approvalReason(request)}`, {
    hint: repeatCallHint(request),
    details: { approval: id, waits: true },
  })
}

/** Stores an answer for later calls. If that fails, the answer still applies to this call. */
async function remember(
  runtime: Runtime,
  run: RunState,
  decided: DecidedCall,
  request: ApprovalRequest,
  reply: ApprovalReply,
): Promise<Grant | undefined> {
  try {
    const isMore = reply.covers === 'targets' && !canCoverTargets(decided.valid)
    // Changed arguments may result in another pattern, which the approver has not seen.
    const offered = reply.covers === 'pattern' ? patternOf(runtime, run, decided) : undefined
    const pattern = offered?.shown === request.coverage.pattern ? offered : undefined
    const values = reply.covers === 'values' ? valuesToApprove(runtime, run, decided) : undefined
    const answered = {
      ...request,
      hash: boundTo(runtime, decided.valid).callHash,
      scripts: scriptsOfCall(decided.valid),
      pattern,
      values,
    }
    return await runtime.people.grants.remember(answered, isMore ? { ...reply, covers: 'exact' } : reply)
  } catch (error) {
    decided.call.report.notices.push(`The answer was not remembered: ${(error as Error).message}`)
    return undefined
  }
}

type ApprovalLog = ReturnType<typeof logOf>

/** Records the progress of one request and emits its events. */
function logOf(runtime: Runtime, run: RunState, call: Call, request: ApprovalRequest) {
  const of = { callId: call.id, tool: request.tool, approval: request.id }
  const record = (event: ApprovalRequested | ApprovalAnswered) => run.records?.append(runtime.redactor.value(event))
  let answer: ApprovalReply | undefined
  return {
    requested() {
      const { hash: bound, rule, reason } = request
      record({ type: 'approval-requested', ...of, bound, rule, reason })
    },
    /** Notifies the other approvers. */
    answered(reply: ApprovalReply) {
      answer = reply
      const { decision, by = 'approver', via, input } = reply
      emitEvent(runtime, call, {
        type: 'approval-answered',
        callId: call.id,
        approval: request.id,
        decision,
        by,
        ...(via !== undefined && { via }),
        ...(input !== undefined && { changed: true as const }),
      })
    },
    allowed({ remember, covers, reason, via, input }: ApprovalReply, grant: Grant | undefined) {
      const lasts = typeof remember === 'object' ? `until ${remember.until}` : remember
      const change = input === undefined ? {} : { changed: true as const, argsHash: call.argsHash }
      const how = { by: call.approvedBy, via, remember: lasts, covers, values: grant?.values, reason }
      record({ type: 'approval-answered', ...of, decision: 'allow', ...how, ...change })
    },
    unanswered(error: unknown) {
      const change = answer?.input === undefined ? {} : { changed: true as const }
      const reason = (error as Error).message
      const decision = answer?.decision ?? unansweredAs(error)
      record({ type: 'approval-answered', ...of, decision, by: answer?.by, via: answer?.via, reason, ...change })
    },
  }
}

/** Returns the reply of a person who refused, which may be remembered like an approval. */
function refusalOf(error: unknown): ApprovalReply | undefined {
  if (!ToolError.is(error) || error.code !== 'APPROVAL_DENIED') return undefined
  return error.details?.reply as ApprovalReply | undefined
}

function unansweredAs(error: unknown): 'deny' | 'timeout' | 'aborted' | 'unavailable' {
  const code = ToolError.is(error) ? error.code : undefined
  if (code === 'ABORTED') return 'aborted'
  if (code === 'APPROVAL_TIMEOUT') return 'timeout'
  return code === 'APPROVAL_DENIED' || code === 'POLICY_DENIED' ? 'deny' : 'unavailable'
}

/**
 * Replaces the arguments of a call with those of its approver. They pass through the same steps as any: hooks, schema,
 * targets, policy. If policy decides `ask`, the approver has already answered; `deny` stays denied.
 */
async function changeInput(runtime: Runtime, run: RunState, found: FoundCall, input: unknown): Promise<DecidedCall> {
  const { value, bytes } = bareInput(runtime, input)
  found.call.replaceInput(value)
  found.call.inputBytes = bytes
  const decided = await judgeInput(runtime, run, found)
  denyCall(decided)
  return decided
}

/** Throws if changed arguments are invalid, so that the approver can still correct them. Changes nothing. */
export async function checkChange(runtime: Runtime, found: FoundCall, input: unknown): Promise<void> {
  accepted(found.call, await found.tool.input.validate(bareInput(runtime, input).value))
}

/** Throws if changed arguments contain a redaction mark, which would replace the secret that it stands for. */
function bareInput(runtime: Runtime, input: unknown): BoundInput {
  const { inputDepth: maxDepth, inputBytes: maxBytes, inputEntries: maxEntries } = runtime.settings
  const taken = takeInput(input, { maxDepth, maxBytes, maxEntries })
  if (!runtime.redactor.isMark(JSON.stringify(taken.value) ?? '')) return taken
  throw new ToolError('INPUT_SCHEMA_INVALID', 'The changed arguments contain a redaction mark in place of a secret.', {
    hint: 'Approve the call unchanged, or replace the marked text.',
  })
}
