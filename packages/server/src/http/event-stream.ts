import type { ServerResponse } from 'node:http'
import type { Clock } from '@tool-hub/core'
import { API_HEADERS } from './answers.ts'

const HEADERS = { ...API_HEADERS, 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' }
const MAX_WAITING_BYTES = 1024 * 1024
const HEARTBEAT_MS = 15_000
const CUT_MS = 10_000

/** Options of `EventStream`. */
export interface EventStreamOptions {
  readonly clock: Clock
  /** Bytes that may be buffered for a slow reader. Default: 1 MB. */
  readonly maxWaitingBytes?: number
  readonly heartbeatMs?: number
}

/**
 * Server-sent events on one response. The buffer for a slow reader is bounded: the caller skips events or ends the
 * stream.
 */
export class EventStream {
  readonly #response: ServerResponse
  readonly #clock: Clock
  readonly #maxWaitingBytes: number
  readonly #heartbeatMs: number
  #cancelHeartbeat: () => void = () => {}

  constructor(response: ServerResponse, options: EventStreamOptions) {
    const { clock, maxWaitingBytes = MAX_WAITING_BYTES, heartbeatMs = HEARTBEAT_MS } = options
    this.#response = response
    this.#clock = clock
    this.#maxWaitingBytes = maxWaitingBytes
    this.#heartbeatMs = heartbeatMs
    response.writeHead(200, HEADERS)
    response.flushHeaders()
    response.once('close', () => this.#cancelHeartbeat())
    this.#beatLater()
  }

  /** Whether more is buffered for the reader than allowed. */
  get isFull(): boolean {
    return this.#response.writableLength > this.#maxWaitingBytes
  }

  get isOpen(): boolean {
    return !this.#response.destroyed && !this.#response.writableEnded
  }

  send(type: string, data: unknown, id?: string): void {
    if (!this.isOpen) return
    // JSON has no line breaks, and types and ids are our own.
    const head = id === undefined ? '' : `id: ${id}\n`
    this.#response.write(`${head}event: ${type}\ndata: ${JSON.stringify(data)}\n\n`)
  }

  /** Tells the client how long to wait before it reconnects. */
  retryAfter(ms: number): void {
    if (this.isOpen) this.#response.write(`retry: ${ms}\n\n`)
  }

  end(): void {
    this.#cancelHeartbeat()
    if (this.isOpen) this.#response.end()
  }

  /** Sends what is buffered and ends; a client that does not read it is disconnected. */
  endSoon(): void {
    this.end()
    const cancel = this.#clock.after(CUT_MS, () => this.#response.destroy(), { background: true })
    this.#response.once('close', cancel)
  }

  #beatLater(): void {
    this.#cancelHeartbeat = this.#clock.after(
      this.#heartbeatMs,
      () => {
        if (!this.isOpen) return
        if (!this.isFull) this.#response.write(': still here\n\n')
        this.#beatLater()
      },
      { background: true },
    )
  }
}
