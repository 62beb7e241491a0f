import { type Clock, type FetchOptions, type GuardedResponse, ToolError } from '@tool-hub/core'
import { type DeadlineWatch, RequestDeadline } from './deadline.ts'

import { type ExchangeResult, exchange, toNetworkError } from './exchange.ts'
import { BegunAnswer, StreamedAnswer, WholeAnswer } from './guarded-answer.ts'
import type { Hop, RequestParts } from './http-request.ts'
import { type BodyLimit, drain, readBodyChunks, readWholeBody, type WholeBody, withinLimit } from './read-body.ts'
import { cacheKey, type KeptAnswer, mayKeep, validators } from './response-cache.ts'
import { type NetworkCall, permitUrl, sendHop, type Transfer, type Wire } from './transfer.ts'

const BASE_MS = 200

const PASSING_STATUS = new Set([429, 502, 503, 504])

/** A checked request with its limits. */
export interface Order {
  readonly first: Hop
  readonly options: FetchOptions
  readonly call: NetworkCall
  readonly limit: BodyLimit
  /** For a response over that limit, which continues as a stream. */
  readonly streamLimit: () => BodyLimit
  readonly timeoutMs: number
  readonly clock: Clock
  readonly watch: DeadlineWatch
}

/** One request of a tool: its hops, retries and response, under one deadline. */
export class GuardedRequest {
  readonly #wire: Wire
  readonly #order: Order
  readonly #deadline: RequestDeadline
  readonly #key: string | undefined
  readonly #kept: { readonly answer: KeptAnswer; readonly ageMs: number } | undefined
  #isStreaming = false

  constructor(wire: Wire, order: Order) {
    const { call, options, first } = order
    this.#wire = wire
    this.#order = order
    this.#key = call.cache && !options.stream ? cacheKey(first) : undefined
    this.#kept = this.#key === undefined ? undefined : call.cache?.find(this.#key)
    this.#deadline = new RequestDeadline(order.watch, call, order.timeoutMs)
  }

