import { isCallerGone } from '../caller-gone.ts'
import type { Clock } from '../clock.ts'
import { ToolError } from '../errors.ts'
import type { Ask, AskAnswer } from '../store.ts'
import { deepFreeze } from '../value/deep-freeze.ts'
import type { AskBoard } from './ask-board.ts'
import type { Asked, AskKind, AskWays, Reply } from './ask-kind.ts'
import { encodeRequest } from './encode-request.ts'
import { WaitingRoom } from './waiting-room.ts'

interface Waiting<Q, A> extends AskWays<Q, A> {
  readonly request: Q
  /** Nobody waits: the answer is for the same call, made again. */
  isLeft: boolean
  /** Those who may still be asked in code. */
  inCode: ReadonlyArray<(request: Q) => unknown>
  /** Whether other processes can see it. */
  filed: Promise<boolean>
  problem?: unknown
  readonly resolve: (reply: Reply<A> | 'lost') => void
  readonly reject: (error: unknown) => void
  readonly cleanUp: (() => void)[]
  /** It has an answer, or has failed. */
  isOver?: boolean
}

/**
 * Where calls wait for people. Three ways lead there: code that stands for one, whoever watches, and the store, in which
 * every process sees and answers asks. The first answer wins, and without any way the call fails at once.
 */
export class AskDesk<Q extends Asked, A> {
  readonly #kind: AskKind<Q, A>
  readonly #board: AskBoard
  readonly #clock: Clock
  readonly #outlives: boolean
  #waitsInStore: boolean
  #isClosed = false
  readonly #watchers = new Set<{ readonly tell: (request: Q) => void }>()
  readonly #waiting = new Map<string, Waiting<Q, A>>()
  readonly #room = new WaitingRoom()
  /** Asks whose caller went away, while the store is told. */
  readonly #leaving = new Set<Promise<unknown>>()
  /** Writes to the store that nobody waits for. */
  readonly #writing = new Set<Promise<unknown>>()

  constructor(options: {
    readonly kind: AskKind<Q, A>
    readonly board: AskBoard
    readonly clock: Clock
    /** Asks may wait for another process alone. */
    readonly waitsInStore: boolean
    /** What waits when the hub is closed stays for the next one. */
    readonly outlives: boolean
  }) {
    this.#kind = options.kind
    this.#board = options.board
    this.#clock = options.clock
    this.#waitsInStore = options.waitsInStore
    this.#outlives = options.outlives
  }

