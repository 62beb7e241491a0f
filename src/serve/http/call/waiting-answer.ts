import type { ServerResponse } from 'node:http'
import type { Clock } from '../../../clock.ts'
import { API_HEADERS } from '../answer/security-headers.ts'

const HEADERS = { ...API_HEADERS, 'content-type': 'application/json' }
/** Proxies in front of the service must not collect what keeps the connection alive. */
const EARLY_HEADERS = { ...HEADERS, 'x-accel-buffering': 'no' }
const BEAT_MS = 15_000

/**
 * The JSON answer to a call that may wait for a person. One that is ready soon is sent whole, with its length. Otherwise
 * the headers are sent after 15 s and a space every 15 s, which JSON allows before a value: then neither the client (Node's
 * fetch ends a request without headers after 300 s) nor a proxy gives up.
 */
export class WaitingAnswer {
  readonly #response: ServerResponse
  readonly #clock: Clock
  #cancelBeat: () => void = () => {}

  constructor(response: ServerResponse, clock: Clock) {
    this.#response = response
    this.#clock = clock
    this.#beatLater()
  }

  send(json: string): void {
    this.stop()
    if (!this.#response.headersSent)
      this.#response.writeHead(200, { ...HEADERS, 'content-length': Buffer.byteLength(json) })
    this.#response.end(json)
  }

  stop(): void {
    this.#cancelBeat()
  }

  #beatLater(): void {
    this.#cancelBeat = this.#clock.after(BEAT_MS, () => this.#beat(), { background: true })
  }

  #beat(): void {
    if (this.#response.destroyed) return
    if (!this.#response.headersSent) this.#response.writeHead(200, EARLY_HEADERS)
    this.#response.write(' ')
    this.#beatLater()
  }
}
