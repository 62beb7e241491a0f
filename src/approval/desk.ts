import type { CallOptions } from '../call-options.ts'
import type { Clock } from '../clock.ts'
import { ToolError } from '../errors.ts'
import type { HubOptions } from '../options.ts'
import type { ApprovalReply, ApprovalRequest } from '../result.ts'
import { deepFreeze } from '../value/deep-freeze.ts'
import { withStop } from '../value/with-stop.ts'
import type { Inbox } from './inbox.ts'
import { parseReply } from './parse-reply.ts'

/** Whoever stands for a person in code; says nothing when it leaves the answer to others. */
type Approve = NonNullable<CallOptions['approve']>

interface Waiting {
  /** Who answers for this call. */
  readonly approve: Approve | undefined
  readonly request: ApprovalRequest
  readonly resolve: (reply: ApprovalReply) => void
  readonly reject: (error: ToolError) => void
}

interface Watcher {
  readonly tell: (request: ApprovalRequest) => void
}

/**
 * Where calls wait for a person. Three ways lead there: the owner's `approve`, whoever watches, and the inbox that
 * other processes answer; the first answer wins, and without any way the call fails at once.
 */
export class ApprovalDesk {
  readonly #approve: HubOptions['approve']
  readonly #timeoutMs: number
  readonly #clock: Clock
  readonly #inbox: Inbox | undefined
  readonly #watchers = new Set<Watcher>()
  readonly #waiting = new Map<string, Waiting>()

  constructor(options: {
    readonly approve?: HubOptions['approve']
    readonly timeoutMs: number
    readonly clock: Clock
    readonly inbox?: Inbox
  }) {
    this.#approve = options.approve
    this.#timeoutMs = options.timeoutMs
    this.#clock = options.clock
    this.#inbox = options.inbox
    this.#inbox?.onReply((id, reply) => this.#answer(id, reply))
    this.#inbox?.onClose(() => this.#failUnreachable('the inbox was closed'))
  }

  /**
   * Waits for the answer, which `approve` gives where the call has its own, else the owner's. Anything but a clear yes
   * throws; a no carries the reason, and the reply in its details.
   */
  async ask(
    request: ApprovalRequest,
    signal: AbortSignal,
    approve: Approve | undefined = this.#approve,
  ): Promise<ApprovalReply> {
    if (signal.aborted) throw aborted(request, signal)
    if (!approve && !this.#isReachable()) throw unavailable(request, 'nobody can be asked')
    if (this.#waiting.has(request.id)) throw new ToolError('CONFLICT', `The approval ${request.id} waits already.`)
    const answer = new Promise<ApprovalReply>((resolve, reject) => {
      this.#waiting.set(request.id, { approve, request: frozenCopy(request), resolve, reject })
    })
    const stop = () => this.#fail(request.id, aborted(request, signal))
    signal.addEventListener('abort', stop, { once: true })
    const cancelTimer = this.#clock.after(this.#timeoutMs, () =>
      this.#fail(request.id, timedOut(request, this.#timeoutMs)),
    )
    try {
      this.#announce(request.id)
      return allowed(request, await answer)
    } finally {
      cancelTimer()
      signal.removeEventListener('abort', stop)
    }
  }

  /** What waits for an answer, oldest first. */
  list(): ApprovalRequest[] {
    return [...this.#waiting.values()].map(({ request }) => request)
  }

  /** Answers; false when nothing with this id waits (any more). */
  reply(id: string, reply: ApprovalReply): boolean {
    if (!this.#waiting.has(id)) return false
    const parsed = parseReply(reply)
    this.#take(id)?.resolve(parsed)
    return true
  }

  /** Tells of every new request; what waits already is in `list`. Returns how to stop watching. */
  watch(listener: (request: ApprovalRequest) => void): () => void {
    const watcher = { tell: listener }
    this.#watchers.add(watcher)
    return () => {
      this.#watchers.delete(watcher)
      this.#failUnreachable('the last watcher left')
    }
  }

  #isReachable(): boolean {
    return this.#watchers.size > 0 || this.#inbox?.isOpen === true
  }

  /** Nobody is left to answer: what waits would only time out. */
  #failUnreachable(why: string): void {
    if (this.#isReachable()) return
    for (const { approve, request } of this.#waiting.values())
      if (!approve) this.#fail(request.id, unavailable(request, why))
  }

  #announce(id: string): void {
    const { request, approve } = this.#waiting.get(id)!
    let told = approve ? 1 : 0
    let cause: unknown
    for (const { tell } of [...this.#watchers]) {
      try {
        tell(request)
        told++
      } catch (error) {
        // One who cannot listen does not answer; it matters only when there is nobody else.
        cause = error
      }
    }
    if (approve) void this.#askApprover(approve, request)
    if (this.#inbox?.isOpen) void this.#post(this.#inbox, request, told === 0)
    else if (told === 0) this.#fail(id, unavailable(request, 'whoever watches failed', cause))
  }

  async #askApprover(approve: Approve, request: ApprovalRequest): Promise<void> {
    try {
      const reply: unknown = await approve(request)
      if (reply !== undefined) this.#answer(request.id, reply)
      else this.#leaveToOthers(request)
    } catch (cause) {
      this.#fail(request.id, unavailable(request, 'the approve callback failed', cause))
    }
  }

  /** The one who was asked first does not answer; somebody else may. */
  #leaveToOthers(request: ApprovalRequest): void {
    const waiting = this.#waiting.get(request.id)
    if (!waiting) return
    const owner = waiting.approve === this.#approve ? undefined : this.#approve
    this.#waiting.set(request.id, { ...waiting, approve: owner })
    if (owner) void this.#askApprover(owner, request)
    else this.#failUnreachable('nobody else can be asked')
  }

  async #post(inbox: Inbox, request: ApprovalRequest, isOnlyWay: boolean): Promise<void> {
    try {
      await inbox.put(request)
    } catch (cause) {
      if (isOnlyWay) this.#fail(request.id, unavailable(request, 'the inbox failed', cause))
    }
  }

  /** An answer from outside: what is no answer ends the wait, because nobody will answer again. */
  #answer(id: string, reply: unknown): void {
    const request = this.#waiting.get(id)?.request
    if (!request) return
    try {
      const parsed = parseReply(reply)
      this.#take(id)?.resolve(parsed)
    } catch (cause) {
      this.#fail(id, unavailable(request, 'the answer makes no sense', cause))
    }
  }

