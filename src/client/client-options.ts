import type { CallBody } from '../protocol/index.ts'

/** Where the service is, and who asks. */
export interface ClientOptions {
  /** `https://tools.example.org`; the page's own origin in a browser unless said. */
  readonly url?: string
  /** An API token. Without one the browser's cookie counts, as in the console. */
  readonly token?: string
  /** Makes the requests, e.g. through a proxy. Default: that of the platform. */
  readonly fetch?: typeof fetch
  /** The class to connect with; that of the platform unless said. Node 20 has none: give the one of the package `ws`. */
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

/** How to call: as `POST /v1/tools/{name}/call` says, and how to stop. */
export interface RemoteCallOptions extends Omit<CallBody, 'input'> {
  /** Stops the call when it aborts. */
  readonly signal?: AbortSignal
}

/** Tools by name, for calls that are checked by the compiler. */
export type ToolMap = Record<string, { readonly input: unknown; readonly output: unknown }>

/** How to stay connected. */
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
  /** Hears what went wrong that no call is there to tell. */
  readonly onProblem?: (problem: Error) => void
}

/** Of a connection: there, about to be again, or given up. */
export type SocketState = 'open' | 'reconnecting' | 'closed'
