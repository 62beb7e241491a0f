import { type ApprovedValue, approvalReason, type Grant, repeatCallHint } from '../../approvals/index.ts'
import { type ApprovalReply, type ApprovalRequest, type StoredApproval, ToolError } from '../../core/index.ts'
import { hashJson } from '../../lib/index.ts'
import { type BoundInput, takeInput } from '../../limits/index.ts'
import type { ValueEvidence } from '../../policy/index.ts'
import type { ApprovalAnswered, ApprovalRequested } from '../../records/log/index.ts'
import type { RunMoment } from '../run-index/run-moments.ts'
import type { RunState, Runtime } from '../runtime.ts'
import {
  boundTo,
  canCoverTargets,
  createApprovalRequest,
  patternOf,
  permits,
  valuesToApprove,
} from './approval-request.ts'
import { type DecidedCall, emitEvent, type FoundCall, type ValidCall } from './call.ts'
import { denyCall } from './decide.ts'
import { accepted } from './validate.ts'

/** Steps 2 to 5 of the pipeline. */
type JudgeInput = (runtime: Runtime, run: RunState, call: FoundCall) => Promise<DecidedCall>

/** How many requests a call makes if identical calls take the answers. */
const MAX_ROUNDS = 3

/**
 * Step 7: gets an approval, from a remembered answer or from a person. It is bound to a hash of tool, final input, targets
 * and sandbox level. Approvers and hooks get a frozen copy of the input, and the hash is checked again afterwards: only the
 * approver can change the arguments while the call waits, and changed arguments pass through steps 2 to 5 again.
 */
export async function approve(
  runtime: Runtime,
  run: RunState,
  call: DecidedCall,
  judgeInput: JudgeInput,
): Promise<void> {
  if (call.tool.origin === 'owner') {
    // The approver would be the caller itself.
    call.approvedBy = call.caller
    return
  }
  const remembered = await rememberedAnswer(runtime, run, call)
  if (remembered?.effect === 'deny') {
    throw new ToolError(
      'APPROVAL_DENIED',
      `${call.name} was already refused by ${remembered.by}: ${remembered.reason ?? 'no reason given'}.`,
    )
  }
  if (remembered) {
    call.approvedBy = `${remembered.by} (grant ${remembered.id})`
    return
  }
  for (let round = 1; round <= MAX_ROUNDS; round++)
    if (await askPeople(runtime, run, call, { round, judgeInput })) return
  throw new ToolError('CONFLICT', `The approvals of ${call.name} were used by identical calls of other processes.`)
}

/** Returns an earlier answer that covers this call too, if there is one. */
export async function rememberedAnswer(runtime: Runtime, run: RunState, call: ValidCall): Promise<Grant | undefined> {
  const found = await findGrant(runtime, run, call)
  // A pattern does not replace the person that a hook requires for this call.
  const isHooked = found?.covers === 'pattern' && runtime.hooks.names.has('decide')
  return isHooked && (await runtime.hooks.decide(call, 'allow')) !== 'allow' ? undefined : found
}

function findGrant(runtime: Runtime, run: RunState, call: ValidCall): Promise<Grant | undefined> {
  // A tool in doubt is not the tool that was approved: only an answer to this very doubt counts.
  const isExact = call.tool.tool.doubt !== undefined
  return runtime.grants.find({
    ...boundTo(runtime, call),
    tool: call.name,
    principal: runtime.principal,
    session: sessionOf(call),
    isExact,
    permits: (pattern) => permits(runtime, run, call, pattern),
  })
}

function sessionOf(call: ValidCall): string {
  return call.options.session ?? `run:${call.run}`
}

/** Makes the values known that people have approved for this tool. A remembered refusal of this call still counts. */
export async function knowApprovedValues(runtime: Runtime, run: RunState, call: ValidCall): Promise<void> {
  const isApproved = await approvedTest(runtime, run, call)
  if (!isApproved || (await rememberedAnswer(runtime, run, call))?.effect === 'deny') return
  call.values = { ...NO_WORDS, ...run.evidence, isApproved }
}

const NO_WORDS = { hasUserText: false, isFromUser: () => false }