  #fail(id: string, error: ToolError): void {
    this.#take(id)?.reject(error)
  }

  /** Takes a request off the desk, for whoever comes first. */
  #take(id: string): Waiting | undefined {
    const waiting = this.#waiting.get(id)
    if (!waiting) return undefined
    this.#waiting.delete(id)
    // What cannot be removed now is found and cleaned as soon as this process is gone.
    this.#inbox?.remove(id).catch(() => {})
    return waiting
  }
}

function allowed(request: ApprovalRequest, reply: ApprovalReply): ApprovalReply {
  if (reply.decision === 'allow') return reply
  const who = reply.by ?? 'The approver'
  const details = { approval: request.id, reply }
  if (reply.reason) {
    throw new ToolError('APPROVAL_DENIED', `${who} refused ${request.tool}: ${withStop(reply.reason)}`, { details })
  }
  const message = `${who} refused ${request.tool} and gave no reason.`
  throw new ToolError('APPROVAL_DENIED', message, { details, hint: 'Do not repeat the call; ask what to do instead.' })
}

/** What people look at is a copy: nobody can change the call behind its hash, nor show one thing and mean another. */
function frozenCopy(request: ApprovalRequest): ApprovalRequest {
  return deepFreeze(structuredClone(request))
}

function aborted(request: ApprovalRequest, signal: AbortSignal): ToolError {
  return new ToolError('ABORTED', `The caller stopped ${request.tool} while it waited for an approval.`, {
    cause: signal.reason,
  })
}

function timedOut(request: ApprovalRequest, timeoutMs: number): ToolError {
  return new ToolError('APPROVAL_TIMEOUT', `Nobody answered for ${request.tool} within ${timeoutMs} ms.`, {
    details: { approval: request.id, timeoutMs },
  })
}

function unavailable(request: ApprovalRequest, why: string, cause?: unknown): ToolError {
  const { tool, reason, rule } = request
  return new ToolError('APPROVAL_UNAVAILABLE', `${tool} needs an approval and ${why}: ${reason} (${rule})`, {
    details: { approval: request.id },
    ...(cause !== undefined && { cause }),
  })
}
