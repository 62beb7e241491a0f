import { type Clock, isCallerGone, type StoredApproval, ToolError } from '@tool-hub/core'
import { newOwner, retireOwner } from '@tool-hub/sandbox/system'
import {
  type Answerer,
  type ApprovalKind,
  PendingEntry,
  type PendingRequest,
  type QueueOptions,
  type QueueStore,
  type RequestOptions,
  RequestQuota,
  type Responder,
} from './pending-request.ts'
import { adoptRequest, answerStored, claimAnswer, RequestEnds, storeAnswer, storeRequest } from './stored-approvals.ts'

/**
 * Calls that wait for a person. A request can be answered by code (`responder`), by anybody who watches the queue, and through
 * the store, in which every process sees and answers it. The first answer wins; if nobody can be asked, the call fails
 * immediately.
 */
export class ApprovalQueue<Request extends PendingRequest, Answer extends Answerer> {
  readonly #kind: ApprovalKind<Request, Answer>
  readonly #options: QueueOptions<Request>
  readonly #store: QueueStore
  readonly #clock: Clock
  #waitsInStore: boolean
  #isClosed = false
  /** Names this queue in the store as the one that waits. */
  #owner: string | undefined
  readonly #watchers = new Set<{ readonly notify: (request: Request) => void }>()
  readonly #pending = new Map<string, PendingEntry<Request, Answer>>()
  readonly #quota = new RequestQuota()
  /** Ends of requests in the store, perhaps by another process. */
  readonly #ends: RequestEnds
  /** Writes to the store that release requests of callers that went away. */
  readonly #leaving = new Set<Promise<unknown>>()
  /** Writes to the store that no call waits for. */
  readonly #writing = new Set<Promise<unknown>>()

  constructor(kind: ApprovalKind<Request, Answer>, options: QueueOptions<Request>) {
    this.#kind = kind
    this.#options = options
    this.#store = options.store
    this.#ends = new RequestEnds(options.store, options.clock)
    this.#clock = options.clock
    this.#waitsInStore = options.waitsInStore ?? false
  }

