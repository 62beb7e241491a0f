import type { Readable } from 'node:stream'
import { type Clock, messageOf } from '@tool-hub/core'
import { HttpRefusal } from '@tool-hub/core/errors'
import { parseJson, sha256 } from '@tool-hub/core/lib'
import { Client, type Dispatcher, Pool } from 'undici'
import type { ForwardableIdentity, WarningLog } from './call-router.ts'
import {
  BODY_HEADER,
  type ClusterKey,
  EMPTY_BODY,
  type HeaderValues,
  hashHeaders,
  newNonce,
  SIGNATURE_HEADER,
} from './envelope.ts'
import { ASK_MS, PendingForward, PROGRESS_PATH, progressSchema } from './pending-forward.ts'
import type { Membership, Place } from './run-places.ts'

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
  readonly identity?: ForwardableIdentity
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
  readonly log: WarningLog
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
  pool: Pool
  /** Requests without an end, in the order in which they were made. */
  readonly open: Set<PendingForward>
  /** When it was asked last how far it is with them. */
  askedAt: number
  /** The question that has no answer yet. */
  asking: Promise<void> | undefined
  /** Whether the last question was in vain. */
  isSilent: boolean
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
    if (peer.isSilent) await this.#ask(peer, place.process)
    if (peer.isSilent) throw unreachable(place.process, 'it does not answer')
    const leave = enter(peer, place, request.identity?.caller.name)
    const sent = new PendingForward(this.#options.clock)
    const abort = () => sent.end(request.signal?.reason)
    if (request.signal?.aborted) abort()
    request.signal?.addEventListener('abort', abort, { once: true })
    peer.open.add(sent)
    const end = () => {
      if (peer.open.delete(sent)) leave()
      request.signal?.removeEventListener('abort', abort)
    }
    const since = performance.now()
    try {
      const answer = await this.#send(peer.pool, place, request, sent)
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
    await this.#once(place, { method: 'GET', path: '/', headers: {} }, CONNECT_MS)
  }

  /** The headers of a signed request, also for an upgrade. */
  async seal(place: Place, request: ForwardedRequest): Promise<{ headers: Record<string, string>; nonce: string }> {
    const { member, key, clock } = this.#options
    const { identity, body, run } = request
    const headers = { host: new URL(place.address!).host, ...request.headers }
    const nonce = newNonce()
    const credential = await identity?.credential()
    if (identity && !credential) throw new HttpRefusal(401, 'UNAUTHENTICATED', 'The token has expired or was revoked.')
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
    await Promise.all(peers.map((peer) => drop(peer, 'this process ends')))
  }

  async #send(
    connections: Dispatcher,
    place: Place,
    request: ForwardedRequest,
    sent: PendingForward,
  ): Promise<ForwardedAnswer> {
    const { headers, nonce } = await this.seal(place, request)
    sent.nonce = nonce
    const { method, path, body } = request
    const answer = await connections.request({
      method: method as Dispatcher.HttpMethod,
      path,
      headers,
      body: body?.length ? body : null,
      signal: sent.signal,
    })
    const { statusCode: status } = answer
    if (!this.#options.key.isResponse(nonce, status, answer.headers)) {
      answer.body.on('error', () => {}).destroy()
      throw this.#forged(place, answer)
    }
    const said = answer.headers[BODY_HEADER]
    const own = { status, headers: withoutOurs(answer.headers) }
    const read = sent.read(answer.body)
    if (said === 'stream') return { ...own, body: read }
    const whole = await readAll(read)
    if (sha256(whole) !== said) throw this.#forged(place, answer)
    return { ...own, body: whole }
  }

  #peerOf({ process, address }: Place): Peers {
    if (address === undefined) throw unreachable(process, 'it has no address for other processes')
    const known = this.#peers.get(process)
    if (known?.address === address) {
      if (known.pool.stats.queued < MAX_QUEUED) return known
      throw tooMany(MAX_CONNECTIONS, process)
    }
    if (known) void drop(known, 'it has another address now')
    const peer: Peers = {
      address,
      pool: newPool(address),
      open: new Set(),
      askedAt: Number.NEGATIVE_INFINITY,
      asking: undefined,
      isSilent: false,
      callers: new Map(),
    }
    this.#peers.set(process, peer)
    this.#cancelWatch ??= this.#watchLater()
    return peer
  }

  #watchLater(): () => void {
    return this.#options.clock.after(WATCH_MS, () => this.#watch(), { background: true })
  }

  /**
   * Ends requests to processes that died without closing their connections, for example because their machine failed,
   * and asks the others how far they are with requests on whose connection nothing arrives.
   */
  #watch(): void {
    const { member, clock } = this.#options
    const alive = new Set(member.processes().flatMap(({ id, isAlive }) => (isAlive ? [id] : [])))
    for (const [process, peer] of this.#peers) {
      const isDue = Math.abs(clock.now() - peer.askedAt) >= ASK_MS
      if (!alive.has(process)) {
        this.#peers.delete(process)
        void drop(peer, 'it has missed its heartbeats')
      } else if (isDue && quietOnes(peer).length > 0) void this.#ask(peer, process)
    }
    this.#cancelWatch = this.#peers.size > 0 ? this.#watchLater() : undefined
  }

  /** Asks over a connection of its own how far a process is with the requests that are quiet. Never rejects. */
  #ask(peer: Peers, process: string): Promise<void> {
    peer.asking ??= this.#compare(peer, process).finally(() => {
      peer.asking = undefined
    })
    return peer.asking
  }

  async #compare(peer: Peers, process: string): Promise<void> {
    peer.askedAt = this.#options.clock.now()
    const quiet = quietOnes(peer)
    const body = Buffer.from(JSON.stringify({ nonces: quiet.map(({ nonce }) => nonce) }))
    const headers = { 'content-type': 'application/json' }
    const request = { method: 'POST', path: PROGRESS_PATH, headers, body }
    const answer = await this.#once({ process, address: peer.address }, request, ASK_MS).catch(() => undefined)
    peer.isSilent = answer === undefined
    if (!answer) {
      for (const sent of quiet) sent.compare(undefined)
    } else if (answer.status === 200) {
      const known = new Map(progressSchema.safeParse(parseJson(String(answer.body))).data?.sent)
      for (const sent of quiet) sent.compare(known.get(sent.nonce) ?? Number.POSITIVE_INFINITY)
    }
    // Connections without a request may be dead as well.
    if (peer.isSilent || quiet.some(({ signal }) => signal.aborted)) renewPool(peer)
  }

  /** Sends a request over a connection of its own. */
  async #once(place: Place, request: ForwardedRequest, limitMs: number): Promise<ForwardedAnswer> {
    const client = new Client(place.address!, { connect: { timeout: Math.min(CONNECT_MS, limitMs) } })
    const sent = new PendingForward(this.#options.clock)
    const cancel = this.#options.clock.after(limitMs, () => sent.end(new Error('it does not answer')))
    try {
      return await this.#send(client, place, request, sent)
    } finally {
      cancel()
      void client.destroy()
    }
  }

  /** The refusal of an answer that is not signed. A process gives no reason to requests that were sent to another one. */
  #forged({ process, address }: Place, { statusCode: status, headers }: Dispatcher.ResponseData): HttpRefusal {
    const isTurnedAway = status === 401 && headers[SIGNATURE_HEADER] === undefined
    const message = isTurnedAway
      ? `What answers at ${address} refused a request for process ${process}, which has probably been restarted: it has a new id then. If this continues, the two processes use different stores, or their clocks differ by more than 30 s.`
      : `An answer in the name of process ${process} was rejected: its signature is wrong.`
    this.#options.log('warn', 'cluster-refused', message, { process, address, status })
    const why = isTurnedAway
      ? 'another process answers at its address; it has probably been restarted'
      : 'what answers at its address does not have the key of the cluster'
    return unreachable(process, why)
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

function newPool(address: string): Pool {
  return new Pool(address, {
    connections: MAX_CONNECTIONS,
    pipelining: 1,
    connect: { timeout: CONNECT_MS },
    keepAliveTimeout: KEEP_ALIVE_MS,
    // Calls may wait for a person; whether the process is alive, and answers, is watched instead.
    headersTimeout: 0,
    bodyTimeout: 0,
  })
}

function drop({ open, pool }: Peers, why: string): Promise<void> {
  for (const sent of open) sent.end(new Error(why))
  return pool.destroy()
}

/** Requests from now on get new connections; those under way keep theirs. */
function renewPool(peer: Peers): void {
  void peer.pool.close().catch(() => {})
  peer.pool = newPool(peer.address)
}

/** The requests that have been sent and whose connections may be dead. The last ones wait for a connection. */
function quietOnes({ open, pool }: Peers): PendingForward[] {
  return [...open].slice(0, open.size - pool.stats.queued).filter(({ isQuiet }) => isQuiet)
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
