import { inputRequired, type Result, type ServerContext } from '@modelcontextprotocol/server'
import type { Clock } from '../../../core/index.ts'
import { hashJson } from '../../../lib/index.ts'
import type { ClientView, Connection } from '../connection.ts'
import { type FormAnswer, parseFormAnswer } from '../elicitation/forms.ts'
import type { PendingInput, RequestState, StateBinding } from '../elicitation/request-states.ts'
import { modernTask } from '../tasks.ts'
import type { OngoingCall } from './ongoing-call.ts'
import { answerInTime, progressOf, type ReportProgress } from './progress.ts'
import { type CallParams, eventListener, progressReporter, startCall } from './start-call.ts'

interface Request {
  readonly connection: Connection
  readonly client: ClientView
  readonly params: CallParams
  readonly context: ServerContext
}

interface Round extends Request {
  readonly report: ReportProgress | undefined
}

/**
 * A call of the modern era, which has no requests to the client: an input request ends the round as `input_required`,
 * and the client returns with the answers and the sealed state. The call is held until then; if it is gone, an approval
 * still counts for the same call.
 */
export async function callModern(request: Request): Promise<Result> {
  const round: Round = { ...request, report: progressReporter(request.connection, request.params, request.context) }
  const { requestState } = round.context.mcpReq
  const sealed: unknown = requestState()
  if (sealed === undefined || !mayWait(round)) return nextTurn(round, begin(round))
  const { states } = round.connection.session.service
  const state = await states.open(sealed, boundTo(round))
  const held = round.connection.session.held.take(state.id)
  if (held) return nextTurn(round, resume(round, held, state))
  // The question was asked during the work, which has ended.
  if (state.asked.some(({ hash }) => hash === undefined)) return tooLate()
  return nextTurn(round, begin(round, { answers: approvalsOf(round, state) }))
}

/** A client that supports neither forms nor tasks waits for its result. */
function mayWait({ client }: Round): boolean {
  return client.canElicit || client.takesTasks
}

function begin(
  { connection, client, params, context, report }: Round,
  { answers }: { readonly answers?: ReadonlyMap<string, FormAnswer> } = {},
): OngoingCall {
  return startCall(connection, client, { params, context, report, answers })
}

function resume(round: Round, call: OngoingCall, { asked }: RequestState): OngoingCall {
  call.onEvent = eventListener(round.connection, round.context, round.report)
  for (const { key } of asked) {
    const answer = answerTo(round, key)
    // Without an answer the request stays open, and is sent again.
    if (answer) call.answer(key, answer)
  }
  return call
}

async function nextTurn(round: Round, call: OngoingCall): Promise<Result> {
  const { connection, client, context } = round
  const { session } = connection
  const { clock, taskAfterMs } = session.service
  const letGo = call.follow(context.mcpReq.signal)
  const late = client.takesTasks && session.tasks.hasRoom ? timer(clock, taskAfterMs) : undefined
  const stop = late ? () => {} : answerInTime(call, { name: round.params.name, clock, report: round.report })
  try {
    const turn = await call.turn(late?.over)
    if (turn === 'ended') return await call.ended
    if (turn === 'late') return toTask(connection, call)
    return await askClient(round, call)
  } finally {
    late?.cancel()
    stop()
    letGo()
  }
}

async function askClient(round: Round, call: OngoingCall): Promise<Result> {
  const { held, service } = round.connection.session
  if (held.isFull) {
    call.giveUpAsking()
    return call.ended
  }
  const asks = call.asks()
  const asked: PendingInput[] = asks.map(({ key, hash }) => ({ key, ...(hash !== undefined && { hash }) }))
  const { id, state } = await service.states.seal(boundTo(round), asked)
  held.hold(id, call)
  const inputRequests = Object.fromEntries(asks.map(({ key, form }) => [key, inputRequired.elicit(form)]))
  return inputRequired({ inputRequests, requestState: state })
}

/** From now on the call belongs to the session, not to the request. */
function toTask({ session: { tasks } }: Connection, call: OngoingCall): Result {
  const task = tasks.add(call, undefined)
  call.onEvent = (event) => {
    const message = progressOf(event)
    if (message !== undefined) tasks.note(task, message)
  }
  return { resultType: 'task', ...modernTask(task) }
}

function boundTo({ connection, params }: Round): StateBinding {
  const { principal } = connection.session
  return { principal, tool: params.name, digest: hashJson(params.arguments ?? {}) }
}

function approvalsOf(round: Round, { asked }: RequestState): ReadonlyMap<string, FormAnswer> {
  const answers = new Map<string, FormAnswer>()
  for (const { key, hash } of asked) {
    const answer = answerTo(round, key)
    if (answer && hash !== undefined) answers.set(hash, answer)
  }
  return answers
}

function answerTo({ context }: Round, key: string): FormAnswer | undefined {
  const responses = context.mcpReq.inputResponses ?? {}
  return Object.hasOwn(responses, key) ? parseFormAnswer(responses[key]) : undefined
}

function tooLate(): Result {
  const text = 'APPROVAL_TIMEOUT: The answer came too late, the call has ended. Call again when somebody is there.'
  return { content: [{ type: 'text', text }], isError: true }
}

function timer(clock: Clock, ms: number): { readonly over: Promise<void>; readonly cancel: () => void } {
  let cancel = () => {}
  const over = new Promise<void>((resolve) => {
    cancel = clock.after(ms, resolve, { background: true })
  })
  return { over, cancel }
}
