import type { CallEvent, ToolResult } from '@tool-hub/core'
import type { Me, ServiceEvent, ToolEntry } from '@tool-hub/core/protocol'
import type { ClientOptions, ConnectOptions, RemoteCallOptions, ToolMap } from './client-options.ts'
import { readSse, reconnectDelayMs } from './follow-events.ts'
import { ApiError, HttpRequests, readApiError, waitFor } from './http-requests.ts'
import { routeMethods } from './routes.generated.ts'
import { HubSocket } from './socket/hub-socket.ts'

/**
 * Creates a client of a tool-hub service, for browsers and Node, without dependencies. With a token it acts as the
 * principal of the token, without one as the person who is signed in on the page. Node 20 has no WebSocket: pass the
 * one of the package `ws`.
 * @example
 * const client = createClient({ url: 'http://127.0.0.1:4040', token, WebSocket })
 * const result = await client.call('core/fs.readText', { path: 'README.md' })
 * const socket = await client.connect()
 * for await (const event of socket.stream('core/exec.run', { argv: ['npm', 'test'] })) console.log(event.type)
 */
export function createClient<T extends ToolMap = ToolMap>(options: ClientOptions = {}): HubClient<T> {
  return new HubClient<T>(options)
}

/** The range of an artifact to read. */
interface ArtifactPart {
  /** Offset of the first byte. */
  readonly from: number
  /** Offset of the last byte, which is included. Default: the end. */
  readonly to?: number
}

/** The methods that send one request each. */
const RouteMethods = class {
  constructor(http: HttpRequests) {
    Object.assign(this, routeMethods(http))
  }
} as new (
  http: HttpRequests,
) => ReturnType<typeof routeMethods>

/** A client of a tool-hub service; made by `createClient`. */
export class HubClient<T extends ToolMap = ToolMap> extends RouteMethods {
  readonly #http: HttpRequests
  readonly #options: ClientOptions

  constructor(options: ClientOptions) {
    const http = new HttpRequests(options)
    super(http)
    this.#options = options
    this.#http = http
  }

  /**
   * Lists the tools that this client sees; with `hidden`, also the others and why they are hidden. With `search`, lists
   * only the visible tools that do what the text says, best first, at most 50.
   */
  async tools({ hidden, search }: { readonly hidden?: boolean; readonly search?: string } = {}): Promise<ToolEntry[]> {
    const { tools } = await this.#http.json<{ tools: ToolEntry[] }>('GET', '/v1/tools', { query: { hidden, search } })
    return tools
  }

  /** Lists the tools in the form of a provider's API. */
  async toolsFor(form: 'openai' | 'anthropic' | 'mcp', { dialect }: { readonly dialect?: string } = {}) {
    const answer = this.#http.json<{ tools: Record<string, unknown>[] }>('GET', '/v1/tools', {
      query: { form, dialect },
    })
    return (await answer).tools
  }

  /** Calls a tool. Does not reject if the tool fails: check `ok`. */
  call<K extends keyof T & string>(
    tool: K,
    input: T[K]['input'],
    { signal, ...options }: RemoteCallOptions = {},
  ): Promise<ToolResult<T[K]['output']>> {
    return this.#http.json('POST', callPath(tool), { body: { input, ...options }, signal })
  }

  /**
   * The same as a stream of events; the last is `call-ended`. Ending the iteration aborts the call, unless it has an
   * idempotency key.
   */
  async *stream<K extends keyof T & string>(
    tool: K,
    input: T[K]['input'],
    { signal, ...options }: RemoteCallOptions = {},
  ): AsyncGenerator<CallEvent<T[K]['output']>, void, undefined> {
    const headers = { accept: 'text/event-stream' }
    const response = await this.#http.send('POST', callPath(tool), { body: { input, ...options }, headers, signal })
    for await (const { type, data } of readSse(response)) {
      // The process that makes the call was lost.
      if (type === 'error') throw readApiError(response.status, JSON.parse(data))
      yield JSON.parse(data) as CallEvent<T[K]['output']>
    }
  }

  /** Follows the events of the service; reconnects and continues where it was when the connection drops. */
  events(options?: FollowOptions): AsyncGenerator<FollowedEvent, void, undefined> {
    return followEvents(this.#http, options)
  }

  /** Reads an artifact of a result, or a part of it. */
  async artifact(
    ref: string,
    { run, part, signal }: { run?: string; part?: ArtifactPart; signal?: AbortSignal } = {},
  ): Promise<Uint8Array> {
    const path = `/v1/artifacts/${encodeURIComponent(ref.replace(/^artifact:/, ''))}`
    const headers = part ? { range: `bytes=${part.from}-${part.to ?? ''}` } : undefined
    const response = await this.#http.send('GET', path, { query: { run }, headers, signal })
    return new Uint8Array(await response.arrayBuffer())
  }

  /** Signs in with a token and gets a cookie, so that the page stores no secret. */
  async signIn(token: string): Promise<Me> {
    const me = await this.#http.json<Me>('POST', '/v1/sessions', { body: { token }, isOpen: true })
    this.#http.remember(me.csrf)
    return me
  }

  /** Signs this browser out; its cookie becomes invalid. */
  async signOut(): Promise<void> {
    await this.#http.send('DELETE', '/v1/sessions')
    this.#http.remember(undefined)
  }

  /** Opens a session over a WebSocket, for many calls, own tools and approvals; it survives dropped connections. */
  connect(options: ConnectOptions = {}): Promise<HubSocket<T>> {
    const { token, WebSocket = (globalThis as { WebSocket?: ClientOptions['WebSocket'] }).WebSocket } = this.#options
    if (!WebSocket) {
      throw new TypeError('There is no WebSocket here: give createClient the one of the package ws, { WebSocket }.')
    }
    const url = `${this.#http.base.replace(/^http/, 'ws')}/v1/ws`
    const protocols = ['tool-hub.v1', ...(token === undefined ? [] : [`bearer.${token}`])]
    return HubSocket.open<T>({ WebSocket, url, protocols }, options)
  }
}

function callPath(tool: string): string {
  return `/v1/tools/${encodeURIComponent(tool)}/call`
}

/** Options of `events`. */
export interface FollowOptions {
  /** Only events of these types. Default: all that the client may see. */
  readonly types?: readonly ServiceEvent['type'][]
  /** Id of the last event that was received. */
  readonly after?: string
  /** Ends the iteration when it aborts. */
  readonly signal?: AbortSignal
}

/** An event with the id to continue from. */
export type FollowedEvent = ServiceEvent & { readonly id?: string }

/** Follows the events of the service; reconnects and continues where it was when the connection drops. */
async function* followEvents(
  http: HttpRequests,
  { types, after, signal }: FollowOptions = {},
): AsyncGenerator<FollowedEvent, void, undefined> {
  let last = after
  for (let attempt = 0; !signal?.aborted; attempt++) {
    try {
      const headers = { accept: 'text/event-stream', ...(last !== undefined && { 'last-event-id': last }) }
      const response = await http.send('GET', '/v1/events', { query: { types: types?.join(',') }, headers, signal })
      for await (const { data, id } of readSse(response)) {
        attempt = 0
        last = id ?? last
        yield { ...(JSON.parse(data) as ServiceEvent), id }
      }
    } catch (error) {
      if (signal?.aborted) return
      // A permanent refusal is final; anything else is a dropped connection.
      if (error instanceof ApiError && !error.retryable) throw error
      if (error instanceof SyntaxError) throw error
    }
    await waitFor(reconnectDelayMs(attempt), signal)
  }
}
