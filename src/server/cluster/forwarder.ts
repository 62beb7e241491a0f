import type { Readable } from 'node:stream'
import { type Dispatcher, Pool } from 'undici'
import { type Clock, messageOf } from '../../core/index.ts'
import { sha256 } from '../../lib/index.ts'
import type { Identity } from '../auth/authenticator.ts'
import { HttpRefusal } from '../http/answers.ts'
import type { Log } from '../service-log.ts'
import type { Membership, Place } from './cluster-link.ts'
import {
  BODY_HEADER,
  type ClusterKey,
  EMPTY_BODY,
  type HeaderValues,
  hashHeaders,
  newNonce,
  SIGNATURE_HEADER,
} from './envelope.ts'

/** A request for another process. */
export interface ForwardedRequest {
  readonly method: string
  /** Path with query. */
  readonly path: string
  /** Only those that are forwarded, see `forwardedHeaders`. */
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Uint8Array
  readonly run?: string
  /** Who the request comes from; absent for requests of the process itself. */
  readonly identity?: Identity
  readonly signal?: AbortSignal
}

/** The answer of another process, whose signature was checked. */
export interface ForwardedAnswer {
  readonly status: number
  readonly headers: HeaderValues
  /** All of it, or a stream if its end was not known when it began. */
  readonly body: Buffer | Readable
}

export interface ForwarderOptions {
  readonly member: Membership
  readonly key: ClusterKey
  readonly clock: Clock
  readonly log: Log
}

/** Concurrent requests to one process; calls that wait for a person and streams count as long as they last. */
const MAX_CONNECTIONS = 1_024
const MAX_QUEUED = 1_024
/** Concurrent requests of one caller to one process, so that other callers reach it, too. */
const MAX_OF_CALLER = 256
const CONNECT_MS = 3_000
const KEEP_ALIVE_MS = 30_000
const MAX_ANSWER_BYTES = 128 * 1024 * 1024
const WATCH_MS = 500

interface Peers {
  readonly address: string
  readonly pool: Pool
  /** Requests without an end. */
  readonly open: Set<AbortController>
  /** How many of them each caller has made. */
  readonly callers: Map<string, number>
}

/** The requests that were forwarded to other processes since the start. */
export interface ForwardCounts {
  /** Requests that were answered. */
  readonly answered: number
  /** Requests whose process could not be reached, or was lost. */
  readonly failed: number
  /** How long the answered ones took together, until their answer began. */
  readonly totalMs: number
}

/** Sends requests to other processes, over connections that stay open, and accepts only answers that they have signed. */
export class Forwarder {
  readonly #options: ForwarderOptions
  readonly #peers = new Map<string, Peers>()
  #cancelWatch: (() => void) | undefined
  #counts: ForwardCounts = { answered: 0, failed: 0, totalMs: 0 }

  constructor(options: ForwarderOptions) {
    this.#options = options
  }

  /** What was forwarded so far. */
  get counts(): ForwardCounts {
    return this.#counts
  }

  /** Sends a request. Throws a retryable refusal if the process cannot be reached, or has died before its answer. */
  async send(place: Place, request: ForwardedRequest): Promise<ForwardedAnswer> {
    const peer = this.#peerOf(place)
    const leave = enter(peer, place, request.identity?.caller.name)
    const gone = new AbortController()
    const abort = () => gone.abort(request.signal?.reason)
    if (request.signal?.aborted) abort()
    request.signal?.addEventListener('abort', abort, { once: true })
    peer.open.add(gone)
    const end = () => {
      if (peer.open.delete(gone)) leave()
      request.signal?.removeEventListener('abort', abort)
    }
    const since = performance.now()
    try {
      const answer = await this.#send(peer, place, request, gone.signal)
      const { answered, failed, totalMs } = this.#counts
      this.#counts = { answered: answered + 1, failed, totalMs: totalMs + performance.now() - since }
      if (Buffer.isBuffer(answer.body)) end()
      else answer.body.once('close', end)
      return answer
    } catch (error) {
      end()
      if (!request.signal?.aborted) this.#counts = { ...this.#counts, failed: this.#counts.failed + 1 }
      throw request.signal?.aborted ? request.signal.reason : this.#failure(error, place, request)
    }
  }

  /** Rejects if no request reaches the process at its address. The request is not counted. */
  async probe(place: Place): Promise<void> {
    const signal = AbortSignal.timeout(CONNECT_MS)
    await this.#send(this.#peerOf(place), place, { method: 'GET', path: '/', headers: {} }, signal)
  }

  /** The headers of a signed request, also for an upgrade. */
  async seal(place: Place, request: ForwardedRequest): Promise<{ headers: Record<string, string>; nonce: string }> {
    const { member, key, clock } = this.#options
    const { identity, body, run } = request
    const headers = { host: new URL(place.address!).host, ...request.headers }
    const nonce = newNonce()
    const credential = await identity?.credential()
    if (identity && !credential) throw new HttpRefusal(401, 'UNAUTHENTICATED', 'The token is no longer valid.')
    const sealed = key.sealRequest({
      from: member.id,
      to: place.process,
      ...(run !== undefined && { run }),
      ...(place.epoch !== undefined && { epoch: place.epoch }),
      method: request.method,
      path: request.path,
      headers: hashHeaders(headers),
      body: body === undefined ? EMPTY_BODY : sha256(body),
      time: clock.now(),
      nonce,
      ...(identity && {
        caller: { name: identity.caller.name, scopes: [...identity.caller.scopes], credential: credential! },
      }),
    })
    return { headers: { ...headers, ...sealed }, nonce }
  }