  async run(): Promise<GuardedResponse> {
    const { first, options, call } = this.#order
    try {
      this.#deadline.check()
      if (this.#kept && this.#kept.ageMs <= (options.maxAgeMs ?? -1)) return this.#giveAgain(this.#kept.answer)
      const most = maxRetries(first.method, options, call)
      for (let retry = 0; retry < most; retry += 1) {
        const response = await this.#try(retry)
        if (response) return response
        call.onRetry?.()
      }
      return await this.#respond(await this.#exchange())
    } catch (error) {
      this.#ended(isPassingFailure(error))
      throw error
    } finally {
      if (!this.#isStreaming) this.#deadline.stop()
    }
  }

  /** One attempt that is not the last. Returns undefined, after a pause, if it failed for a temporary reason. */
  async #try(retry: number): Promise<GuardedResponse | undefined> {
    const { clock } = this.#order
    let pauseMs: number
    try {
      const answer = await this.#exchange()
      const { status, headers } = answer.transfer
      pauseMs = waitBeforeRetryMs(retry, headers['retry-after'], clock.now())
      // If no time is left for another attempt, this is the response.
      if (!isPassingStatus(status) || pauseMs >= this.#deadline.leftMs) return await this.#respond(answer)
      await this.#inTime(drain(answer.transfer), answer.hop)
    } catch (error) {
      pauseMs = waitBeforeRetryMs(retry, undefined, clock.now())
      if (!isPassingFailure(error) || pauseMs >= this.#deadline.leftMs) throw error
    }
    await this.#deadline.pause(pauseMs, clock)
    return undefined
  }

  #exchange(): Promise<ExchangeResult> {
    const { first, call } = this.#order
    const asked = this.#kept && validators(this.#kept.answer)
    if (!asked) return exchange(first, (hop) => sendHop(this.#wire, hop, call, this.#deadline), this.#deadline)
    const { href } = this.#kept!.answer.urls.at(-1)!
    const asking = (hop: Hop) =>
      sendHop(this.#wire, hop, call, this.#deadline, hop.url.href === href ? asked : undefined)
    return exchange(first, asking, this.#deadline)
  }

  async #respond({ hop, transfer, urls }: ExchangeResult): Promise<GuardedResponse> {
    const { status, headers } = transfer
    const { options, limit, call } = this.#order
    this.#ended(isPassingStatus(status))
    const facts = { status, headers, url: hop.url.href, isCached: false, signal: call.signal }
    if (options.stream) {
      this.#isStreaming = true
      return new StreamedAnswer(facts, (onCut) => this.#stream(readBodyChunks(hop, transfer, limit, onCut), hop))
    }
    if (status === 304 && this.#kept) {
      await this.#inTime(drain(transfer), hop)
      const answer = { ...this.#kept.answer, urls }
      call.cache!.keep(this.#key!, answer)
      return this.#giveAgain(answer)
    }
    const body = await this.#inTime(this.#read(hop, transfer), hop)
    if (this.#key !== undefined && !body.isCut && mayKeep(facts, options.maxAgeMs !== undefined)) {
      // A copy: the tool may change the bytes it gets.
      call.cache!.keep(this.#key, { status, headers, urls, bytes: Buffer.from(body.bytes) })
    }
    if (!body.whole) return new WholeAnswer(facts, body)
    this.#isStreaming = true
    return new BegunAnswer(facts, body.bytes, () => this.#stream(body.whole!, hop))
  }

  #ended(hasFailedTemporarily: boolean): void {
    const { first, options, call } = this.#order
    if (first.method === 'POST' && maxRetries(first.method, options, call) > 0) call.onPost?.(hasFailedTemporarily)
  }

  #read(hop: Hop, transfer: ExchangeResult['transfer']): Promise<BegunBody> {
    const { limit, streamLimit } = this.#order
    return limit.overflow === 'stream'
      ? beginBody(hop, transfer, limit, streamLimit())
      : readWholeBody(hop, transfer, limit)
  }

  /** The chunks of a body; the deadline applies to them, and ends with the last. */
  async *#stream(chunks: AsyncGenerator<Buffer, void>, { url }: Hop): AsyncGenerator<Buffer, void> {
    try {
      yield* chunks
    } catch (error) {
      this.#deadline.check()
      throw toNetworkError(error, url)
    } finally {
      this.#deadline.stop()
    }
  }

  /** Returns a cached response if this call may request every URL that led to it. */
  #giveAgain({ status, headers, urls, bytes }: KeptAnswer): GuardedResponse {
    const { limit, streamLimit, call } = this.#order
    for (const url of urls) permitUrl(this.#wire, url, call)
    call.onAnswer?.(urls.at(-1)!)
    const facts = { status, headers, url: urls.at(-1)!.href, isCached: true, signal: call.signal }
    if (limit.overflow !== 'stream') return new WholeAnswer(facts, withinLimit(Buffer.from(bytes), limit))
    const whole = withinLimit(Buffer.from(bytes), streamLimit())
    if (bytes.length <= limit.maxBytes) return new WholeAnswer(facts, whole)
    return new BegunAnswer(facts, Buffer.from(bytes.subarray(0, limit.maxBytes)), async function* () {
      yield whole.bytes
    })
  }

  /** Turns a failure while reading into an error for the caller. */
  async #inTime<T>(reading: Promise<T>, { url }: Hop): Promise<T> {
    try {
      return await reading
    } catch (error) {
      this.#deadline.check()
      throw toNetworkError(error, url)
    }
  }
}

/** How often a request may be retried: a GET or HEAD as often as its tool requests, a POST only with a key and the owner's permission. */
export function maxRetries(
  method: RequestParts['method'],
  { retries = 0 }: FetchOptions,
  { idempotencyKey, postRetries = 0 }: NetworkCall,
): number {
  if (method === 'GET' || method === 'HEAD') return retries
  return method === 'POST' && idempotencyKey !== undefined ? postRetries : 0
}

/** Whether a response may be different in a moment. */
export function isPassingStatus(status: number): boolean {
  return PASSING_STATUS.has(status)
}

/** Whether a network failure may be temporary. */
export function isPassingFailure(error: unknown): boolean {
  return ToolError.is(error) && error.code === 'UPSTREAM_ERROR' && error.retryable
}

/** The pause before a retry: twice as long each time, with jitter, and at least what the server requests. */
export function waitBeforeRetryMs(retry: number, retryAfter: string | undefined, now: number): number {
  const ms = BASE_MS * 2 ** retry * (0.5 + Math.random() / 2)
  return Math.max(ms, retryAfterMs(retryAfter, now))
}

function retryAfterMs(text: string | undefined, now: number): number {
  if (text === undefined) return 0
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now
  return Number.isNaN(ms) ? 0 : ms
}

/** A body that was read up to a limit. */
interface BegunBody extends WholeBody {
  /** The complete body from its first byte, if it continues after the limit. */
  readonly whole?: AsyncGenerator<Buffer, void>
}

/** Reads a body up to `maxBytes`; a longer one can still be read completely, as a stream with its own limit. */
async function beginBody(
  hop: Hop,
  transfer: Transfer,
  { maxBytes }: BodyLimit,
  streamLimit: BodyLimit,
): Promise<BegunBody> {
  const chunks = readBodyChunks(hop, transfer, streamLimit, () => {})
  const taken: Buffer[] = []
  let length = 0
  // Written so that a limit that is not a number stops everything.
  do {
    const next = await chunks.next()
    if (next.done) return { bytes: Buffer.concat(taken), isCut: false }
    taken.push(next.value)
    length += next.value.length
  } while (length <= maxBytes)
  const head = Buffer.concat(taken)
  return { bytes: head.subarray(0, maxBytes), isCut: true, whole: withHead(head, chunks) }
}

/** Discarding the stream also discards the rest of the body. */
async function* withHead(head: Buffer, rest: AsyncGenerator<Buffer, void>): AsyncGenerator<Buffer, void> {
  try {
    // A copy: the tool may change the bytes it gets, and the beginning is returned twice.
    yield Buffer.from(head)
    yield* rest
  } finally {
    await rest.return()
  }
}
