import type { CallOptions } from '../call-options.ts'
import type { Clock } from '../clock.ts'
import { ToolError } from '../errors.ts'
import type { HubOptions } from '../options.ts'
import type { ApprovalReply, ApprovalRequest } from '../result.ts'
import type { Ask } from '../store.ts'
import { withStop } from '../value/with-stop.ts'
import { answerApproval } from './answer-ask.ts'
import type { AskBoard } from './ask-board.ts'
import { AskDesk } from './ask-desk.ts'
import type { AskKind, Reply } from './ask-kind.ts'
import { assertOther } from './assert-other.ts'
import { parseReply } from './parse-reply.ts'
import { whyAsked } from './why-asked.ts'

/** Whoever stands for a person in code; says nothing when it leaves the answer to others. */
type Approve = NonNullable<CallOptions['approve']>

/** How one call is to be approved. */
interface ApprovalWays {
  /** Binds the answer, also to who calls. */
  readonly hash: string
  /** Answers for this call before the owner does. */
  readonly approve?: Approve
  readonly onAsked?: () => void
  readonly isAdopted?: boolean
  /** Looks at changed arguments before the answer is taken. */
  readonly check?: (reply: ApprovalReply) => Promise<void>
}

/** Where calls wait for a yes: the owner's `approve`, whoever watches, and the store that other processes answer. */
export class ApprovalDesk {
  /** How long an ask waits. */
  readonly timeoutMs: number
  readonly #approve: HubOptions['approve']
  readonly #board: AskBoard
  readonly #clock: Clock
  readonly #desk: AskDesk<ApprovalRequest, ApprovalReply>

  constructor(options: {
    readonly approve?: HubOptions['approve']
    readonly timeoutMs: number
    readonly clock: Clock
    readonly board: AskBoard
    readonly waitsInStore?: boolean
    readonly outlives?: boolean
  }) {
    const { board, clock, waitsInStore = false, outlives = false } = options
    this.timeoutMs = options.timeoutMs
    this.#approve = options.approve
    this.#board = board
    this.#clock = clock
    this.#desk = new AskDesk({ kind: KIND, board, clock, waitsInStore, outlives })
  }

  /**
   * Waits for the answer. Anything but a clear yes throws; a no carries the reason, and the reply in its details. `lost`
   * when the answer was for another call: ask again.
   */
  async ask(request: ApprovalRequest, signal: AbortSignal, ways: ApprovalWays): Promise<ApprovalReply | 'lost'> {
    return allowed(request, await this.#desk.ask(request, signal, this.#waysOf(ways)))
  }

  /** Asks without waiting: the same call, made again, uses the answer. */
  leave(request: ApprovalRequest, ways: ApprovalWays): Promise<void> {
    return this.#desk.leave(request, this.#waysOf(ways))
  }

  /** An ask for the same call that waits, or whose answer nobody has used. */
  adopt(asked: { readonly hash: string; readonly caller: string }, isLeft?: boolean): Promise<Ask | undefined> {
    return this.#desk.adopt(asked, isLeft)
  }

  /** Uses an answer that came while nobody waited; like `ask`. */
  async useAnswer(ask: Ask, request: ApprovalRequest): Promise<ApprovalReply | 'lost'> {
    return allowed(request, await this.#desk.useAnswer(ask, request))
  }

  /** What waits for an answer, oldest first. */
  list(): ApprovalRequest[] {
    return this.#desk.list()
  }

  /** Answers; false when nothing with this id waits here (any more). */
  reply(id: string, reply: ApprovalReply): boolean {
    return this.#desk.reply(id, reply)
  }

  /** Answers an ask of any process, after changed arguments were looked at where that is possible. */
  async answer(id: string, reply: ApprovalReply): Promise<boolean | undefined> {
    if (this.#desk.find(id)) return this.#desk.answer(id, reply)
    return answerApproval(this.#board, id, reply, this.#clock.now())
  }

  /** Tells of every new request; what waits already is in `list`. Returns how to stop watching. */
  watch(listener: (request: ApprovalRequest) => void): () => void {
    return this.#desk.watch(listener)
  }

  close(): Promise<void> {
    return this.#desk.close()
  }

  #waysOf({ approve, ...ways }: ApprovalWays) {
    const inCode = [...new Set([approve, this.#approve])].filter((each) => each !== undefined)
    return { ...ways, inCode }
  }
}

const KIND: AskKind<ApprovalRequest, ApprovalReply> = {
  kind: 'approval',
  read: (answer, { principal }) => {
    const reply = parseReply(answer)
    assertOther(principal, reply.by)
    return { answer: reply, by: reply.by, via: reply.via }
  },
  encode: ({ answer }) => {
    const { by = 'approver', via = 'library', ...reply } = answer
    return { reply: JSON.stringify(reply), by, via }
  },
  decode: ({ reply, by, via }, request) => KIND.read({ ...JSON.parse(reply), by, via }, request),
  unavailable,
  failed: (request, cause) => unavailable(request, 'the approve callback failed', cause),
  nonsense: (request, cause) =>
    ToolError.is(cause) && cause.code === 'POLICY_DENIED'
      ? cause
      : unavailable(request, 'the answer makes no sense', cause),
  timedOut,
  aborted,
  leftBehind: (request) => {
    const { message, details } = unavailable(request, 'nobody has answered yet')
    return new ToolError('APPROVAL_UNAVAILABLE', message, {
      details: { ...details, waits: true },
      hint: callAgain(request),
    })
  },
}

/** What to do when an ask goes on without its call. */
export function callAgain({ id }: Pick<ApprovalRequest, 'id'>): string {
  return `${id} still waits for an answer. Repeat the same call: it continues to wait, or uses the answer.`
}

function allowed(request: ApprovalRequest, outcome: Reply<ApprovalReply> | 'lost'): ApprovalReply | 'lost' {
  if (outcome === 'lost') return outcome
  const { answer: reply } = outcome
  if (reply.decision === 'allow') return reply
  const who = reply.by ?? 'The approver'
  const details = { approval: request.id, reply }
  if (reply.reason) {
    throw new ToolError('APPROVAL_DENIED', `${who} refused ${request.tool}: ${withStop(reply.reason)}`, { details })
  }
  const message = `${who} refused ${request.tool} and gave no reason.`
  throw new ToolError('APPROVAL_DENIED', message, { details, hint: 'Do not repeat the call; ask what to do instead.' })
}

function aborted(request: ApprovalRequest, signal: AbortSignal): ToolError {
  return new ToolError('ABORTED', `The caller stopped ${request.tool} while it waited for an approval.`, {
    cause: signal.reason,
  })
}

function timedOut({ id, tool, askedAt, expiresAt }: ApprovalRequest): ToolError {
  const timeoutMs = Date.parse(expiresAt) - Date.parse(askedAt)
  return new ToolError('APPROVAL_TIMEOUT', `Nobody answered for ${tool} within ${timeoutMs} ms.`, {
    details: { approval: id, timeoutMs },
  })
}

function unavailable(request: ApprovalRequest, why: string, cause?: unknown): ToolError {
  const message = `${request.tool} needs an approval and ${why}: ${whyAsked(request)}`
  return new ToolError('APPROVAL_UNAVAILABLE', message, { details: { approval: request.id }, cause })
}
