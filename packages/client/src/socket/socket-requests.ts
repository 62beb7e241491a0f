import type { CallEvent, ErrorCode } from '@tool-hub/core'
import type { ClientMessage } from '@tool-hub/core/protocol'
import { ApiError } from '../http-requests.ts'
import type { LinkMessage, SocketLink } from './socket-link.ts'

type RequestMessage = Extract<ClientMessage, { type: 'call' | 'approve' | 'reply' | 'tools' }> & { readonly id: string }

interface Request {
  readonly message: RequestMessage
  readonly resolve: (outcome: unknown) => void
  readonly reject: (error: unknown) => void
  readonly onEvent: ((event: CallEvent) => void) | undefined
  readonly signal: AbortSignal | undefined
  readonly stop: () => void
}

/** Concurrent requests; the server accepts 256. */
const MAX_IN_FLIGHT = 256

/** The requests over a link without an answer; sent again after the connection dropped. */
export class SocketRequests {
  readonly #link: SocketLink
  /** In the order of the requests. */
  readonly #underWay = new Map<string, Request>()
  readonly #waiting: Request[] = []
  #isClosed: ApiError | undefined
  #lastId = 0

  constructor(link: SocketLink) {
    this.#link = link
  }

  nextId(): string {
    return String(++this.#lastId)
  }

  ask(
    message: RequestMessage,
    { onEvent, signal }: { onEvent?: (event: CallEvent) => void; signal?: AbortSignal } = {},
  ): Promise<unknown> {
    if (this.#isClosed) return Promise.reject(this.#isClosed)
    if (signal?.aborted) return Promise.reject(signal.reason)
    return new Promise((resolve, reject) => {
      const stop = () => this.#cancel(request)
      const request: Request = { message, resolve, reject, onEvent, signal, stop }
      signal?.addEventListener('abort', stop, { once: true })
      if (this.#underWay.size < MAX_IN_FLIGHT) this.#begin(request)
      else this.#waiting.push(request)
    })
  }

  /** Handles a message that answers a request; returns whether it was one. */
  take(message: LinkMessage): boolean {
    if (message.type === 'progress') {
      this.#underWay.get(message.id)?.onEvent?.(message.event as CallEvent)
      return true
    }
    if (message.type === 'result') {
      this.#end(message.id)?.resolve(message.result)
      return true
    }
    if (message.type === 'done') {
      this.#end(message.id)?.resolve(message.outcome)
      return true
    }
    if (message.type !== 'error' || message.id === undefined) return false
    const request = this.#end(message.id)
    // It was cancelled before the server received it.
    const isStopped = request?.signal?.aborted === true && message.error.code === 'NOT_FOUND'
    request?.reject(isStopped ? request.signal!.reason : toApiError(message.error))
    return request !== undefined
  }

  /** Sends requests without an answer again. If the session is new, cancelled requests have ended. */
  sendAgain(resumed: boolean): void {
    for (const { message, signal, reject } of [...this.#underWay.values()]) {
      if (!signal?.aborted) {
        this.#link.send(message)
        continue
      }
      if (resumed) this.#link.send({ type: 'cancel', id: message.id })
      else if (this.#end(message.id)) reject(signal.reason)
    }
  }

  close(why: ApiError): void {
    this.#isClosed = why
    const all = [...this.#underWay.values(), ...this.#waiting.splice(0)]
    this.#underWay.clear()
    for (const { reject, signal, stop } of all) {
      signal?.removeEventListener('abort', stop)
      reject(why)
    }
  }

  #begin(request: Request): void {
    this.#underWay.set(request.message.id, request)
    this.#link.send(request.message)
  }

  #end(id: string): Request | undefined {
    const request = this.#underWay.get(id)
    if (!request) return undefined
    this.#underWay.delete(id)
    request.signal?.removeEventListener('abort', request.stop)
    const next = this.#waiting.shift()
    if (next) this.#begin(next)
    return request
  }

  #cancel(request: Request): void {
    const { message, signal, reject } = request
    const index = this.#waiting.indexOf(request)
    if (index < 0) {
      this.#link.send({ type: 'cancel', id: message.id })
      return
    }
    this.#waiting.splice(index, 1)
    reject(signal!.reason)
  }
}

function toApiError({
  code,
  message,
  hint = '',
  retryable,
}: Extract<LinkMessage, { type: 'error' }>['error']): ApiError {
  return new ApiError(code as ErrorCode, message, { retryable, fix: { hint } })
}

/** Returns the error of a message without a request. */
export function problemOf({ error }: Extract<LinkMessage, { type: 'error' }>): ApiError {
  return toApiError(error)
}
