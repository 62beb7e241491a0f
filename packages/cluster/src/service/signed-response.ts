import { type IncomingMessage, type OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { sha256 } from '@tool-hub/core/lib'
import { BODY_HEADER, type ClusterKey, EMPTY_BODY, SIGNATURE_HEADER } from './envelope.ts'

type Callback = (error?: Error | null) => void

/**
 * A response of the internal listener. Its head is held back until it is known whether the whole body comes with it, and
 * signed together with the hash of that body; a response that is written in pieces has only its head signed.
 */
export class SignedResponse extends ServerResponse {
  #seal: { readonly key: ClusterKey; readonly nonce: string } | undefined
  #isSent = false
  #sent = 0

  /** How much of this response was sent: 1 for its head, and the bytes of its body. */
  get sent(): number {
    return this.#sent
  }

  /** Signs the response to the request with this nonce. Without it, the response is sent as it is. */
  sealWith(key: ClusterKey, nonce: string): void {
    this.#seal = { key, nonce }
  }

  override writeHead(status: number, ...rest: unknown[]): this {
    if (this.#isSent || !this.#seal) return super.writeHead(status, ...(rest as [OutgoingHttpHeaders?]))
    const headers = rest.findLast((each) => typeof each === 'object' && each !== null) ?? {}
    this.statusCode = status
    const pairs = Array.isArray(headers) ? inPairs(headers) : Object.entries(headers as OutgoingHttpHeaders)
    for (const [name, value] of pairs) if (value !== undefined) this.setHeader(name, value)
    return this
  }

  override flushHeaders(): void {
    this.#send('stream')
    super.flushHeaders()
  }

  override write(chunk: unknown, ...rest: unknown[]): boolean {
    this.#send('stream')
    if (typeof chunk === 'string' || chunk instanceof Uint8Array) this.#sent += Buffer.byteLength(chunk)
    return super.write(chunk, ...(rest as [BufferEncoding, Callback]))
  }

  override end(...given: unknown[]): this {
    const [chunk] = given
    if (typeof chunk === 'string' || chunk instanceof Uint8Array) this.#sendWhole(chunk)
    else this.#send(EMPTY_BODY)
    return super.end(...(given as [unknown, BufferEncoding, () => void]))
  }

  #sendWhole(body: string | Uint8Array): void {
    const isBodiless = (this.req as IncomingMessage).method === 'HEAD'
    if (!this.#isSent && !isBodiless && !this.hasHeader('content-length'))
      this.setHeader('content-length', Buffer.byteLength(body))
    this.#send(isBodiless ? EMPTY_BODY : sha256(body))
  }

  #send(body: string): void {
    if (this.#isSent) return
    this.#isSent = true
    this.#sent += 1
    if (!this.#seal || this.headersSent) return
    const { key, nonce } = this.#seal
    this.setHeader(BODY_HEADER, body)
    this.setHeader(SIGNATURE_HEADER, key.signResponse(nonce, this.statusCode, this.getHeaders() as OutgoingHttpHeaders))
    super.writeHead(this.statusCode)
  }
}

function inPairs(flat: readonly unknown[]): [string, string][] {
  const pairs = flat.flatMap((name, index) => (index % 2 === 0 ? [[name, flat[index + 1]]] : []))
  return pairs as [string, string][]
}
