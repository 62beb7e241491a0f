import { getEventListeners } from 'node:events'
import type { CallToolResult, ServerContext } from '@modelcontextprotocol/server'
import {
  type ApprovalReply,
  type ApprovalRequest,
  type CallEvent,
  type Clock,
  callerGone,
  isCallerGone,
  type Question,
  ToolError,
  type ToolResult,
  textOfBlock,
  type UserText,
} from '@tool-hub/core'
import { AttributedReply } from '@tool-hub/runtime/approvals'
import {
  approvalForm,
  type ElicitationForm,
  type FormAnswer,
  questionForm,
  readApproval,
  readQuestionAnswer,
  shownLine,
  shownText,
} from '../elicitation/forms.ts'
import type { ServedHub } from '../options.ts'

/** An input that the client is asked for while its call waits. */
export interface Ask {
  readonly key: string
  readonly form: ElicitationForm
  /** What an approval approves; a question has none. */
  readonly hash?: string
  /** Resolves when nobody needs the answer any more. */
  readonly closed: Promise<unknown>
}

/** A form that the client shows, or is about to. */
export interface OpenAsk extends Ask {
  readonly answer: Promise<FormAnswer | undefined>
  readonly settle: (answer: FormAnswer | undefined) => void
}

/** What all calls of one session share. */
export interface CallHome {
  readonly hub: ServedHub
  /** Whether the client is also asked for approvals. */
  readonly asksApprovals: boolean
  /** Forms of approvals, by the id of the request: the same call, made again, waits for the form that is shown already. */
  readonly forms: Map<string, OpenAsk>
  readonly onEnd: (call: OngoingCall) => void
}

/** What a call is made of. */
export interface CallStart {
  readonly name: string
  /** The run of its conversation. */
  readonly run: string
  /** The client, if it has not named the conversation. */
  readonly client?: string
  readonly input: Readonly<Record<string, unknown>>
  /** What the user said, if the client passes it. */
  readonly userText?: UserText
  readonly caller: string
  /** Whether the client can be asked; otherwise the hub's other channels are used. */
  readonly canAsk: boolean
  /** Answers given before the call, by the hash of what they approve; each counts once. */
  readonly answers?: ReadonlyMap<string, FormAnswer>
  readonly onEvent?: (event: CallEvent) => void
  /** Called for each input request; without it they wait for the next turn. */
  readonly onAsk?: (ask: Ask, call: OngoingCall) => void
  readonly toResult: (result: ToolResult) => CallToolResult | Promise<CallToolResult>
}

/** What happened to a call first. */
export type Turn = 'ended' | 'asked' | 'late'

const MAX_PENDING_APPROVALS = 16

/** The request that a person has to answer. */
export interface AwaitedPerson {
  readonly what: 'an approval' | 'an answer'
  readonly id: string
}

const MAX_IDLE_CONTROLLERS = 64
/**
 * Controllers for the next calls. A new one for each call, with a signal that has its first listener, takes 20 of 94 us of
 * the processor time of a call (bench row mcp-stdio).
 */
const idleControllers: AbortController[] = []

/** Keeps the controller of a call that has ended, unless it was aborted or somebody still listens to its signal. */
function keepController(controller: AbortController): void {
  if (controller.signal.aborted || idleControllers.length >= MAX_IDLE_CONTROLLERS) return
  if (getEventListeners(controller.signal, 'abort').length === 0) idleControllers.push(controller)
}

/** The only tool with questions that does nothing else, so it can be called again. */
const ASK_USER = 'core/ask.user'

/**
 * A call in progress. It outlives its request while it waits: its input requests stay open until the client answers
 * them.
 */
export class OngoingCall {
  /** The result; rejects with a protocol error if the tool does not exist. */
  readonly ended: Promise<CallToolResult>
  /** Called for each input request. */
  onAsk: CallStart['onAsk']
  /** Called with each event. */
  onEvent: CallStart['onEvent']
  readonly #home: CallHome
  readonly #start: CallStart
  /** Undefined when the call has ended: another call may have it by then. */
  #controller: AbortController | undefined = idleControllers.pop() ?? new AbortController()
  readonly #open = new Map<string, OpenAsk>()
  readonly #answers: Map<string, FormAnswer> | undefined
  #asked = 0
  #waitsFor: AwaitedPerson | undefined
  #isLeft = false
  #canAsk: boolean
  #noteTurn: ((turn: Turn) => void) | undefined

  constructor(home: CallHome, start: CallStart) {
    this.#home = home
    this.#start = start
    this.#answers = start.answers ? new Map(start.answers) : undefined
    this.#canAsk = start.canAsk
    this.onAsk = start.onAsk
    this.onEvent = start.onEvent
    this.ended = this.#run()
    // An error is reported only to those who await it.
    this.ended.catch(() => {})
  }

