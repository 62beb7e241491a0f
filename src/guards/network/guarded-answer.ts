import type { GuardedResponse, ReadablePage } from '../../contracts/handles.ts'
import { lazyModule } from '../../disk/lazy-module.ts'
import { decodeText } from './decode-text.ts'

const loadReadPage = lazyModule(() => import('../pages/read-page.ts'))

const HTML = /^\s*(text\/html|application\/xhtml\+xml)\b/i

/** What a response is made of. */
export interface AnswerFacts {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly url: string
  readonly isCached: boolean
  readonly signal: () => AbortSignal
}

/** What both kinds of answers can do with their bytes. */
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
    return decodeText(bytes, { contentType: this.headers['content-type'], isCut: this.isCut })
  }

  async readable({ as = 'markdown' }: { readonly as?: 'markdown' | 'text' } = {}): Promise<ReadablePage> {
    const text = await this.text()
    if (!HTML.test(this.headers['content-type'] ?? '')) return { text }
    // Loaded by the first page: reading HTML takes more code than all of the guard.
    const { readPage } = await loadReadPage()
    return readPage(text, { url: this.url, as, signal: this.#signal() })
  }
}

/** An answer that was read whole. */
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

/** An answer whose body is still to come; it can be read once. */
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

/** An answer whose beginning was read; as a stream it still gives all of itself, once. */
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