/**
 * Returns the same for the shadow policy, apart from the evidence of the call, and without running a hook. Never rejects:
 * `undefined` if nothing was approved or the grants cannot be read.
 */
export async function approvedEvidence(
  runtime: Runtime,
  run: RunState,
  call: ValidCall,
): Promise<ValueEvidence | undefined> {
  const find = async () => {
    const isApproved = await approvedTest(runtime, run, call)
    if (!isApproved || (await findGrant(runtime, run, call))?.effect === 'deny') return undefined
    return { ...NO_WORDS, ...run.evidence, isApproved }
  }
  return new Promise((resolve) => {
    const cancel = runtime.clock.after(MAX_SHADOW_WAIT_MS, () => resolve(undefined))
    // Without evidence, the shadow policy decides more strictly; the call itself must not fail for it.
    find()
      .then(resolve, () => resolve(undefined))
      .finally(cancel)
  })
}

/** How long a call waits for evidence that only the shadow policy needs. */
const MAX_SHADOW_WAIT_MS = 1_000

/** Returns a test whether a person has approved a value for this tool; `undefined` if none was approved. */
async function approvedTest(
  runtime: Runtime,
  { past }: RunState,
  call: ValidCall,
): Promise<ValueEvidence['isApproved'] | undefined> {
  const { principal } = runtime
  const granted = past
    ? await valuesAsOf(runtime, past, call)
    : await runtime.grants.approvedValues({ tool: call.name, principal, session: sessionOf(call) })
  if (granted.length === 0) return undefined
  return (_tool, argument, value) => {
    const hash = hashJson(value)
    return granted.some((each) => each.argument === argument && each.hash === hash)
  }
}

/** The values that were approved before a recorded call. Those whose answer may have been revoked by then do not count. */
async function valuesAsOf(
  { grants, clock }: Runtime,
  { at, principal, session, approvals }: RunMoment,
  { name: tool, run }: ValidCall,
): Promise<readonly ApprovedValue[]> {
  const known = await grants.approvedValues({ tool, principal, session: session ?? `run:${run}` })
  const hasEnded = (until: number | 'session') => until === 'session' || (at < until && until <= clock.now())
  return [
    ...known.filter(({ grant }) => Date.parse(grant.createdAt) <= at),
    ...approvals
      .filter((each) => each.tool === tool && each.principal === principal && hasEnded(each.until))
      .filter((each) => each.until !== 'session' || each.session === session)
      .flatMap(({ values }) => values),
  ]
}

/** Makes one request. Returns `false` if another call used the answer. */
async function askPeople(
  runtime: Runtime,
  run: RunState,
  call: DecidedCall,
  { round, judgeInput }: { readonly round: number; readonly judgeInput: JudgeInput },
): Promise<boolean> {
  const bound = boundTo(runtime, call)
  const adopted = round === 1 ? await adopt(runtime, call, bound.hash) : undefined
  const request = await createApprovalRequest(runtime, run, call, { ...bound, round, adopted })
  const log = logOf(runtime, run, call, request)
  log.requested()
  try {
    const reply = await call.waitFor(answerOf(runtime, call, request, adopted))
    if (reply === 'lost') return false
    if (boundTo(runtime, call).hash !== request.hash) throw changedWhileWaiting(call.name)
    await assertStillKnown(runtime, call)
    call.approvedBy = reply.by ?? 'approver'
    log.answered(reply)
    await take(runtime, run, call, { request, reply, log, judgeInput })
    return true
  } catch (error) {
    const refusal = refusalOf(error)
    if (refusal) {
      log.answered(refusal)
      await remember(runtime, run, call, request, refusal)
    }
    log.unanswered(error)
    throw withRule(error, call)
  }
}

/** Throws if the principal has lost its rights, for example because its token was revoked, while the call waited. */
async function assertStillKnown({ rights, principalNow }: Runtime, call: DecidedCall): Promise<void> {
  if (rights === undefined || (await principalNow(rights)) !== undefined) return
  throw new ToolError(
    'FORBIDDEN',
    `${rights.name} may no longer call ${call.name}: its token was revoked or has expired.`,
  )
}

