import { createReadStream } from 'node:fs'
import { Readable } from 'node:stream'
import { type BucketOptions, type Clock, lazyModule, messageOf, systemClock, ToolError } from '@tool-hub/core'
import { escapeLine, sha256 } from '@tool-hub/core/lib'
import { bucketAddress } from './bucket-address.ts'

/** Content that is stored: bytes, or a file that is read while it is sent. */
export type BucketContent = Uint8Array | { readonly path: string; readonly bytes: number }

const loadSigner = lazyModule(() => import('aws4fetch'))

const MAX_TRIES = 4
const RETRY_MS = 200
/** For an answer to begin, and in addition a second for each megabyte that is sent or read. */
const TIMEOUT_MS = 20_000
const BYTES_PER_SECOND = 1024 * 1024
const MAX_ERROR_BYTES = 4_096
const HASH = /^[0-9a-f]{64}$/

/** What may succeed when it is tried again. */
const isTransient = (status: number) => status >= 500 || status === 429 || status === 408

/**
 * A bucket of an S3-compatible service. Every request is signed, and signs the hash of what it sends. Its answers
 * are not trusted: content is compared with its hash, redirects are refused, and sizes and times are limited.
 */
export class ObjectBucket {
  readonly #options: BucketOptions
  readonly #base: string
  readonly #clock: Clock
  readonly #closing = new AbortController()

  constructor(options: BucketOptions, clock: Clock = systemClock) {
    this.#options = options
    this.#base = bucketAddress(options.url)
    this.#clock = clock
  }

  /** Stores an object; one with the same name is replaced. */
  async put(name: string, content: BucketContent, hash: string): Promise<void> {
    const bytes = content instanceof Uint8Array ? content.byteLength : content.bytes
    await this.#try(`store ${name}`, async () => {
      const response = await this.#send('PUT', name, { hash, bytes, content })
      await discard(response)
    })
  }

  /** Reads an object whose hash is in its name or given by the caller. */
  async get(
    name: string,
    { hash, maxBytes }: { readonly hash: string; readonly maxBytes: number },
  ): Promise<Uint8Array> {
    return this.#try(`read ${name}`, async () => {
      const response = await this.#send('GET', name, { bytes: maxBytes })
      const content = await readAtMost(response, maxBytes, name)
      if (sha256(content) === hash) return content
      throw new ToolError('CONFLICT', `The object ${name} of the bucket is not what was stored.`, {
        hint: 'Restore it from a version or a copy of the bucket; tool-hub audit verify --shared says what else is affected.',
      })
    })
  }

  /** Yields a part of an object, in the pieces in which it arrives. The caller compares the hash. */
  async *read(
    name: string,
    { start, end }: { readonly start: number; readonly end: number },
  ): AsyncGenerator<Uint8Array> {
    if (end <= start) return
    const range = `bytes=${start}-${end - 1}`
    const response = await this.#try(`read ${name}`, () => this.#send('GET', name, { bytes: end - start, range }))
    if (response.status !== 206 && start > 0) {
      await discard(response)
      throw failed(`read ${name}`, 'the service does not answer with the range that was asked for')
    }
    let left = end - start
    for await (const piece of response.body ?? []) {
      const taken = piece.subarray(0, left)
      left -= taken.byteLength
      if (taken.byteLength > 0) yield taken
      if (left === 0) break
    }
    if (left > 0) throw failed(`read ${name}`, `its content ends ${left} bytes too early`)
  }

  /** Removes an object, if it exists. */
  async remove(name: string): Promise<void> {
    await this.#try(`remove ${name}`, async () => {
      await discard(await this.#send('DELETE', name, {}))
    })
  }

  /** Aborts what is under way. */
  close(): void {
    this.#closing.abort(new ToolError('ABORTED', 'The hub is closed.'))
  }

  async #try<T>(doing: string, work: () => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries++) {
      try {
        return await work()
      } catch (error) {
        const isFinal = ToolError.is(error) && !error.retryable
        if (isFinal || tries === MAX_TRIES || this.#closing.signal.aborted) throw failed(doing, error)
        await this.#pause(RETRY_MS * 2 ** (tries - 1))
      }
    }
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#clock.after(ms, resolve, { background: true })
    })
  }

  async #send(method: string, name: string, request: BucketRequest): Promise<Response> {
    const { hash = EMPTY, bytes = 0, content, range } = request
    const { accessKeyId, secretAccessKey, sessionToken, region } = this.#options
    const headers = {
      'x-amz-content-sha256': hash,
      ...(content && { 'content-type': 'application/octet-stream' }),
      ...(range && { range }),
    }
    const url = `${this.#base}/${name.split('/').map(encodeURIComponent).join('/')}`
    const credentials = { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) }
    const { AwsV4Signer } = await loadSigner()
    const signer = new AwsV4Signer({ method, url, headers, service: 's3', region, ...credentials })
    const signed = await signer.sign()
    const body = content && bodyOf(content)
    // For bytes, fetch sets the length itself, and would repeat the header.
    if (body instanceof ReadableStream) signed.headers.set('content-length', String(bytes))
    const timeout = AbortSignal.timeout(TIMEOUT_MS + Math.ceil(bytes / BYTES_PER_SECOND) * 1_000)
    const response = await fetch(signed.url, {
      method,
      headers: signed.headers,
      redirect: 'manual',
      signal: AbortSignal.any([timeout, this.#closing.signal]),
      ...(body && { body, duplex: 'half' }),
    } as RequestInit)
    if (response.ok || (method === 'DELETE' && response.status === 404)) return response
    throw await refusal(response, name)
  }
}

