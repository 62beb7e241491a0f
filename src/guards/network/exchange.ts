import type { Readable } from 'node:stream'
import { ToolError } from '../../errors.ts'
import type { Deadline } from './deadline.ts'
import { toNetworkError } from './network-error.ts'
import { type Hop, nextHop } from './next-hop.ts'
import { readBody, tooLarge } from './read-body.ts'
import type { HopResponse } from './send-hop.ts'

const MOST_REDIRECTS = 5
const DRAINED_BYTES = 16_384

/** The bounds of one exchange. */
interface ExchangeBounds {
  /** Bytes of the answer after decompression. */
  readonly limit: number
  readonly deadline: Deadline
}

/** The last answer of an exchange, whole. */
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly url: string
  readonly bytes: Buffer
}

/** Sends a request and follows its redirects by hand until there is an answer; `send` judges each hop like the first. */
export async function exchange(
  first: Hop,
  send: (hop: Hop) => Promise<HopResponse>,
  { limit, deadline }: ExchangeBounds,
): Promise<Answer> {
  let hop = first
  try {
    for (let redirects = 0; redirects <= MOST_REDIRECTS; redirects += 1) {
      const response = await send(hop)
      const { status, headers, body } = response
      try {
        const next = nextHop(hop, status, headers.location)
        if (!next) return { status, headers, url: hop.url.href, bytes: await readAnswer(hop, response, limit) }
        await body.dump({ limit: DRAINED_BYTES, signal: deadline.signal })
        hop = next
      } catch (error) {
        discard(body)
        throw error
      }
    }
  } catch (error) {
    deadline.check()
    throw toNetworkError(error, hop.url)
  }
  throw new ToolError('UPSTREAM_ERROR', `${first.url.host} redirected more than ${MOST_REDIRECTS} times.`, {
    retryable: false,
  })
}

async function readAnswer(hop: Hop, { status, headers, body }: HopResponse, limit: number): Promise<Buffer> {
  const announced = Number(headers['content-length'])
  const isEmpty = hop.method === 'HEAD' || status === 204 || status === 304 || announced === 0
  // An empty body is no valid gzip, whatever the headers say about it.
  if (isEmpty) return readBody(body, undefined, limit)
  if (announced > limit) throw tooLarge(announced, limit)
  return readBody(body, headers['content-encoding'], limit)
}

/** Gives up a body; the connection goes with it, and what it says to that is not news. */
function discard(body: Readable): void {
  body.on('error', () => {}).destroy()
}