  /** Waits for the answer; `lost` when another call took it, or the ask was withdrawn elsewhere. */
  async ask(request: Q, signal: AbortSignal, ways: AskWays<Q, A>): Promise<Reply<A> | 'lost'> {
    if (signal.aborted) throw this.#kind.aborted(request, signal)
    if (ways.inCode.length === 0 && !this.#isReachable()) {
      ways.onAsked?.()
      throw this.#kind.unavailable(request, 'nobody can be asked')
    }
    const { promise, ...settle } = withResolvers<Reply<A> | 'lost'>()
    const waiting = this.#open(request, { ...ways, ...settle, isLeft: false })
    const stop = () => this.#stop(waiting, signal)
    signal.addEventListener('abort', stop)
    try {
      // Whoever is told can answer at once, also from another process.
      void waiting.filed.then((isFiled) => this.#announce(waiting, isFiled))
      return await promise
    } finally {
      signal.removeEventListener('abort', stop)
      // What was left stays until it is answered, adopted or expired.
      if (!waiting.isLeft) {
        waiting.isOver = true
        this.#forget(waiting)
        for (const clean of waiting.cleanUp) clean()
      }
    }
  }

  /** Asks without waiting: the answer stays in the store for the same call, made again. */
  async leave(request: Q, ways: AskWays<Q, A>): Promise<void> {
    if (this.#waiting.has(request.id)) return
    const nobody = () => {}
    const waiting = this.#open(request, { ...ways, resolve: nobody, reject: nobody, isLeft: true })
    const isFiled = await waiting.filed
    if (!isFiled) {
      this.#forget(waiting)
      throw isTooMany(waiting.problem)
        ? waiting.problem
        : this.#kind.unavailable(request, 'the store failed', waiting.problem)
    }
    this.#announce(waiting, isFiled)
  }

  /** An ask for the same call that waits, or whose answer nobody has used, of an earlier process or one that was left. */
  async adopt(asked: { readonly hash: string; readonly caller: string }, isLeft = false): Promise<Ask | undefined> {
    await Promise.allSettled(this.#leaving)
    const ask = await this.#board.adopt(asked, isLeft)
    if (ask?.kind !== this.#kind.kind) return undefined
    const here = this.#waiting.get(ask.id)
    // The same call at the same time is another call: it asks for itself.
    if (here && !here.isLeft) return undefined
    if (here && !isLeft) this.#forget(here)
    return ask
  }

  /** Uses an answer that came while nobody waited; `lost` when another call has used it. */
  async useAnswer(ask: Ask, request: Q): Promise<Reply<A> | 'lost'> {
    if (!ask.answer || !(await this.#board.claim(ask.id, request.callId))) return 'lost'
    return this.#decode(ask.answer, request)
  }

  /** What waits for an answer, oldest first. */
  list(): Q[] {
    return [...this.#waiting.values()].map(({ request }) => request)
  }

  find(id: string): Q | undefined {
    return this.#waiting.get(id)?.request
  }

  /** Answers; false when nothing with this id waits here (any more). */
  reply(id: string, answer: unknown): boolean {
    const waiting = this.#waiting.get(id)
    if (!waiting) return false
    const reply = this.#kind.read(answer, waiting.request)
    void this.#track(this.#settle(waiting, reply))
    return true
  }

  /**
   * The same, after the answer was looked at; says whether it was the first in all processes. An answer that cannot be
   * stored is thrown, and the call waits on: it can be answered again.
   */
  async answer(id: string, answer: unknown): Promise<boolean> {
    const waiting = this.#waiting.get(id)
    if (!waiting) return false
    const reply = this.#kind.read(answer, waiting.request)
    await waiting.check?.(reply.answer)
    return this.#waiting.get(id) === waiting && this.#track(this.#settle(waiting, reply, { waitsOn: true }))
  }

  /** Tells of every new request; what waits already is in `list`. Returns how to stop watching. */
  watch(listener: (request: Q) => void): () => void {
    const watcher = { tell: listener }
    this.#watchers.add(watcher)
    return () => {
      this.#watchers.delete(watcher)
      this.#failUnreachable('the last watcher left')
    }
  }

  /** Waits for nothing more. What the store keeps for the next hub stays there, everything else fails as if nobody were left. */
  async close(): Promise<void> {
    this.#waitsInStore = false
    this.#isClosed = true
    for (const waiting of this.#outlives ? [...this.#waiting.values()] : []) {
      this.#forget(waiting)
      waiting.reject(this.#kind.leftBehind(waiting.request))
    }
    for (const waiting of [...this.#waiting.values()]) if (waiting.isLeft) this.#forget(waiting)
    this.#failUnreachable('the hub was closed')
    await Promise.allSettled(this.#writing)
    this.#board.retire()
  }

  #isReachable(): boolean {
    return this.#watchers.size > 0 || this.#waitsInStore
  }

  /** Nobody is left to answer: what waits would only time out. */
  #failUnreachable(why: string): void {
    if (this.#isReachable()) return
    for (const waiting of this.#waiting.values())
      if (waiting.inCode.length === 0 && !waiting.isLeft)
        this.#end(waiting, this.#kind.unavailable(waiting.request, why))
  }

  /** Everybody who is told gets one frozen copy: nobody can change the call behind its hash. */
  #open(asked: Q, ways: Omit<Waiting<Q, A>, 'request' | 'filed' | 'cleanUp'>): Waiting<Q, A> {
    const request = deepFreeze(structuredClone(asked))
    if (this.#waiting.has(request.id)) throw new ToolError('CONFLICT', `The ask ${request.id} waits already.`)
    const waiting: Waiting<Q, A> = { ...ways, request, filed: Promise.resolve(false), cleanUp: [] }
    this.#waiting.set(request.id, waiting)
    const leftMs = Math.max(0, Date.parse(request.expiresAt) - this.#clock.now())
    const expire = () => this.#end(waiting, this.#kind.timedOut(request), 'expired')
    waiting.cleanUp.push(this.#clock.after(leftMs, expire, { background: waiting.isLeft }))
    waiting.filed = this.#track(this.#post(waiting))
    return waiting
  }

  #announce(waiting: Waiting<Q, A>, isFiled: boolean): void {
    if (!this.#waits(waiting)) return
    const { request, inCode, problem } = waiting
    if (isTooMany(problem)) {
      // Whoever is there to answer: people see no more than so many of one caller.
      this.#end(waiting, problem)
      return
    }
    waiting.onAsked?.()
    let told = inCode.length
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
    this.#askInCode(waiting)
    if (told > 0 || waiting.isLeft) return
    if (!this.#waitsInStore) this.#end(waiting, this.#kind.unavailable(request, 'whoever watches failed', cause))
    else if (!isFiled) this.#end(waiting, this.#kind.unavailable(request, 'the store failed', problem))
  }

  #askInCode(waiting: Waiting<Q, A>): void {
    const [first, ...others] = waiting.inCode
    if (first) void this.#askOne(waiting, first, others)
  }

  /** The one who was asked first may leave the answer to the others. */
  async #askOne(
    waiting: Waiting<Q, A>,
    ask: (request: Q) => unknown,
    others: ReadonlyArray<(request: Q) => unknown>,
  ): Promise<void> {
    let answer: unknown
    try {
      answer = await ask(waiting.request)
    } catch (cause) {
      return this.#end(waiting, this.#kind.failed(waiting.request, cause))
    }
    if (!this.#waits(waiting)) return
    if (answer !== undefined) return this.#take(waiting, answer)
    waiting.inCode = others
    this.#askInCode(waiting)
    if (others.length === 0) this.#failUnreachable('nobody else can be asked')
  }

  /** An answer of code: what is none ends the wait, because it will not answer again. */
  #take(waiting: Waiting<Q, A>, answer: unknown): void {
    try {
      void this.#track(this.#settle(waiting, this.#kind.read(answer, waiting.request)))
    } catch (cause) {
      this.#end(waiting, this.#kind.nonsense(waiting.request, cause))
    }
  }

  /** Lays the ask where every process sees it; what was adopted may have been answered meanwhile. */
  async #post(waiting: Waiting<Q, A>): Promise<boolean> {
    const { request, hash, isLeft, isAdopted } = waiting
    const { id, callId, run, tool, principal, caller } = request
    try {
      if (principal !== undefined) waiting.cleanUp.push(this.#room.take(principal, JSON.stringify(request).length))
      waiting.cleanUp.push(this.#board.listen(id, (ask) => this.#hear(waiting, ask)))
      const known = isAdopted ? await this.#board.find(id) : undefined
      if (known) {
        if (known.state !== 'waiting') this.#hear(waiting, known)
        return true
      }
      const times = { askedAt: Date.parse(request.askedAt), expiresAt: Date.parse(request.expiresAt) }
      const asked = { id, kind: this.#kind.kind, callId, run, tool, caller: principal ?? caller, hash, ...times }
      const filed = { ...asked, request: encodeRequest(request) }
      await this.#board.file(filed, { isLeft, isOfPrincipal: principal !== undefined })
      return true
    } catch (cause) {
      waiting.problem = cause
      return false
    }
  }

  /** Somebody answered or withdrew it, perhaps in another process. */
  #hear(waiting: Waiting<Q, A>, ask: Ask): void {
    if (this.#forget(waiting)) void this.#track(this.#takeStored(waiting, ask))
  }

  /** An answer that was given here counts when it is the first in the store, too. */
  async #settle(waiting: Waiting<Q, A>, reply: Reply<A>, { waitsOn = false } = {}): Promise<boolean> {
    this.#forget(waiting)
    const { request } = waiting
    let outcome: { readonly won: boolean; readonly ask: Ask } | undefined
    try {
      if (await waiting.filed) outcome = await this.#board.answer(request.id, this.#kind.encode(reply))
    } catch (cause) {
      if (waitsOn) this.#waitOn(waiting)
      else waiting.reject(this.#kind.unavailable(request, 'the store failed', cause))
      throw cause
    }
    try {
      if (outcome && !outcome.won) {
        await this.#takeStored(waiting, outcome.ask)
        return false
      }
      const isOurs = !outcome || waiting.isLeft || (await this.#board.claim(request.id, request.callId))
      waiting.resolve(isOurs ? reply : 'lost')
    } catch (cause) {
      // The answer is stored, and the same call made again uses it.
      waiting.reject(this.#kind.unavailable(request, 'the store failed', cause))
    }
    return true
  }

  /** Waits as before, for another answer. One that nobody waits for is in the store alone. */
  #waitOn(waiting: Waiting<Q, A>): void {
    if (waiting.isLeft || waiting.isOver) return
    this.#waiting.set(waiting.request.id, waiting)
    if (this.#isClosed) this.#end(waiting, this.#kind.unavailable(waiting.request, 'the hub was closed'))
    else this.#failUnreachable('the store failed')
  }

  async #takeStored(waiting: Waiting<Q, A>, ask: Ask): Promise<void> {
    if (waiting.isLeft) return
    try {
      waiting.resolve(await this.useAnswer(ask, waiting.request))
    } catch (error) {
      waiting.reject(error)
    }
  }

  #decode(answer: AskAnswer, request: Q): Reply<A> {
    try {
      return this.#kind.decode(answer, request)
    } catch (cause) {
      throw this.#kind.nonsense(request, cause)
    }
  }

  /** A caller that stops its call withdraws what it asked; one that went away does not: what waits can be answered. */
  #stop(waiting: Waiting<Q, A>, signal: AbortSignal): void {
    const { request } = waiting
    if (!isCallerGone(signal.reason) || !this.#waits(waiting)) {
      this.#end(waiting, this.#kind.aborted(request, signal))
      return
    }
    waiting.isLeft = true
    const leaving = this.#track(waiting.filed.then((isFiled) => (isFiled ? this.#board.leave(request.id) : undefined)))
    void this.#track(leaving, this.#leaving)
    waiting.reject(this.#kind.leftBehind(request))
  }

  /** Ends the wait without an answer: nobody is asked any more. */
  #end(waiting: Waiting<Q, A>, error: unknown, state: 'withdrawn' | 'expired' = 'withdrawn'): void {
    waiting.reject(error)
    if (!this.#forget(waiting)) return
    const { id } = waiting.request
    void this.#track(waiting.filed.then((isFiled) => (isFiled ? this.#board.withdraw(id, state) : undefined)))
  }

  #waits(waiting: Waiting<Q, A>): boolean {
    return this.#waiting.get(waiting.request.id) === waiting
  }

  /** Takes an ask off the desk, for whoever comes first. */
  #forget(waiting: Waiting<Q, A>): boolean {
    if (!this.#waits(waiting)) return false
    this.#waiting.delete(waiting.request.id)
    if (waiting.isLeft) for (const clean of waiting.cleanUp) clean()
    return true
  }

  /** What cannot be withdrawn now ends with its time; closing waits for the rest. */
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

function withResolvers<T>() {
  let resolve: (value: T) => void = () => {}
  let reject: (error: unknown) => void = () => {}
  const promise = new Promise<T>((yes, no) => {
    resolve = yes
    reject = no
  })
  return { promise, resolve, reject }
}
