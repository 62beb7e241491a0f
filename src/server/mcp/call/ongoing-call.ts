import type { CallToolResult } from '@modelcontextprotocol/server'
import { AttributedReply } from '../../../approvals/index.ts'
import {
  type ApprovalReply,
  type ApprovalRequest,
  type CallEvent,
  callerGone,
  isCallerGone,
  type Question,
  ToolError,
  type ToolResult,
} from '../../../core/index.ts'
import {
  approvalForm,
  type ElicitationForm,
  type FormAnswer,
  questionForm,
  readApproval,
  readQuestionAnswer,
} from '../elicitation/forms.ts'
import type { ServedHub } from '../options.ts'

/** Something the client is asked while its call waits. */
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

/** Where the calls of one session are made. */
export interface CallHome {
  readonly hub: ServedHub
  readonly run: string
  /** Whether a client that can be asked is also asked for its yes. */
  readonly asksApprovals: boolean
  /** Forms of approvals, by the id of the request: the same call, made again, waits for the form that is shown already. */
  readonly forms: Map<string, OpenAsk>
  readonly onEnd: (call: OngoingCall) => void
}

/** What a call is made of. */
export interface CallStart {
  readonly name: string
  readonly input: Readonly<Record<string, unknown>>
  readonly caller: string
  /** Whether the client can be asked; else all is left to the hub. */
  readonly canAsk: boolean
  /** Answers that came before the call, by the hash of what they approve; each counts once. */
  readonly answers?: ReadonlyMap<string, FormAnswer>
  readonly onEvent?: (event: CallEvent) => void
  /** Is told of each ask, instead of it waiting for the next turn. */
  readonly onAsk?: (ask: Ask, call: OngoingCall) => void
  readonly toResult: (result: ToolResult) => CallToolResult | Promise<CallToolResult>
}

/** What happened to a call first. */
export type Turn = 'ended' | 'asked' | 'late'

const MAX_PENDING_APPROVALS = 16

/** A person who is to decide or to answer, and the id of that request. */
export interface AwaitedPerson {
  readonly what: 'an approval' | 'an answer'
  readonly id: string
}

/** Of all tools that ask, the one that does nothing else: it can be called again. */
const ASK_USER = 'core/ask.user'

/**
 * A call on its way through the hub. It outlives the request that made it when it has to wait: what it asks stays open
 * until somebody who speaks with the client answers it.
 */
export class OngoingCall {
  /** The result; rejects with a protocol error for a tool that does not exist. */
  readonly ended: Promise<CallToolResult>
  /** Who is told of each ask now. */
  onAsk: CallStart['onAsk']
  /** Who hears the events now. */
  onEvent: CallStart['onEvent']
  readonly #home: CallHome
  readonly #start: CallStart
  readonly #controller = new AbortController()
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
    // Whoever waits for it hears of a failure; nobody has to.
    this.ended.catch(() => {})
  }

  /** Stops the call, and everything that it asked. */
  abort(reason: unknown): void {
    this.#controller.abort(reason)
  }

  /** What the call waits for before it has done anything. */
  get waitsFor(): AwaitedPerson | undefined {
    return this.#waitsFor
  }

  /** Ends the call while what it asked stays open, for the same call made again. */
  leave(reason: ToolError): void {
    this.#isLeft = true
    this.abort(reason)
  }

  /** Lets a request stop the call for as long as it waits for it. Returns how to let go. */
  follow(signal: AbortSignal | undefined): () => void {
    if (!signal) return () => {}
    const stop = () => {
      const reason = cancelReason(signal.reason)
      this.#isLeft = isCallerGone(reason)
      this.abort(reason)
    }
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop, { once: true })
    return () => signal.removeEventListener('abort', stop)
  }

  /** Waits for the end, a question, or the time to be over. */
  turn(late?: Promise<void>): Promise<Turn> {
    return new Promise((resolve) => {
      this.#noteTurn = resolve
      if (this.#open.size > 0) resolve('asked')
      const end = () => resolve('ended')
      this.ended.then(end, end)
      void late?.then(() => resolve('late'))
    })
  }

  /** What waits for an answer, oldest first. */
  asks(): readonly Ask[] {
    return [...this.#open.values()]
  }

  /** Answers; without an answer, an approval is left to the hub's other ways and a question fails. */
  answer(key: string, answer: FormAnswer | undefined): void {
    this.#open.get(key)?.settle(answer)
  }

  /** The client will answer nothing any more. */
  giveUpAsking(): void {
    this.#canAsk = false
    for (const ask of this.#open.values()) ask.settle(undefined)
  }

  async #run(): Promise<CallToolResult> {
    const { hub, run, asksApprovals, onEnd } = this.#home
    const { name, input, caller, canAsk, toResult } = this.#start
    try {
      const result = await hub.callDynamic(name, input, {
        run,
        caller,
        signal: this.#controller.signal,
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
      onEnd(this)
    }
  }

  readonly #approve = async (request: ApprovalRequest): Promise<ApprovalReply | undefined> => {
    const answer = this.#takeAnswer(request.hash) ?? (await this.#askApproval(request))
    return answer && readApproval(answer, this.#start.caller, request)
  }

  /** A form that the same call opened before it was answered in the meantime is still on the screen: it is the one to wait for. */
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
 * Why a request of the legacy era was stopped. A client that ran out of patience says so in its cancellation, and the
 * approval stays; a person who cancels the call withdraws it.
 */
function cancelReason(reason: unknown): unknown {
  const text = reason instanceof Error ? reason.message : String(reason ?? '')
  return /tim(?:ed|e)[- ]?out|closed|gone/i.test(text) ? callerGone('The client stopped waiting for the call.') : reason
}