  /** Aborts the call and its input requests; does nothing if it has ended. */
  abort(reason: unknown): void {
    this.#controller?.abort(reason)
  }

  /** The person that the call waits for before it has done anything. */
  get waitsFor(): AwaitedPerson | undefined {
    return this.#waitsFor
  }

  /** Ends the call but leaves its approval request open, for the same call when it is repeated. */
  leave(reason: ToolError): void {
    this.#isLeft = true
    this.abort(reason)
  }

  /** Aborts the call because its request was cancelled. */
  cancel(cause: unknown): void {
    const reason = cancelReason(cause)
    this.#isLeft = isCallerGone(reason)
    this.abort(reason)
  }

  /** Cancels the call when the signal of its request aborts. Returns a function that stops following it. */
  follow(signal: AbortSignal | undefined): () => void {
    if (!signal) return () => {}
    const stop = () => this.cancel(signal.reason)
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop, { once: true })
    return () => signal.removeEventListener('abort', stop)
  }

  /** Waits for the end of the call, an input request, or the timeout. */
  turn(late?: Promise<void>): Promise<Turn> {
    return new Promise((resolve) => {
      this.#noteTurn = resolve
      if (this.#open.size > 0) resolve('asked')
      const end = () => resolve('ended')
      this.ended.then(end, end)
      void late?.then(() => resolve('late'))
    })
  }

  /** The open input requests, oldest first. */
  asks(): readonly Ask[] {
    return [...this.#open.values()]
  }

  /**
   * Answers an input request. Without an answer, an approval is left to the hub's other channels and a question fails.
   */
  answer(key: string, answer: FormAnswer | undefined): void {
    this.#open.get(key)?.settle(answer)
  }

  /** Ends all input requests without an answer. */
  giveUpAsking(): void {
    this.#canAsk = false
    for (const ask of this.#open.values()) ask.settle(undefined)
  }

  async #run(): Promise<CallToolResult> {
    const { hub, asksApprovals, onEnd } = this.#home
    const { name, run, client, input, userText, caller, canAsk, toResult } = this.#start
    try {
      const result = await hub.callDynamic(name, input, {
        run,
        caller,
        client,
        userText,
        signal: this.#controller!.signal,
        ...(canAsk && asksApprovals && { approve: this.#approve }),
        ...(canAsk && { onQuestion: this.#onQuestion }),
        onEvent: (event) => {
          this.#noteWaiting(event)
          this.onEvent?.(event)
        },
      })
      const made = toResult(result)
      return made instanceof Promise ? await made : made
    } finally {
      if (canAsk && !this.#isLeft) this.giveUpAsking()
      keepController(this.#controller!)
      this.#controller = undefined
      onEnd(this)
    }
  }

  readonly #approve = async (request: ApprovalRequest): Promise<ApprovalReply | undefined> => {
    const answer = this.#takeAnswer(request.hash) ?? (await this.#askApproval(request))
    return answer && readApproval(answer, this.#start.caller, request)
  }

  /** A form for the same approval may still be shown by the client: then the call waits for that one. */
  async #askApproval(request: ApprovalRequest): Promise<FormAnswer | undefined> {
    const { forms } = this.#home
    const known = forms.get(request.id)
    if (known && this.onAsk) {
      const key = `form-${request.id}`
      this.#open.set(key, known)
      return known.answer.finally(() => this.#open.delete(key))
    }
    const ask = this.#ask(approvalForm(request), request.hash)
    if (!ask) return undefined
    forms.set(request.id, ask)
    return ask.answer.finally(() => forms.delete(request.id))
  }

  #noteWaiting(event: CallEvent): void {
    if (event.type === 'approval-requested') this.#waitsFor = { what: 'an approval', id: event.request.id }
    else if (event.type === 'question-asked' && !this.#canAsk && event.request.tool === ASK_USER)
      this.#waitsFor = { what: 'an answer', id: event.request.id }
    else if (event.type !== 'call-progressed') this.#waitsFor = undefined
  }

  readonly #onQuestion = async (question: Question): Promise<AttributedReply> => {
    const answer = await this.#ask(questionForm(this.#start.name, question))?.answer
    if (answer) return new AttributedReply(readQuestionAnswer(question, answer), { by: this.#start.caller, via: 'mcp' })
    throw new ToolError('APPROVAL_UNAVAILABLE', `${this.#start.name} has a question and the client did not answer it.`)
  }

  #takeAnswer(hash: string): FormAnswer | undefined {
    const answer = this.#answers?.get(hash)
    this.#answers?.delete(hash)
    return answer
  }

  #ask(form: ElicitationForm, hash?: string): OpenAsk | undefined {
    if (!this.#canAsk || this.#open.size >= MAX_PENDING_APPROVALS) return undefined
    const key = `ask-${++this.#asked}`
    let resolve: (answer: FormAnswer | undefined) => void = () => {}
    const answer = new Promise<FormAnswer | undefined>((settled) => {
      resolve = settled
    })
    const settle = (given: FormAnswer | undefined) => {
      this.#open.delete(key)
      resolve(given)
    }
    const ask: OpenAsk = { key, form, hash, answer, settle, closed: answer }
    this.#open.set(key, ask)
    if (this.onAsk) this.onAsk(ask, this)
    else this.#noteTurn?.('asked')
    return ask
  }
}

/**
 * The reason of a cancelled request of the legacy era. If the client timed out, which its reason says, the approval
 * stays open; if a person cancels the call, it is withdrawn.
 */
function cancelReason(reason: unknown): unknown {
  const text = reason instanceof Error ? reason.message : String(reason ?? '')
  return /tim(?:ed|e)[- ]?out|closed|gone/i.test(text) ? callerGone('The client stopped waiting for the call.') : reason
}

/** The client's token for the progress of a request. */
type ProgressToken = string | number

const BURST = 50
const PER_SECOND = 20
const MAX_CHARS = 2_000

/** Sends progress for events, and keeps a silent request alive. */
export interface ReportProgress {
  (event: CallEvent): void
  readonly keepAlive: (message: string) => void
}

/**
 * Sends the progress of a call, with increasing numbers. The rate is limited, so that a command with much output does
 * not flood the client.
 */
export function createProgressReport(context: ServerContext, token: ProgressToken, clock: Clock): ReportProgress {
  let progress = 0
  let tokens = BURST
  let filledAt = clock.now()
  const notify = (message: string) => {
    const params = { progressToken: token, progress, message }
    // The client has disconnected; its call is aborted elsewhere.
    context.mcpReq.notify({ method: 'notifications/progress', params }).catch(() => {})
  }
  const report = (event: CallEvent) => {
    const message = progressOf(event)
    if (message === undefined) return
    progress++
    const now = clock.now()
    tokens = Math.min(BURST, tokens + ((now - filledAt) * PER_SECOND) / 1_000)
    filledAt = now
    if (tokens < 1) return
    tokens--
    notify(message)
  }
  const keepAlive = (message: string) => {
    progress++
    notify(message)
  }
  return Object.assign(report, { keepAlive })
}

/** Returns the progress message of an event; `undefined` if it has none. */
export function progressOf(event: CallEvent): string | undefined {
  if (event.type === 'call-pending') return shownText(event.message, MAX_CHARS)
  if (event.type !== 'call-progressed') return undefined
  return shownText(event.content.map(textOfBlock).join('\n'), MAX_CHARS)
}

/** The default request timeout of MCP clients is 60 s. */
const ANSWER_MS = 45_000
const BEAT_MS = 15_000

/**
 * Keeps a request alive while its call waits for a person. A client with a progress token is notified every 15 s; any
 * other gets a response after 45 s, before it times out, and repeats the call to continue waiting. Returns a function
 * that stops it.
 */
export function answerInTime(
  call: OngoingCall,
  {
    name,
    clock,
    report,
  }: { readonly name: string; readonly clock: Clock; readonly report: ReportProgress | undefined },
): () => void {
  let cancel = () => {}
  const beat = (afterMs: number) => {
    cancel = clock.after(afterMs, look, { background: true })
  }
  const look = () => {
    const { waitsFor } = call
    if (report) report.keepAlive(waitsFor === undefined ? `${shownLine(name)} is running.` : stillWaits(name, waitsFor))
    else if (waitsFor !== undefined) return call.leave(waitingReason(name, waitsFor))
    beat(BEAT_MS)
  }
  beat(report ? BEAT_MS : ANSWER_MS)
  return () => cancel()
}

function stillWaits(name: string, { what, id }: AwaitedPerson): string {
  return `${shownLine(name)} waits for ${what} (${id}).`
}

function waitingReason(name: string, awaited: AwaitedPerson) {
  return callerGone(`${stillWaits(name, awaited)} Nobody has answered yet.`, {
    code: 'APPROVAL_UNAVAILABLE',
    hint: 'Nothing was executed. Repeat the same call with the same arguments to continue waiting; do not change it.',
    details: { ...(awaited.what === 'an approval' && { approval: awaited.id }), waits: true },
  })
}