async function answerOf(
  runtime: Runtime,
  call: DecidedCall,
  request: ApprovalRequest,
  adopted: StoredApproval | undefined,
): Promise<ApprovalReply | 'lost'> {
  if (adopted?.answer) return runtime.approvals.useAnswer(adopted, request)
  const check = async ({ input }: ApprovalReply) => {
    if (input !== undefined) await checkChange(runtime, call, input)
  }
  const onRequested = () => emitEvent(runtime, call, { type: 'approval-requested', callId: call.id, request })
  const { approve, onAsk } = call.options
  const options = {
    hash: request.hash,
    responders: [approve],
    isAdopted: adopted !== undefined,
    check,
    onRequested,
  }
  const isLeft = onAsk === 'return'
  if (!isLeft) return runtime.approvals.ask(request, call.signal, options)
  await runtime.approvals.leave(request, options)
  throw left(request)
}

/** Returns the pending request of this call that an earlier process left behind, or `undefined` if the store fails. */
async function adopt(runtime: Runtime, call: DecidedCall, hash: string): Promise<StoredApproval | undefined> {
  try {
    // An answer for one principal does not apply to another.
    const caller = runtime.principal ?? call.caller
    return await runtime.approvals.adopt({ hash, caller }, call.options.onAsk === 'return')
  } catch {
    // The caller makes a new request, which fails if it needs the store.
    return undefined
  }
}

interface Taken {
  readonly request: ApprovalRequest
  readonly reply: ApprovalReply
  readonly log: Log
  readonly judgeInput: JudgeInput
}

/** Applies the approval, with the arguments that the approver changed, and remembers it if requested. */
async function take(
  runtime: Runtime,
  run: RunState,
  call: DecidedCall,
  { request, reply, log, judgeInput }: Taken,
): Promise<void> {
  if (reply.input !== undefined) {
    await changeInput(runtime, run, call, reply.input, judgeInput)
    call.notices.push(`${call.approvedBy} changed the arguments before the call ran.`)
  }
  const grant = await remember(runtime, run, call, { ...request, ...boundTo(runtime, call) }, reply)
  log.allowed(reply, grant)
}

/** Adds to APPROVAL_UNAVAILABLE the rule that the owner could add. */
function withRule(error: unknown, { decision, caller }: DecidedCall): unknown {
  if (!ToolError.is(error) || error.code !== 'APPROVAL_UNAVAILABLE' || decision.effect !== 'ask') return error
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
  return new ToolError('CONFLICT', `The arguments of ${tool} changed while it waited for an approval.`)
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
  call: DecidedCall,
  request: ApprovalRequest,
  reply: ApprovalReply,
): Promise<Grant | undefined> {
  try {
    const isMore = reply.covers === 'targets' && !canCoverTargets(call)
    // Changed arguments may result in another pattern, which the approver has not seen.
    const offered = reply.covers === 'pattern' ? patternOf(runtime, run, call) : undefined
    const pattern = offered?.shown === request.coverage.pattern ? offered : undefined
    const values = reply.covers === 'values' ? valuesToApprove(runtime, run, call) : undefined
    return await runtime.grants.remember(
      { ...request, pattern, values },
      isMore ? { ...reply, covers: 'exact' } : reply,
    )
  } catch (error) {
    call.notices.push(`The answer was not remembered: ${(error as Error).message}`)
    return undefined
  }
}

type Log = ReturnType<typeof logOf>

/** Records the progress of one request and emits its events. */
function logOf(runtime: Runtime, run: RunState, call: DecidedCall, request: ApprovalRequest) {
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
async function changeInput(
  runtime: Runtime,
  run: RunState,
  call: FoundCall,
  input: unknown,
  judgeInput: JudgeInput,
): Promise<void> {
  const { value, bytes } = bareInput(runtime, input)
  call.replaceInput(value)
  call.inputBytes = bytes
  denyCall(await judgeInput(runtime, run, call))
}

/** Throws if changed arguments are invalid, so that the approver can still correct them. Changes nothing. */
export async function checkChange(runtime: Runtime, call: FoundCall, input: unknown): Promise<void> {
  accepted(call, await call.tool.input.validate(bareInput(runtime, input).value))
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
