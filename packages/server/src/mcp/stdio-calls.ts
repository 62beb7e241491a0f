import { ProtocolError, ProtocolErrorCode, type RequestId, type ServerContext } from '@modelcontextprotocol/server'
import { isPlainObject } from '@tool-hub/core/lib'
import { callLegacy, parseCall } from './call/call-tool.ts'
import type { OngoingCall } from './call/ongoing-call.ts'
import { type ClientView, type Connection, viewClient } from './make-server.ts'

interface StdioCall {
  readonly id: RequestId
  readonly params: unknown
  /** The call, once it has started. */
  ongoing?: OngoingCall
  isCancelled: boolean
}

/**
 * Answers every `tools/call` of a client of the legacy era on stdio, past the SDK, whose validation and bookkeeping take
 * longer than the pipeline of the hub: without it the bench row mcp-stdio loses 34 % (268 us a call instead of 200 us, in
 * the same run). The parameters are parsed here, once. Messages that are not valid JSON-RPC, and calls before the client
 * has initialized the connection, are left to the SDK.
 */
export class StdioCalls {
  readonly #connection: Connection
  readonly #send: (message: object) => void
  readonly #context: ServerContext
  /** Not by signals: one for each call, and a context with it, took 6 of 93 us of processor time. */
  readonly #inProgress = new Map<RequestId, StdioCall>()
  #client: ClientView | undefined

  constructor(connection: Connection, send: (message: object) => void) {
    this.#connection = connection
    this.#send = send
    this.#context = contextOf(connection)
  }

  /** Takes a message that is a call, or that cancels one; returns whether it was one. */
  take(message: unknown): boolean {
    if (!isPlainObject(message) || message.jsonrpc !== '2.0') return false
    if (message.method === 'notifications/cancelled') return this.#cancel(message.params)
    const call = this.#readCall(message)
    if (!call) return false
    void this.#answer(call)
    return true
  }

  /** Aborts the calls in progress, because the client has disconnected. */
  close(): void {
    for (const call of this.#inProgress.values()) cancel(call, 'The client is gone.')
  }

  #readCall({ method, id, params }: Readonly<Record<string, unknown>>): StdioCall | undefined {
    if (method !== 'tools/call' || !isRequestId(id)) return undefined
    if (params !== undefined && !isPlainObject(params)) return undefined
    return this.#connection.server.getClientVersion() === undefined ? undefined : { id, params, isCancelled: false }
  }

  #cancel(params: unknown): boolean {
    const call = isPlainObject(params) ? this.#inProgress.get(params.requestId as RequestId) : undefined
    const { reason } = isPlainObject(params) ? params : {}
    if (call) cancel(call, `The client cancelled the call: ${String(reason ?? 'no reason given')}`)
    return call !== undefined
  }

  async #answer(call: StdioCall): Promise<void> {
    const { id } = call
    this.#inProgress.set(id, call)
    let answer: object
    try {
      const connection = this.#connection
      // Known from the handshake, which precedes every call.
      this.#client ??= viewClient(connection, this.#context)
      const request = { connection, client: this.#client, params: parseCall(call.params), context: this.#context }
      const follow = (ongoing: OngoingCall) => {
        call.ongoing = ongoing
        return undefined
      }
      answer = { jsonrpc: '2.0', id, result: await callLegacy(request, follow) }
    } catch (error) {
      answer = { jsonrpc: '2.0', id, error: toRpcError(error) }
    }
    if (this.#inProgress.get(id) === call) this.#inProgress.delete(id)
    // A call that was cancelled gets no response.
    if (!call.isCancelled) this.#send(answer)
  }
}

function cancel(call: StdioCall, why: string): void {
  call.isCancelled = true
  call.ongoing?.cancel(new Error(why))
}

/** The SDK reports any other id. */
function isRequestId(id: unknown): id is RequestId {
  return typeof id === 'string' || Number.isSafeInteger(id)
}

/** The part of the context that a call of the legacy era uses: the way to the client. */
function contextOf({ server }: Connection): ServerContext {
  const send: (...args: Parameters<ServerContext['mcpReq']['send']>) => unknown = ({ params }, options) =>
    server.elicitInput(params as never, options as never)
  const notify: ServerContext['mcpReq']['notify'] = (notification) => server.notification(notification)
  return { mcpReq: { send, notify } as ServerContext['mcpReq'] } as ServerContext
}

function toRpcError(error: unknown): { readonly code: number; readonly message: string; readonly data?: unknown } {
  if (error instanceof ProtocolError) {
    const { code, message, data } = error
    return { code, message, ...(data !== undefined && { data }) }
  }
  return { code: ProtocolErrorCode.InternalError, message: 'Internal error' }
}
