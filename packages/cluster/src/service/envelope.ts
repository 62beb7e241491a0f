import { randomBytes } from 'node:crypto'
import { parseJson, SigningKey, sha256 } from '@tool-hub/core/lib'
import { SCOPES } from '@tool-hub/core/protocol'
import { z } from 'zod'

/** Header with the envelope of a forwarded request. */
const ENVELOPE_HEADER = 'x-tool-hub-forward'
/** Header with the signature of a request or a response. */
export const SIGNATURE_HEADER = 'x-tool-hub-signature'
/** Header of a response: the SHA-256 of its body, or `stream` for one whose end is not known when it begins. */
export const BODY_HEADER = 'x-tool-hub-body'

/** How far the clocks of two processes may differ, including the time that a request takes. */
export const MAX_AGE_MS = 30_000

/** The SHA-256 of an empty body. */
export const EMPTY_BODY = sha256('')

const text = z.string().min(1).max(256)

const envelopeSchema = z.strictObject({
  /** Id of the process that forwards. */
  from: text,
  /** Id of the process that should answer. */
  to: text,
  /** The run that the request concerns, and the epoch of its lease as the sender knows it. */
  run: text.optional(),
  epoch: z.int().optional(),
  method: z.string().max(10),
  /** Path with query. */
  path: z.string().max(16_384),
  /** SHA-256 of the forwarded headers. */
  headers: text,
  /** SHA-256 of the body. */
  body: text,
  time: z.number(),
  nonce: text,
  /** The caller as the sender has authenticated it; absent for requests of the process itself. */
  caller: z
    .strictObject({ name: z.string().max(400), scopes: z.array(z.enum(SCOPES)), credential: z.unknown() })
    .optional(),
})

/** The facts about a forwarded request that its sender signs. */
export type Envelope = z.output<typeof envelopeSchema>

/** Headers as Node and undici represent them. */
export type HeaderValues = Readonly<Record<string, number | string | readonly string[] | undefined>>

/** Request headers that are forwarded. Credentials are not, and the others are of no use to another process. */
const FORWARDED: ReadonlySet<string> = new Set([
  'accept',
  'content-type',
  'content-encoding',
  'host',
  'idempotency-key',
  'if-none-match',
  'if-range',
  'last-event-id',
  'origin',
  'range',
  'user-agent',
])

/** The headers of a request that are forwarded and signed. */
export function forwardedHeaders(headers: HeaderValues): Record<string, string> {
  const found: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || !(FORWARDED.has(name) || name.startsWith('mcp-'))) continue
    found[name] = Array.isArray(value) ? value.join(', ') : String(value)
  }
  return found
}

/** Headers of a response that are different on each connection, so they are not signed. */
const UNSIGNED: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'date',
  'keep-alive',
  'transfer-encoding',
  SIGNATURE_HEADER,
])

/** Signs and checks what the processes of a cluster send each other, with a key that only they can derive. */
export class ClusterKey {
  readonly #key: SigningKey

  /** `secret`: the secret that the store keeps for all processes. */
  constructor(secret: Uint8Array) {
    this.#key = new SigningKey(secret, 'tool-hub cluster forwarding v1')
  }

  /** The headers that carry a signed envelope. */
  sealRequest(envelope: Envelope): Record<string, string> {
    const sealed = Buffer.from(JSON.stringify(envelope)).toString('base64url')
    return { [ENVELOPE_HEADER]: sealed, [SIGNATURE_HEADER]: this.#key.sign('request', sealed) }
  }

  /** The envelope of a request; `undefined` if it has none that this key has signed. */
  openRequest(headers: HeaderValues): Envelope | undefined {
    const sealed = headers[ENVELOPE_HEADER]
    if (typeof sealed !== 'string' || !this.#key.isSigned('request', sealed, headers[SIGNATURE_HEADER]))
      return undefined
    return envelopeSchema.safeParse(parseJson(Buffer.from(sealed, 'base64url').toString())).data
  }

  /** Signs the head of a response; `headers` has the hash of its body, or says that it is a stream. */
  signResponse(nonce: string, status: number, headers: HeaderValues): string {
    return this.#key.sign('response', responseText(nonce, status, headers))
  }

  /** Whether the process that got this nonce has sent the head of a response. */
  isResponse(nonce: string, status: number, headers: HeaderValues): boolean {
    return this.#key.isSigned('response', responseText(nonce, status, headers), headers[SIGNATURE_HEADER])
  }
}

function responseText(nonce: string, status: number, headers: HeaderValues): string {
  const signed = Object.entries(headers)
    .filter(([name, value]) => value !== undefined && !UNSIGNED.has(name))
    .map(([name, value]) => [name, [value].flat().map(String)] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1))
  return `${nonce}\n${status}\n${JSON.stringify(signed)}`
}

/** A text that is unique to a request. */
export function newNonce(): string {
  return randomBytes(16).toString('base64url')
}

/** SHA-256 of the forwarded headers. */
export function hashHeaders(headers: Readonly<Record<string, string>>): string {
  return sha256(JSON.stringify(Object.entries(headers).sort(([a], [b]) => (a < b ? -1 : 1))))
}

const MAX_NONCES = 500_000

/**
 * The nonces of the last minutes. A request is valid for 30 s before and after its time, so after 60 s a nonce can be
 * forgotten: they are kept in two generations of that length.
 */
export class SeenNonces {
  #recent = new Set<string>()
  #older = new Set<string>()
  #since: number
  readonly #most: number

  constructor(now: number, most = MAX_NONCES) {
    this.#since = now
    this.#most = most
  }

  /** Notes a nonce. Returns false if it was seen before, or if there are so many that this cannot be known. */
  add(nonce: string, now: number): boolean {
    if (now - this.#since > 2 * MAX_AGE_MS) {
      this.#older = now - this.#since > 4 * MAX_AGE_MS ? new Set() : this.#recent
      this.#recent = new Set()
      this.#since = now
    }
    if (this.#recent.has(nonce) || this.#older.has(nonce) || this.#recent.size >= this.#most) return false
    this.#recent.add(nonce)
    return true
  }
}
