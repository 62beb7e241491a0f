import { ProtocolError, ProtocolErrorCode, type RequestId, type ServerContext } from '@modelcontextprotocol/server'
import { isPlainObject } from '../../lib/index.ts'
import { type CallParams, MAX_NAME_LENGTH } from './call/call-params.ts'
import { callLegacy } from './call/legacy-call.ts'
import type { Connection } from './connection.ts'

interface Call {
  readonly id: RequestId
  readonly params: CallParams
}

const MAX_ID_LENGTH = 256

/**
 * Plain calls of tools in the legacy era, past the SDK, whose checks and bookkeeping take longer than the road of a hub:
 * their parameters are checked here, once, and what goes back is what we made. Everything else is left to the SDK:
 * tasks, progress, whatever carries `_meta`.
 */
export class QuickCalls {
  readonly #connection: Connection
  readonly #send: (message: object) => void
  readonly #underWay = new Map<RequestId, AbortController>()

  constructor(connection: Connection, send: (message: object) => void) {
    this.#connection = connection
    this.#send = send
  }

  /** Takes a message that is a plain call, or that cancels one of these. */
  take(message: unknown): boolean {
    if (!isPlainObject(message) || message.jsonrpc !== '2.0') return false
    if (message.method === 'notifications/cancelled') return this.#cancel(message.params)
    const call = this.#plainCall(message)
    if (!call) return false
    void this.#answer(call)
    return true
  }

  /** The client is gone. */
  close(): void {
    for (const controller of this.#underWay.values()) controller.abort(new Error('The client is gone.'))
  }

  #plainCall({ method, id, params }: Readonly<Record<string, unknown>>): Call | undefined {
    if (method !== 'tools/call' || !isPlainId(id)) return undefined
    if (!isPlainParams(params)) return undefined
    // Before it has introduced itself, and with a number that is taken, what to say is the SDK's business.
    const isOurs = this.#connection.server.getClientVersion() !== undefined && !this.#underWay.has(id)
    return isOurs ? { id, params } : undefined
  }

  #cancel(params: unknown): boolean {
    const controller = isPlainObject(params) ? this.#underWay.get(params.requestId as RequestId) : undefined
    const { reason } = isPlainObject(params) ? params : {}
    controller?.abort(new Error(`The client cancelled the call: ${String(reason ?? 'no reason given')}`))
    return controller !== undefined
  }

  async #answer({ id, params }: Call): Promise<void> {
    const controller = new AbortController()
    this.#underWay.set(id, controller)
    let answer: object
    try {
      const context = contextOf(this.#connection, controller.signal)
      const client = this.#connection.client(context)
      answer = { result: await callLegacy(this.#connection, client, params, context) }
    } catch (error) {
      answer = { error: errorOf(error) }
    }
    this.#underWay.delete(id)
    // Nobody waits for the answer to what was cancelled.
    if (!controller.signal.aborted) this.#send({ jsonrpc: '2.0', id, ...answer })
  }
}

/** Whatever else is or is not an id, the SDK says. */
function isPlainId(id: unknown): id is RequestId {
  return typeof id === 'string' ? id.length <= MAX_ID_LENGTH : Number.isSafeInteger(id)
}

/** The parameters of a call without anything beside; by hand, because this is most of what is checked all day. */
function isPlainParams(params: unknown): params is CallParams {
  if (!isPlainObject(params) || params._meta !== undefined || params.task !== undefined) return false
  const { name, arguments: input } = params
  if (typeof name !== 'string' || name === '' || name.length > MAX_NAME_LENGTH) return false
  return input === undefined || isPlainObject(input)
}

/** As much of a context as a plain call uses: what stops it, and the way to ask the client. */
function contextOf({ server }: Connection, signal: AbortSignal): ServerContext {
  const send: (...words: Parameters<ServerContext['mcpReq']['send']>) => unknown = ({ params }, options) =>
    server.elicitInput(params as never, options as never)
  return { mcpReq: { signal, send } } as unknown as ServerContext
}

function errorOf(error: unknown): { readonly code: number; readonly message: string; readonly data?: unknown } {
  if (error instanceof ProtocolError) {
    const { code, message, data } = error
    return { code, message, ...(data !== undefined && { data }) }
  }
  return { code: ProtocolErrorCode.InternalError, message: 'Internal error' }
}
