import type { CallRequest } from '../serve/api/calls.ts'

/** Where the service is, and who asks. */
export interface ClientOptions {
  /** `https://tools.example.org`; the page's own origin in a browser unless said. */
  readonly url?: string
  /** An API token. Without one the browser's cookie counts, as in the console. */
  readonly token?: string
  readonly fetch?: typeof fetch
  /** The class to connect with; that of the platform unless said. Node 20 has none: give the one of the package `ws`. */
  readonly WebSocket?: WebSocketClass
}

/** A WebSocket as browsers, Node 22 and the package `ws` have it. */
export type WebSocketClass = new (
  url: string,
  protocols?: string[],
) => {
  readonly readyState: number
  send(text: string): void
  close(code?: number, reason?: string): void
}

/** How to call: as `POST /v1/tools/{name}/call` says, and how to stop. */
export interface RemoteCallOptions extends Omit<CallRequest, 'input'> {
  readonly signal?: AbortSignal
}

/** Tools by name, for calls that are checked by the compiler. */
export type ToolMap = Record<string, { readonly input: unknown; readonly output: unknown }>

/** How to stay connected. */
export interface ConnectOptions {
  /**
   * Gives every call that has none a request and task id, of which the hub makes an idempotency key for tools with
   * effects: so such a call has one effect also when the server was restarted before its result came. True unless said.
   */
  readonly idempotencyKeys?: boolean
  readonly signal?: AbortSignal
  readonly onStateChange?: (state: SocketState) => void
  /** Hears what went wrong that no call is there to tell. */
  readonly onProblem?: (problem: Error) => void
}

/** Of a connection: there, about to be again, or given up. */
export type SocketState = 'open' | 'reconnecting' | 'closed'
