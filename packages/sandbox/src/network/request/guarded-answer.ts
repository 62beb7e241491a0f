import { TextDecoder } from 'node:util'
import { type GuardedResponse, lazyModule, type ReadablePage } from '@tool-hub/core'
import { byteOrderMark } from '@tool-hub/core/lib'

const CHARSET = /;\s*charset\s*=\s*["']?([^"';\s]+)/i

const META_CHARSET = /<meta\s[^>]*?charset\s*=\s*["']?\s*([^\s"'/>;]+)/i

const META_BYTES = 1024

const loadPages = lazyModule(() => import('../../pages/page-workers.ts'))

const HTML = /^\s*(text\/html|application\/xhtml\+xml)\b/i

/** The content of a response. */
export interface AnswerFacts {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly url: string
  readonly isCached: boolean
  readonly signal: () => AbortSignal
}

/** The methods that all kinds of responses have. */
abstract class Response implements GuardedResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly url: string
  readonly isCached: boolean
  readonly #signal: () => AbortSignal

  constructor({ status, headers, url, isCached, signal }: AnswerFacts) {
    this.status = status
    this.headers = headers
    this.url = url
    this.isCached = isCached
    this.#signal = signal
  }

  abstract get isCut(): boolean
  abstract bytes(): Promise<Buffer>
  abstract chunks(): AsyncIterable<Buffer>

  async text(): Promise<string> {
    const bytes = await this.bytes()
    return decodeBody(bytes, { contentType: this.headers['content-type'], isCut: this.isCut })
  }

  async readable({ as = 'markdown' }: { readonly as?: 'markdown' | 'text' } = {}): Promise<ReadablePage> {
    const text = await this.text()
    if (!HTML.test(this.headers['content-type'] ?? '')) return { text }
    // Loaded with the first page: reading HTML takes more code than the whole guard.
    const { readWebPage } = await loadPages()
    return readWebPage(text, { url: this.url, as, signal: this.#signal() })
  }
}

/** A response that was read completely. */
export class WholeAnswer extends Response {
  readonly isCut: boolean
  readonly #bytes: Buffer

  constructor(facts: AnswerFacts, { bytes, isCut }: { readonly bytes: Buffer; readonly isCut: boolean }) {
    super(facts)
    this.#bytes = bytes
    this.isCut = isCut
  }

  async bytes(): Promise<Buffer> {
    return this.#bytes
  }

  async *chunks(): AsyncGenerator<Buffer> {
    yield this.#bytes
  }
}

/** A response whose body is streamed; it can be read once. */
export class StreamedAnswer extends Response {
  isCut = false
  readonly #read: (onCut: () => void) => AsyncIterable<Buffer>
  #isTaken = false

  constructor(facts: AnswerFacts, read: (onCut: () => void) => AsyncIterable<Buffer>) {
    super(facts)
    this.#read = read
  }

  chunks(): AsyncIterable<Buffer> {
    if (this.#isTaken) throw new TypeError('The body of a streamed answer can be read once.')
    this.#isTaken = true
    return this.#read(() => {
      this.isCut = true
    })
  }

  async bytes(): Promise<Buffer> {
    const chunks: Buffer[] = []
    for await (const chunk of this.chunks()) chunks.push(chunk)
    return Buffer.concat(chunks)
  }
}

/** A response whose beginning was read; it can still be read completely, once, as a stream. */
export class BegunAnswer extends StreamedAnswer {
  override isCut = true
  readonly #beginning: Buffer

  constructor(facts: AnswerFacts, beginning: Buffer, read: () => AsyncIterable<Buffer>) {
    super(facts, read)
    this.#beginning = beginning
  }

  override async bytes(): Promise<Buffer> {
    return this.#beginning
  }
}

/** What is known about a text in addition to its bytes. */
interface TextFacts {
  readonly contentType?: string
  /** The text was cut at a byte: an incomplete character at the end is left out. */
  readonly isCut?: boolean
}

/**
 * Decodes text in the charset of its byte order mark, its content type or, in HTML, a meta tag at its beginning. Falls
 * back to UTF-8 if there is none, or if the charset is unknown.
 */
export function decodeBody(bytes: Buffer, { contentType = '', isCut = false }: TextFacts = {}): string {
  const charset =
    byteOrderMark(bytes)?.encoding ?? CHARSET.exec(contentType)?.[1] ?? metaCharset(bytes, contentType) ?? 'utf-8'
  if (charset.toLowerCase() === 'utf-8' && !isCut && bytes[0] !== 0xef) return bytes.toString('utf8')
  return (decoderOf(charset) ?? new TextDecoder()).decode(bytes, { stream: isCut })
}

function metaCharset(bytes: Buffer, contentType: string): string | undefined {
  if (!/html/i.test(contentType)) return undefined
  const named = META_CHARSET.exec(bytes.toString('latin1', 0, META_BYTES))?.[1]
  // A tag that was readable as ASCII is not in UTF-16, whatever it claims.
  return named && /utf-?16/i.test(named) ? 'utf-8' : named
}

function decoderOf(charset: string): TextDecoder | undefined {
  try {
    return new TextDecoder(charset)
  } catch {
    // A misspelled charset: UTF-8 with replacement characters is more useful than an error.
    return undefined
  }
}
