import { type Clock, systemClock } from '../../core/index.ts'
import type { AnswerPages } from '../approvals/answer-links.ts'
import type { Authenticator } from '../auth/authenticator.ts'
import type { Service } from '../service.ts'
import { HttpRefusal } from './answers.ts'
import type { EventStream } from './event-stream.ts'
import { McpEndpoints, type ProtectedResource } from './mcp-endpoints.ts'
import type { BodyLimits } from './read-body.ts'
import { Readiness } from './readiness.ts'

/** The streams of events that are open, bounded in all and for each principal. */
class StreamTable {
  readonly #most: { readonly all: number; readonly each: number }
  readonly #streams = new Map<EventStream, string>()
  readonly #counts = new Map<string, number>()

  constructor(most: { readonly all: number; readonly each: number }) {
    this.#most = most
  }

  /** Refuses when there is no room for one more of a principal. */
  check(principal: string): void {
    const own = this.#counts.get(principal) ?? 0
    if (own >= this.#most.each) throw full(`${principal} has ${own} streams open, the most that one may have.`)
    if (this.#streams.size >= this.#most.all)
      throw full(`${this.#streams.size} streams are open, the most there may be.`)
  }

  add(stream: EventStream, principal: string): void {
    this.#streams.set(stream, principal)
    this.#counts.set(principal, (this.#counts.get(principal) ?? 0) + 1)
  }

  remove(stream: EventStream): void {
    const principal = this.#streams.get(stream)
    if (principal === undefined) return
    this.#streams.delete(stream)
    const left = this.#counts.get(principal)! - 1
    if (left > 0) this.#counts.set(principal, left)
    else this.#counts.delete(principal)
  }

  endAll(): void {
    for (const stream of this.#streams.keys()) stream.end()
  }
}

/**
 * Lets the calls that came in one turn of the event loop start together: then one write to the record serves all of
 * them, which twice as many calls a second are made of (measured with 64 in flight). It costs a lone call nothing but the
 * rest of the turn.
 */
class CallTurns {
  #next: Promise<void> | undefined

  next(): Promise<void> {
    this.#next ??= new Promise((resolve) => {
      setImmediate(() => {
        this.#next = undefined
        resolve()
      })
    })
    return this.#next
  }
}

const MAX_CALL_BYTES = 10_000_000
const MAX_BODY_BYTES = 1_000_000
const MAX_STREAMS = { all: 10_000, each: 100 }

/** What all requests of one HTTP door share. */
export class HttpContext {
  readonly service: Service
  readonly authenticator: Authenticator
  readonly answers: AnswerPages | undefined
  readonly resource: ProtectedResource | undefined
  readonly clock: Clock
  readonly callLimits: BodyLimits
  readonly bodyLimits: BodyLimits
  readonly maxBodyBytes: number
  readonly maxWaitingBytes: number | undefined
  readonly turns = new CallTurns()
  readonly streams: StreamTable
  readonly mcp: McpEndpoints
  readonly readiness: Readiness
  /** The OpenAPI document of all routes. */
  readonly document: () => string
  isClosing = false
  readonly #onError: HttpOptions['onError']

  constructor(parts: HttpOptions, document: () => string) {
    this.document = document
    const { service, authenticator, clock = systemClock, allowedHosts, allowedOrigins } = parts
    this.service = service
    this.authenticator = authenticator
    this.answers = parts.answers
    this.resource = parts.resource
    this.clock = clock
    const maxEntries = service.hub.maxInputEntries
    this.callLimits = { maxBytes: parts.maxCallBytes ?? MAX_CALL_BYTES, maxEntries }
    this.maxBodyBytes = parts.maxBodyBytes ?? MAX_BODY_BYTES
    this.bodyLimits = { maxBytes: this.maxBodyBytes, maxEntries }
    this.maxWaitingBytes = parts.maxWaitingBytes
    this.#onError = parts.onError
    this.streams = new StreamTable(parts.maxStreams ?? MAX_STREAMS)
    this.mcp = new McpEndpoints({
      allowedHosts,
      allowedOrigins,
      maxBodyBytes: this.callLimits.maxBytes,
      maxBodyEntries: maxEntries,
      clock,
      onError: this.report,
    })
    this.readiness = new Readiness(service, clock)
  }

  readonly report = (error: unknown): void => {
    this.#onError?.(error)
  }

  /** Takes nothing new, ends who only listens; calls under way go on. */
  async close({ graceMs }: { readonly graceMs: number }): Promise<void> {
    this.isClosing = true
    this.streams.endAll()
    await this.mcp.close({ graceMs })
  }
}

function full(message: string): HttpRefusal {
  return new HttpRefusal(429, 'RATE_LIMITED', message, { hint: 'Close one, or wait.', headers: { 'retry-after': '5' } })
}

/** What the HTTP door is made of. */
export interface HttpOptions {
  readonly service: Service
  readonly authenticator: Authenticator
  /** The pages behind the links of webhooks, where there are any. */
  readonly answers?: AnswerPages
  /** `/mcp` as a resource of OAuth, where people sign in with an identity provider. */
  readonly resource?: ProtectedResource
  /** Folder of the built console; a page says how to build it when there is none. */
  readonly consoleFolder?: string
  /** Names by which this server may be addressed, beside those of loopback, as the authenticator has them. */
  readonly allowedHosts?: readonly string[]
  /** Pages of other origins that may use it: `https://app.example.org`. The authenticator has to know them too. */
  readonly allowedOrigins?: readonly string[]
  /** Bytes of the body of a call; 10 MB unless said. */
  readonly maxCallBytes?: number
  /** Bytes of any other body; 1 MB unless said. */
  readonly maxBodyBytes?: number
  /** Streams of `/v1/events` at once, in all and of one principal; 10,000 and 100 unless said. */
  readonly maxStreams?: { readonly all: number; readonly each: number }
  /** Bytes that wait for a slow reader of events before it is cut off; 1 MB unless said. */
  readonly maxWaitingBytes?: number
  /** Hears of failures that nobody expected. */
  readonly onError?: (error: unknown) => void
  readonly clock?: Clock
}
