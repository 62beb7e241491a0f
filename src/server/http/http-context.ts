import { type Clock, systemClock, ToolError } from '../../core/index.ts'
import { descriptorLimit, openDescriptors } from '../../system/index.ts'
import type { AnswerPages } from '../approvals/answer-links.ts'
import type { Authenticator } from '../auth/authenticator.ts'
import type { Service } from '../service.ts'
import { HttpRefusal } from './answers.ts'
import type { EventStream } from './event-stream.ts'
import { McpEndpoints, type ProtectedResource } from './mcp-endpoints.ts'
import type { BodyLimits } from './read-body.ts'

const FRESH_MS = 1_000

const TIMEOUT_MS = 5_000

/** With fewer free descriptors a call that starts a command or opens files may fail. */
const MIN_FREE_DESCRIPTORS = 64

/** Whether the service can take calls. Everybody may ask, and asking writes to the store: so it is looked at once a second. */
export class Readiness {
  readonly #service: Pick<Service, 'store' | 'hub' | 'checkRecords'>
  readonly #clock: Clock
  readonly #descriptors: Descriptors
  #looked: { readonly at: number; readonly problem: Promise<NotReady | undefined> } | undefined

  constructor(
    service: Pick<Service, 'store' | 'hub' | 'checkRecords'>,
    clock: Clock,
    descriptors: Descriptors = { limit: descriptorLimit, open: openDescriptors },
  ) {
    this.#service = service
    this.#clock = clock
    this.#descriptors = descriptors
  }

  /** What is wrong; `undefined` if nothing is. */
  problem(): Promise<NotReady | undefined> {
    const now = this.#clock.now()
    if (!this.#looked || Math.abs(now - this.#looked.at) >= FRESH_MS) this.#looked = { at: now, problem: this.#look() }
    return this.#looked.problem
  }

  async #look(): Promise<NotReady | undefined> {
    const { store, hub } = this.#service
    const exhausted = this.#lookAtDescriptors()
    if (exhausted !== undefined) return { part: 'descriptors', problem: exhausted }
    const failure = await this.#failureOf(() => store.check())
    if (failure) return { part: 'store', problem: storeProblem(failure.error) }
    if (await this.#failureOf(() => this.#service.checkRecords()))
      return { part: 'records', problem: 'Calls cannot be recorded: the disk of the records is full or refuses.' }
    if (await this.#failureOf(() => hub.ready())) return { part: 'tools', problem: 'The tools are not ready.' }
    return undefined
  }

  #lookAtDescriptors(): string | undefined {
    try {
      const limit = this.#descriptors.limit()
      if (limit === Number.POSITIVE_INFINITY) return undefined
      const open = this.#descriptors.open()
      if (limit - open >= MIN_FREE_DESCRIPTORS) return undefined
      return `File descriptors are nearly exhausted: ${open} of ${limit} are open.`
    } catch {
      // Looking takes a descriptor, too.
      return 'File descriptors are exhausted.'
    }
  }

  /** Why a check fails or does not end in time; `undefined` if it succeeds. */
  async #failureOf(check: () => unknown): Promise<{ readonly error: unknown } | undefined> {
    let cancel = () => {}
    const late = new Promise<never>((_, reject) => {
      const tooLate = () => reject(new ToolError('TIMEOUT', `It took more than ${TIMEOUT_MS} ms.`))
      cancel = this.#clock.after(TIMEOUT_MS, tooLate, { background: true })
    })
    try {
      await Promise.race([(async () => check())(), late])
      return undefined
    } catch (error) {
      return { error }
    } finally {
      cancel()
    }
  }
}

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

/** What is wrong, in words that everybody may read. */
interface NotReady {
  readonly part: 'descriptors' | 'store' | 'records' | 'tools'
  readonly problem: string
}

/** How many descriptors this process may have, and has; for tests. */
interface Descriptors {
  readonly limit: () => number
  readonly open: () => number
}

/** Without names of files: the whole reason is for those who may read /v1/health. */
function storeProblem(error: unknown): string {
  const state = ToolError.is(error) ? error.details?.store : undefined
  if (state === 'older') return 'The store is older than it was: see tool-hub store check.'
  if (state === 'replaced') return 'The store was removed or replaced while it is in use.'
  return 'The store cannot be used.'
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
