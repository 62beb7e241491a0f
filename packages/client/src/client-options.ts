import type { CallBody } from '@tool-hub/core/protocol'

/** Options of the client. */
export interface ClientOptions {
  /** URL of the service: `https://tools.example.org`. Default: in a browser, the origin of the page. */
  readonly url?: string
  /** An API token. Without one the browser's cookie counts, as in the console. */
  readonly token?: string
  /** Makes the requests, e.g. through a proxy. Default: that of the platform. */
  readonly fetch?: typeof fetch
  /** The WebSocket class. Default: that of the platform. Node 20 has none: pass the one of the package `ws`. */
  readonly WebSocket?: WebSocketClass
}

/** A WebSocket as browsers, Node 22 and the package `ws` have it. */
export type WebSocketClass = new (
  url: string,
  protocols?: string[],
) => {
  /** 1 while it is open, as the WebSocket standard says. */
  readonly readyState: number
  /** Sends one text message. */
  send(text: string): void
  /** Closes the connection with a code and a reason. */
  close(code?: number, reason?: string): void
}

/** Options of a call: those of `POST /v1/tools/{name}/call`, and a signal. */
export interface RemoteCallOptions extends Omit<CallBody, 'input'> {
  /** Stops the call when it aborts. */
  readonly signal?: AbortSignal
}

/** Tools by name, for calls that are checked by the compiler. */
export type ToolMap = Record<string, { readonly input: unknown; readonly output: unknown }>

/** Options of `connect`. */
export interface ConnectOptions {
  /**
   * Gives every call that has no key and no `requestId` a `repeatKey`, of which the hub makes an idempotency key for tools
   * with effects: so such a call has one effect also when the server was restarted before its result came. Default: true.
   */
  readonly idempotencyKeys?: boolean
  /** Closes the connection when it aborts. */
  readonly signal?: AbortSignal
  /** Called whenever the connection opens, drops or is given up. */
  readonly onStateChange?: (state: SocketState) => void
  /** Called with problems that belong to no call. */
  readonly onProblem?: (problem: Error) => void
}

/** State of a connection. */
export type SocketState = 'open' | 'reconnecting' | 'closed'