  /** Waits for the answer; a no throws. `lost` if another call took the answer, or the request was withdrawn elsewhere. */
  async ask(asked: Request, signal: AbortSignal, options: RequestOptions<Request, Answer>): Promise<Answer | 'lost'> {
    if (signal.aborted) throw this.#kind.explain(asked, { type: 'aborted', signal })
    if (this.#respondersOf(options).length === 0 && !this.#isReachable()) {
      options.onRequested?.()
      throw this.#unavailable(asked, 'nobody can be asked')
    }
    const entry = this.#open(asked, options, false)
    const stop = () => this.#stop(entry, signal)
    signal.addEventListener('abort', stop)
    try {
      // Anybody who is notified can answer immediately, even from another process.
      void entry.stored.then((isStored) => this.#announce(entry, isStored))
      return this.#allowed(await entry.outcome, entry.request)
    } finally {
      signal.removeEventListener('abort', stop)
      // A request that was left stays until it is answered, adopted or expired.
      if (!entry.isLeft) {
        entry.isOver = true
        this.#remove(entry)
        entry.cleanUp()
      }
    }
  }

  /** Requests an answer without waiting: it stays in the store for the same call, made again. */
  async leave(asked: Request, options: RequestOptions<Request, Answer>): Promise<void> {
    if (this.#pending.has(asked.id)) return
    const entry = this.#open(asked, options, true)
    const isStored = await entry.stored
    if (!isStored) {
      this.#remove(entry)
      throw isTooMany(entry.problem) ? entry.problem : this.#unavailable(asked, 'the store failed', entry.problem)
    }
    this.#announce(entry, isStored)
  }

  /** Takes over the request of the same call that waits, or whose answer no call has used. `isLeft`: without waiting for it. */
  async adopt(
    wanted: { readonly hash: string; readonly caller: string },
    isLeft = false,
  ): Promise<StoredApproval | undefined> {
    await Promise.allSettled(this.#leaving)
    const owner = this.#ownerOf(isLeft)
    const adopted = await adoptRequest(this.#store, { ...wanted, owner, now: this.#clock.now() })
    if (adopted?.kind !== this.#kind.kind) return undefined
    const here = this.#pending.get(adopted.id)
    // The same call at the same time is another call: it has a request of its own.
    if (here && !here.isLeft) return undefined
    if (here && !isLeft) this.#remove(here)
    return adopted
  }

  /** Uses an answer that came while no call waited; a no throws. `lost` if another call has used it. */
  async useAnswer(stored: StoredApproval, request: Request): Promise<Answer | 'lost'> {
    return this.#allowed(await this.#use(stored, request), request)
  }

  /** The requests that wait in this process, oldest first. */
  list(): Request[] {
    return [...this.#pending.values()].map(({ request }) => request)
  }

  /**
   * Answers a request of any process after the answer was checked: false if somebody was faster, `undefined` if there is no
   * such request. An answer that cannot be stored throws, and the call continues to wait.
   */
  async answer(id: string, given: unknown, answerer?: Answerer): Promise<boolean | undefined> {
    const entry = this.#pending.get(id)
    if (!entry) return answerStored({ store: this.#store, clock: this.#clock, kind: this.#kind }, id, given, answerer)
    const answer = this.#kind.parse(given, answerer)
    await this.#kind.check?.(answer, entry.request)
    this.#kind.assertFits(answer, entry.request)
    await entry.options.check?.(answer)
    return this.#isPending(entry) && this.#track(this.#settle(entry, answer, { continuesOnFailure: true }))
  }

  /** Answers a request of this process without waiting for the store; false if none with this id waits here. */
  protected answerHere(id: string, given: unknown): boolean {
    const entry = this.#pending.get(id)
    if (!entry) return false
    void this.#track(this.#settle(entry, this.#read(given, entry.request)))
    return true
  }

  /** Calls the listener for every new request; those that wait already are in `list`. Returns a function that removes it. */
  watch(listener: (request: Request) => void): () => void {
    const watcher = { notify: listener }
    this.#watchers.add(watcher)
    return () => {
      this.#watchers.delete(watcher)
      this.#failUnreachable('the last watcher left')
    }
  }

  /** Stops waiting. What the store keeps for the next hub stays there, everything else fails as if nobody were left. */
  async close(): Promise<void> {
    this.#waitsInStore = false
    this.#isClosed = true
    for (const entry of this.#options.outlives ? [...this.#pending.values()] : []) {
      this.#remove(entry)
      entry.reject(this.#kind.explain(entry.request, { type: 'left' }))
    }
    for (const entry of [...this.#pending.values()]) if (entry.isLeft) this.#remove(entry)
    this.#failUnreachable('the hub was closed')
    await Promise.allSettled(this.#writing)
    if (this.#owner !== undefined) retireOwner(this.#owner)
  }

  #respondersOf({ responders = [] }: RequestOptions<Request, Answer>): Responder<Request>[] {
    return [...new Set([...responders, this.#options.responder])].filter((each) => each !== undefined)
  }

  #isReachable(): boolean {
    return this.#watchers.size > 0 || this.#waitsInStore
  }

  /** Fails the requests that nobody is left to answer: they would only time out. */
  #failUnreachable(why: string): void {
    if (this.#isReachable()) return
    for (const entry of this.#pending.values())
      if (entry.responders.length === 0 && !entry.isLeft) this.#end(entry, this.#unavailable(entry.request, why))
  }

  #open(asked: Request, options: RequestOptions<Request, Answer>, isLeft: boolean): PendingEntry<Request, Answer> {
    if (this.#pending.has(asked.id)) throw new ToolError('CONFLICT', `The request ${asked.id} waits already.`)
    const entry = new PendingEntry(asked, options, { responders: this.#respondersOf(options), isLeft })
    const { request } = entry
    this.#pending.set(request.id, entry)
    const leftMs = Math.max(0, Date.parse(request.expiresAt) - this.#clock.now())
    const expire = () => this.#end(entry, this.#kind.explain(request, { type: 'timeout' }), 'expired')
    entry.onCleanUp(this.#clock.after(leftMs, expire, { background: isLeft }))
    entry.stored = this.#track(this.#save(entry))
    return entry
  }

  #announce(entry: PendingEntry<Request, Answer>, isStored: boolean): void {
    if (!this.#isPending(entry)) return
    const { request, responders, problem } = entry
    if (isTooMany(problem)) {
      // Refused even if somebody could answer: one caller must not crowd out the others.
      this.#end(entry, problem)
      return
    }
    entry.options.onRequested?.()
    let notified = responders.length
    let cause: unknown
    for (const { notify } of [...this.#watchers]) {
      try {
        notify(request)
        notified++
      } catch (error) {
        // A watcher that fails does not answer; it matters only if there is nobody else.
        cause = error
      }
    }
    void this.#askResponders(entry)
    if (notified > 0 || entry.isLeft) return
    if (!this.#waitsInStore) this.#end(entry, this.#unavailable(request, 'every watcher failed', cause))
    else if (!isStored) this.#end(entry, this.#unavailable(request, 'the store failed', problem))
  }

  /** Asks one after the other; each may leave the answer to the next. */
  async #askResponders(entry: PendingEntry<Request, Answer>): Promise<void> {
    while (entry.responders.length > 0) {
      const [responder, ...others] = entry.responders
      let given: unknown
      try {
        given = await responder!(entry.request)
      } catch (cause) {
        return this.#end(entry, this.#kind.explain(entry.request, { type: 'responder-failed', cause }))
      }
      if (!this.#isPending(entry)) return
      if (given !== undefined) return this.#take(entry, given)
      entry.responders = others
      if (others.length === 0) this.#failUnreachable('nobody else can be asked')
    }
  }

  /** Takes the answer of code: an invalid one ends the wait, because code will not answer again. */
  #take(entry: PendingEntry<Request, Answer>, given: unknown): void {
    try {
      void this.#track(this.#settle(entry, this.#read(given, entry.request)))
    } catch (cause) {
      this.#end(entry, this.#kind.explain(entry.request, { type: 'invalid-answer', cause }))
    }
  }

  #read(given: unknown, request: Request, answerer?: Answerer): Answer {
    const answer = this.#kind.parse(given, answerer)
    this.#kind.assertFits(answer, request)
    return answer
  }

  /** Stores the request for every process to see; an adopted one may have been answered in the meantime. */
  async #save(entry: PendingEntry<Request, Answer>): Promise<boolean> {
    const { request, isLeft } = entry
    const { id, principal } = request
    const { hash, isAdopted } = entry.options
    try {
      if (principal !== undefined) entry.onCleanUp(this.#quota.reserve(principal, JSON.stringify(request).length))
      entry.onCleanUp(this.#ends.on(id, (stored) => this.#onEnded(entry, stored)))
      const known = isAdopted ? await this.#store.approvals.find(id) : undefined
      if (known && known.state !== 'waiting') this.#onEnded(entry, known)
      if (!known)
        await storeRequest(this.#store, request, { kind: this.#kind.kind, hash, owner: this.#ownerOf(isLeft) })
      return true
    } catch (cause) {
      entry.problem = cause
      return false
    }
  }

  #ownerOf(isLeft: boolean): string | null {
    if (isLeft) return null
    this.#owner ??= newOwner(this.#options.process)
    return this.#owner
  }

  /** Somebody answered or withdrew the request, perhaps in another process. */
  #onEnded(entry: PendingEntry<Request, Answer>, stored: StoredApproval): void {
    if (this.#remove(entry)) void this.#track(this.#takeStored(entry, stored))
  }

  /** An answer that was given here counts only if it is also the first one in the store. */
  async #settle(
    entry: PendingEntry<Request, Answer>,
    answer: Answer,
    { continuesOnFailure = false } = {},
  ): Promise<boolean> {
    this.#remove(entry)
    const { request } = entry
    const { id, callId } = request
    let outcome: { readonly won: boolean; readonly ask: StoredApproval } | undefined
    try {
      if (await entry.stored)
        outcome = await storeAnswer(this.#store, id, { ...this.#kind.encode(answer), at: this.#clock.now() })
    } catch (cause) {
      if (continuesOnFailure) this.#continue(entry)
      else entry.reject(this.#unavailable(request, 'the store failed', cause))
      throw cause
    }
    try {
      if (outcome && !outcome.won) {
        await this.#takeStored(entry, outcome.ask)
        return false
      }
      const isOurs =
        !outcome || entry.isLeft || (await claimAnswer(this.#store, { id, callId, now: this.#clock.now() }))
      entry.resolve(isOurs ? answer : 'lost')
    } catch (cause) {
      // The answer is stored, and the same call made again uses it.
      entry.reject(this.#unavailable(request, 'the store failed', cause))
    }
    return true
  }

  /** Waits as before, for another answer. A request that no call waits for is in the store alone. */
  #continue(entry: PendingEntry<Request, Answer>): void {
    if (entry.isLeft || entry.isOver) return
    this.#pending.set(entry.request.id, entry)
    if (this.#isClosed) this.#end(entry, this.#unavailable(entry.request, 'the hub was closed'))
    else this.#failUnreachable('the store failed')
    // It may be stored nevertheless.
    void this.#ends.look(entry.request.id)
  }

  async #takeStored(entry: PendingEntry<Request, Answer>, stored: StoredApproval): Promise<void> {
    if (entry.isLeft) return
    try {
      entry.resolve(await this.#use(stored, entry.request))
    } catch (error) {
      entry.reject(error)
    }
  }

  async #use({ id, answer }: StoredApproval, request: Request): Promise<Answer | 'lost'> {
    const { callId } = request
    if (!answer || !(await claimAnswer(this.#store, { id, callId, now: this.#clock.now() }))) return 'lost'
    try {
      return this.#read(JSON.parse(answer.reply), request, { by: answer.by, via: answer.via })
    } catch (cause) {
      throw this.#kind.explain(request, { type: 'invalid-answer', cause })
    }
  }

  #allowed(answer: Answer | 'lost', request: Request): Answer | 'lost' {
    const refusal = answer === 'lost' ? undefined : this.#kind.refusal?.(answer, request)
    if (refusal) throw refusal
    return answer
  }

  /** A caller that stops its call withdraws the request; if it only went away, the request can still be answered. */
  #stop(entry: PendingEntry<Request, Answer>, signal: AbortSignal): void {
    const { request } = entry
    if (!isCallerGone(signal.reason) || !this.#isPending(entry)) {
      this.#end(entry, this.#kind.explain(request, { type: 'aborted', signal }))
      return
    }
    entry.isLeft = true
    const leaving = this.#writeIfStored(entry, ({ approvals }) => approvals.leave(request.id, null))
    void this.#track(leaving, this.#leaving)
    entry.reject(this.#kind.explain(request, { type: 'left' }))
  }

  /** Ends the wait without an answer, and withdraws the request. */
  #end(entry: PendingEntry<Request, Answer>, error: unknown, state: 'withdrawn' | 'expired' = 'withdrawn'): void {
    entry.reject(error)
    if (!this.#remove(entry)) return
    void this.#writeIfStored(entry, ({ approvals }) => approvals.withdraw(entry.request.id, state))
  }

  #writeIfStored(entry: PendingEntry<Request, Answer>, write: (store: QueueStore) => unknown): Promise<unknown> {
    return this.#track(entry.stored.then((isStored) => (isStored ? write(this.#store) : undefined)))
  }

  #unavailable(request: Request, why: string, cause?: unknown): unknown {
    return this.#kind.explain(request, { type: 'unavailable', why, cause })
  }

  #isPending(entry: PendingEntry<Request, Answer>): boolean {
    return this.#pending.get(entry.request.id) === entry
  }

  /** Takes a request out of the queue; true for the first to do so. */
  #remove(entry: PendingEntry<Request, Answer>): boolean {
    if (!this.#isPending(entry)) return false
    this.#pending.delete(entry.request.id)
    if (entry.isLeft) entry.cleanUp()
    return true
  }

  /** Closing waits for these writes; a request that cannot be withdrawn now expires. */
  #track<T>(writing: Promise<T>, among = this.#writing): Promise<T> {
    among.add(writing)
    const done = () => among.delete(writing)
    writing.then(done, done)
    return writing
  }
}

function isTooMany(problem: unknown): boolean {
  return ToolError.is(problem) && problem.code === 'RATE_LIMITED'
}