interface BucketRequest {
  readonly hash?: string
  /** How much is sent or read, for the time limit. */
  readonly bytes?: number
  readonly content?: BucketContent
  readonly range?: string
}

const EMPTY = sha256('')

function bodyOf(content: BucketContent): RequestInit['body'] {
  if (content instanceof Uint8Array) return content as Uint8Array<ArrayBuffer>
  if (content.bytes === 0) return ''
  return Readable.toWeb(createReadStream(content.path, { end: content.bytes - 1 })) as ReadableStream
}

/** The hash that the name of an object ends in; throws if it has none. */
export function hashInName(name: string): string {
  const hash = /([0-9a-f]{64})(?:\.\w+)?$/.exec(name)?.[1] ?? ''
  if (HASH.test(hash)) return hash
  throw new ToolError('CONFLICT', `${JSON.stringify(name.slice(0, 200))} is not the name of an object of ours.`)
}

async function readAtMost(response: Response, maxBytes: number, name: string): Promise<Uint8Array> {
  const pieces: Uint8Array[] = []
  let size = 0
  for await (const piece of response.body ?? []) {
    size += piece.byteLength
    if (size > maxBytes) throw failed(`read ${name}`, `it has more than ${maxBytes} bytes`)
    pieces.push(piece)
  }
  return Buffer.concat(pieces)
}

async function discard(response: Response): Promise<void> {
  await response.body?.cancel().catch(() => {})
}

/** The code in the answer of the service, such as AccessDenied, which says more than the status. */
async function refusal(response: Response, name: string): Promise<ToolError> {
  const { status } = response
  const text = await readStart(response)
  const code = /<Code>([\w.-]{1,64})<\/Code>/.exec(text)?.[1]
  const shown = escapeLine(code ?? `HTTP ${status}`)
  if (status === 404 && (code === undefined || code === 'NoSuchKey'))
    return new ToolError('NOT_FOUND', `The bucket has no object ${name}.`, {
      hint: 'It was removed from the bucket; restore it from a version or a copy.',
    })
  const isRedirect = status >= 300 && status < 400
  return new ToolError('UPSTREAM_ERROR', `The bucket refused ${name}: ${shown}.`, {
    fix: {
      key: 'records.bucket',
      hint: isRedirect
        ? 'The bucket is at another address or in another region: correct url and region.'
        : 'Check the address, the region, the keys and the rights of the keys (read, write and delete objects).',
    },
    retryable: isTransient(status),
    details: { status, text },
  })
}

async function readStart(response: Response): Promise<string> {
  try {
    let text = ''
    for await (const piece of response.body ?? []) {
      text += Buffer.from(piece).toString('utf8')
      if (text.length > MAX_ERROR_BYTES) break
    }
    return text.slice(0, MAX_ERROR_BYTES)
  } catch {
    // The status says enough.
    return ''
  }
}

function failed(doing: string, cause: unknown): ToolError {
  if (ToolError.is(cause)) return cause
  const why = typeof cause === 'string' ? cause : messageOf(cause instanceof Error && cause.cause ? cause.cause : cause)
  return new ToolError('UPSTREAM_ERROR', `The bucket did not ${doing}: ${why}.`, {
    fix: { key: 'records.bucket', hint: 'Check that the service of the bucket can be reached from this machine.' },
    cause,
  })
}
