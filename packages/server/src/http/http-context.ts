import { type Clock, systemClock, ToolError } from '@tool-hub/core'
import { descriptorLimit, openDescriptors } from '@tool-hub/sandbox/system'
import type { AnswerPages } from '../approvals/answer-links.ts'
import type { Authenticator, Identity } from '../auth/authenticator.ts'
import type { Caller } from '../auth/caller.ts'
import { type CallRouter, localRouter } from '../call-router.ts'
import type { Service } from '../service.ts'
import { PrincipalCounts, RequestCounts } from '../services/counts.ts'
import { HttpRefusal } from './answers.ts'
import type { EventStream } from './event-stream.ts'
import { McpEndpoints, type ProtectedResource } from './mcp-endpoints.ts'
import type { BodyLimits } from './request.ts'

/** The open event streams, limited in total and for each principal. */
class StreamTable {
  readonly #most: { readonly all: number; readonly each: number }
  readonly #streams = new Map<EventStream, Pick<Caller, 'name' | 'token'>>()
  readonly #counts = new PrincipalCounts()

  constructor(most: { readonly all: number; readonly each: number }) {
    this.#most = most
  }

  /** Throws RATE_LIMITED if a principal may not open another stream. */
  check(principal: string): void {
    const own = this.#counts.of(principal)
    if (own >= this.#most.each) throw full(`${principal} has ${own} streams open, the most that one may have.`)
    if (this.#streams.size >= this.#most.all)
      throw full(`${this.#streams.size} streams are open, the most there may be.`)
  }

  add(stream: EventStream, caller: Pick<Caller, 'name' | 'token'>): void {
    this.#streams.set(stream, caller)
    this.#counts.add(caller.name)
  }

  remove(stream: EventStream): void {
    const principal = this.#streams.get(stream)?.name
    if (principal === undefined) return
    this.#streams.delete(stream)
    this.#counts.remove(principal)
  }

  endOf(token: string): void {
    for (const [stream, caller] of this.#streams) if (caller.token === token) stream.end()
  }

  endAll(): void {
    for (const stream of this.#streams.keys()) stream.end()
  }
}

const MAX_CALL_BYTES = 10_000_000
const MAX_BODY_BYTES = 1_000_000
const MAX_STREAMS = { all: 10_000, each: 100 }

/** What all requests to the HTTP application share. */
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
  readonly streams: StreamTable
  readonly mcp: McpEndpoints
  readonly readiness: Readiness
  readonly requests = new RequestCounts()
  readonly router: CallRouter<Identity>
  /** The OpenAPI document of all routes. */
  readonly document: () => string
  isClosing = false
  /** Whether load balancers should stop sending requests, because the service will end. */
  isDraining = false
  readonly #onError: HttpOptions['onError']

  constructor(options: HttpOptions, document: () => string) {
    this.document = document
    const { service, authenticator, clock = systemClock, allowedHosts, allowedOrigins } = options
    this.service = service
    this.authenticator = authenticator
    this.answers = options.answers
    this.resource = options.resource
    const { router = localRouter } = options
    this.router = router
    this.clock = clock
    const maxEntries = service.hub.maxInputEntries
    this.callLimits = { maxBytes: options.maxCallBytes ?? MAX_CALL_BYTES, maxEntries }
    this.maxBodyBytes = options.maxBodyBytes ?? MAX_BODY_BYTES
    this.bodyLimits = { maxBytes: this.maxBodyBytes, maxEntries }
    this.maxWaitingBytes = options.maxWaitingBytes
    this.#onError = options.onError
    this.streams = new StreamTable(options.maxStreams ?? MAX_STREAMS)
    this.mcp = new McpEndpoints({
      allowedHosts,
      allowedOrigins,
      maxBodyBytes: this.callLimits.maxBytes,
      maxBodyEntries: maxEntries,
      clock,
      onError: this.report,
      ownId: (id) => router.others?.ownId(id) ?? id,
    })
    this.readiness = new Readiness(service, clock)
  }

  readonly report = (error: unknown): void => {
    this.#onError?.(error)
  }

  /** Ends what a token has open that was revoked. */
  dismiss(token: string): void {
    this.streams.endOf(token)
    this.mcp.dismiss(token)
  }

  /** Refuses new requests and ends event streams; calls in progress continue. */
  async close({ graceMs }: { readonly graceMs: number }): Promise<void> {
    this.isClosing = true
    this.streams.endAll()
    await this.mcp.close({ graceMs })
  }
}

function full(message: string): HttpRefusal {
  return new HttpRefusal(429, 'RATE_LIMITED', message, { hint: 'Close one, or wait.', headers: { 'retry-after': '5' } })
}

/** Options of the HTTP application. */
export interface HttpOptions {
  readonly service: Service
  readonly authenticator: Authenticator
  /** The pages behind webhook links. */
  readonly answers?: AnswerPages
  /** `/mcp` as an OAuth resource, if people sign in with an identity provider. */
  readonly resource?: ProtectedResource
  /** Where calls are made. Default: by this process. */
  readonly router?: CallRouter<Identity>
  /** Folder of the built console. Without it, a page says how to build it. */
  readonly consoleFolder?: string
  /** Host names of the service in addition to those of loopback, as in the authenticator. */
  readonly allowedHosts?: readonly string[]
  /** Other origins whose pages may call the service: `https://app.example.org`. */
  readonly allowedOrigins?: readonly string[]
  /** Bytes of the body of a call. Default: 10 MB. */
  readonly maxCallBytes?: number
  /** Bytes of any other body. Default: 1 MB. */
  readonly maxBodyBytes?: number
  /** Concurrent streams of `/v1/events`, in total and for each principal. Default: 10,000 and 100. */
  readonly maxStreams?: { readonly all: number; readonly each: number }
  /** Bytes that are buffered for a slow reader of events before it is disconnected. Default: 1 MB. */
  readonly maxWaitingBytes?: number
  /** Called with unexpected errors. */
  readonly onError?: (error: unknown) => void
  readonly clock?: Clock
}

const FRESH_MS = 1_000

/** How long one check may take. */
const TIMEOUT_MS = 5_000

/** Who asks does not wait longer: load balancers and orchestrators give up after one to five seconds. */
const ANSWER_MS = 1_500

/** With fewer free descriptors, a call that starts a command or opens files may fail. */
const MIN_FREE_DESCRIPTORS = 64

/**
 * Checks whether the service can take calls. The check writes to the store and everybody may request it, so its result
 * is cached for a second.
 */
export class Readiness {
  readonly #service: Pick<Service, 'store' | 'hub' | 'group' | 'checkRecords'>
  readonly #clock: Clock
  readonly #descriptors: Descriptors
  #looked: { readonly at: number; readonly problem: Promise<NotReady | undefined> } | undefined
  /** The part that is being checked; `undefined` between two checks. */
  #checking: NotReady['part'] | undefined

  constructor(
    service: Pick<Service, 'store' | 'hub' | 'group' | 'checkRecords'>,
    clock: Clock,
    descriptors: Descriptors = { limit: descriptorLimit, open: openDescriptors },
  ) {
    this.#service = service
    this.#clock = clock
    this.#descriptors = descriptors
  }

  /** Returns the problem; `undefined` if the service is ready. */
  problem(): Promise<NotReady | undefined> {
    const now = this.#clock.now()
    const isFresh = this.#looked && Math.abs(now - this.#looked.at) < FRESH_MS
    // A check that hangs may hold a connection, so there is one at a time.
    if (!this.#looked || (!isFresh && this.#checking === undefined))
      this.#looked = { at: now, problem: this.#inTime(this.#look()) }
    return this.#looked.problem
  }

  async #look(): Promise<NotReady | undefined> {
    try {
      const { store, hub, group } = this.#service
      this.#checking = 'descriptors'
      const exhausted = this.#lookAtDescriptors()
      if (exhausted !== undefined) return { part: 'descriptors', problem: exhausted }
      this.#checking = 'store'
      if (group.isCutOff) return { part: 'store', problem: 'This process is cut off from the shared store.' }
      const failure = await this.#failureOf(() => store.check())
      if (failure) return { part: 'store', problem: storeProblem(failure.error) }
      this.#checking = 'records'
      if (group.refusesRecords) return { part: 'records', problem: 'The shared store refuses the records of calls.' }
      if (await this.#failureOf(() => this.#service.checkRecords()))
        return { part: 'records', problem: 'Calls cannot be recorded: the disk of the records is full or refuses.' }
      this.#checking = 'tools'
      if (await this.#failureOf(() => hub.ready())) return { part: 'tools', problem: 'The tools are not ready.' }
      return undefined
    } finally {
      this.#checking = undefined
    }
  }

  async #inTime(looking: Promise<NotReady | undefined>): Promise<NotReady | undefined> {
    let cancel = () => {}
    const late = new Promise<NotReady>((resolve) => {
      const tooLate = () =>
        resolve({ part: this.#checking ?? 'store', problem: `The check takes more than ${ANSWER_MS} ms.` })
      cancel = this.#clock.after(ANSWER_MS, tooLate, { background: true })
    })
    return Promise.race([looking, late]).finally(() => cancel())
  }

  #lookAtDescriptors(): string | undefined {
    try {
      const limit = this.#descriptors.limit()
      if (limit === Number.POSITIVE_INFINITY) return undefined
      const open = this.#descriptors.open()
      if (limit - open >= MIN_FREE_DESCRIPTORS) return undefined
      return `File descriptors are nearly exhausted: ${open} of ${limit} are open.`
    } catch {
      // The check needs a descriptor, too.
      return 'File descriptors are exhausted.'
    }
  }

  /** Returns why a check fails or times out; `undefined` if it succeeds. */
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

/** The problem, without details that not everybody may read. */
interface NotReady {
  readonly part: 'descriptors' | 'store' | 'records' | 'tools'
  readonly problem: string
}

/** The limit and the number of open descriptors; replaced in tests. */
interface Descriptors {
  readonly limit: () => number
  readonly open: () => number
}

/** Without file names: `/v1/health` has the whole reason. */
function storeProblem(error: unknown): string {
  const state = ToolError.is(error) ? error.details?.store : undefined
  if (state === 'older') return 'The store is older than it was: see tool-hub store check.'
  if (state === 'lost') return 'The store was lost: see tool-hub store check.'
  if (state === 'replaced') return 'The store was removed or replaced while it is in use.'
  return 'The store cannot be used.'
}
