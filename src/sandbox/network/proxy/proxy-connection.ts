import type { Socket } from 'node:net'
import { messageOf, ToolError } from '../../../core/index.ts'
import { throwIfAborted } from '../../throw-if-aborted.ts'
import { isRefusal } from './connect-to-host.ts'

/** What a command may reach, asked connection by connection. */
export interface ProxyNetwork {
  /** Throws a ToolError when the URL may not be reached. */
  readonly permits: (url: string) => void
  /** Told of every connection, made and refused: `connected to …`, `refused: …`, `failed: …`. */
  readonly onConnection: (url: string, outcome: string) => void
}

const MAX_URL_CHARS = 512

/** One thing that a command asked the proxy for: its outcome is reported once, and it can be stopped at any time. */
export class ProxyConnection {
  readonly signal: AbortSignal
  readonly #network: ProxyNetwork
  readonly #keep: (socket: Socket) => void
  readonly #stopping = new AbortController()
  #url: string
  #isTold = false
  #timer: NodeJS.Timeout | undefined

  /** `keep` gets every socket that it opens. */
  constructor(network: ProxyNetwork, asked: string, keep: (socket: Socket) => void) {
    this.#network = network
    this.#keep = keep
    this.#url = asked.slice(0, MAX_URL_CHARS)
    this.signal = this.#stopping.signal
  }

  /** Checks whether a URL may be reached; from now on it names the connection. */
  permit(url: URL, admit: (url: URL) => void): void {
    this.#url = url.href
    admit(url)
    this.#network.permits(url.href)
  }

  /** Closes the socket when the connection is stopped. */
  hold(socket: Socket): void {
    this.#keep(socket)
    this.signal.addEventListener('abort', () => socket.destroy(), { once: true })
    throwIfAborted(this.signal)
  }

  /** It is connected. When that cannot be told, it must not be. */
  connected(address: string, port: number): void {
    this.#tell(`connected to ${address.includes(':') ? `[${address}]` : address}:${port}`)
  }

  /** It will never be connected. */
  failed(error: unknown): void {
    if (this.#isTold) return
    try {
      this.#tell(`${isRefusal(error) ? 'refused' : 'failed'}: ${messageOf(error)}`)
    } catch {
      // Nothing was connected, and the one who would have to know is the one who failed.
    }
  }

  /** Gives the next step its time. */
  allow(ms: number, step: string): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.stop(tooSlow(step, ms)), ms)
  }

  /** No step is waited for any more. */
  opened(): void {
    clearTimeout(this.#timer)
  }

  /** Ends it, whatever it is doing. */
  stop(reason: ToolError = new ToolError('ABORTED', 'The client went away.')): void {
    clearTimeout(this.#timer)
    this.#stopping.abort(reason)
  }

  #tell(outcome: string): void {
    this.#isTold = true
    this.#network.onConnection(this.#url, outcome)
  }
}

function tooSlow(step: string, ms: number): ToolError {
  return new ToolError('HTTP_TIMEOUT', `${step} took more than ${ms} ms.`)
}