  async close(): Promise<void> {
    this.#cancelWatch?.()
    const peers = [...this.#peers.values()]
    this.#peers.clear()
    await Promise.all(peers.map(({ pool }) => pool.destroy()))
  }

  async #send({ pool }: Peers, place: Place, request: ForwardedRequest, signal: AbortSignal): Promise<ForwardedAnswer> {
    const { headers, nonce } = await this.seal(place, request)
    const { method, path, body } = request
    const answer = await pool.request({
      method: method as Dispatcher.HttpMethod,
      path,
      headers,
      body: body?.length ? body : null,
      signal,
    })
    const { statusCode: status } = answer
    if (!this.#options.key.isResponse(nonce, status, answer.headers)) {
      answer.body.on('error', () => {}).destroy()
      throw this.#forged(place, status)
    }
    const said = answer.headers[BODY_HEADER]
    const own = { status, headers: withoutOurs(answer.headers) }
    if (said === 'stream') return { ...own, body: answer.body }
    const whole = await readAll(answer.body)
    if (sha256(whole) !== said) throw this.#forged(place, status)
    return { ...own, body: whole }
  }

  #peerOf({ process, address }: Place): Peers {
    if (address === undefined) throw unreachable(process, 'it has no address for other processes')
    const known = this.#peers.get(process)
    if (known?.address === address) {
      if (known.pool.stats.queued < MAX_QUEUED) return known
      throw tooMany(MAX_CONNECTIONS, process)
    }
    void known?.pool.destroy()
    const pool = new Pool(address, {
      connections: MAX_CONNECTIONS,
      pipelining: 1,
      connect: { timeout: CONNECT_MS },
      keepAliveTimeout: KEEP_ALIVE_MS,
      // Calls may wait for a person; whether the process is alive is watched instead.
      headersTimeout: 0,
      bodyTimeout: 0,
    })
    const peer = { address, pool, open: new Set<AbortController>(), callers: new Map<string, number>() }
    this.#peers.set(process, peer)
    this.#cancelWatch ??= this.#watchLater()
    return peer
  }

  #watchLater(): () => void {
    return this.#options.clock.after(WATCH_MS, () => this.#watch(), { background: true })
  }

  /** Ends requests to processes that died without closing their connections, for example because their machine failed. */
  #watch(): void {
    const alive = new Set(this.#options.member.processes().flatMap(({ id, isAlive }) => (isAlive ? [id] : [])))
    for (const [process, { pool, open }] of this.#peers) {
      if (alive.has(process)) continue
      this.#peers.delete(process)
      for (const gone of open) gone.abort(new Error('it has missed its heartbeats'))
      void pool.destroy()
    }
    this.#cancelWatch = this.#peers.size > 0 ? this.#watchLater() : undefined
  }

  #forged({ process }: Place, status: number): HttpRefusal {
    this.#options.log(
      'warn',
      'cluster-refused',
      `An answer in the name of process ${process} was rejected: its signature is wrong.`,
      {
        process,
        status,
      },
    )
    return unreachable(process, 'what answers at its address does not have the key of the cluster')
  }

  #failure(error: unknown, { process }: Place, { run }: ForwardedRequest): unknown {
    if (error instanceof HttpRefusal) return error
    const why = messageOf(error)
    if (isUnsent(error)) return unreachable(process, why)
    const what = run === undefined ? 'this request' : `run ${run}`
    return new HttpRefusal(502, 'UPSTREAM_ERROR', `Process ${process}, which answers for ${what}, was lost: ${why}.`, {
      hint: 'Whether a call had an effect is not known: send it again with the same idempotency key, or look at its run.',
      headers: { 'retry-after': '2' },
    })
  }
}

/** Counts a request of a caller. Returns a function that ends it; throws a retryable refusal if it has too many. */
function enter({ callers }: Peers, { process }: Place, caller: string | undefined): () => void {
  if (caller === undefined) return () => {}
  const others = callers.get(caller) ?? 0
  if (others >= MAX_OF_CALLER) throw tooMany(others, process)
  callers.set(caller, others + 1)
  return () => {
    const left = callers.get(caller)! - 1
    if (left > 0) callers.set(caller, left)
    else callers.delete(caller)
  }
}

function tooMany(requests: number, process: string): HttpRefusal {
  return new HttpRefusal(503, 'RATE_LIMITED', `${requests} requests to process ${process} are under way.`, {
    hint: 'Try again in a moment.',
    headers: { 'retry-after': '2' },
  })
}

/** The refusal of a request that another process would have to answer; nothing was executed. */
function unreachable(process: string, why: string): HttpRefusal {
  return new HttpRefusal(503, 'UPSTREAM_ERROR', `Process ${process} cannot be reached: ${why}.`, {
    hint: 'Nothing was executed. Try again in a few seconds; a process that stays away loses its runs to others.',
    headers: { 'retry-after': '2' },
  })
}

const UNSENT: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
])

/** Whether no byte of the request can have arrived. */
function isUnsent(error: unknown): boolean {
  return UNSENT.has((error as { code?: unknown } | undefined)?.code)
}

function withoutOurs({ [BODY_HEADER]: _, [SIGNATURE_HEADER]: __, ...headers }: HeaderValues): HeaderValues {
  return headers
}

async function readAll(body: Readable): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of body as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > MAX_ANSWER_BYTES) throw new Error(`its answer has more than ${MAX_ANSWER_BYTES} bytes`)
    chunks.push(chunk)
  }
  return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, bytes)
}
