import { ToolError } from '../../errors.ts'
import type { Deadline } from './deadline.ts'
import { toNetworkError } from './network-error.ts'
import { type Hop, nextHop } from './next-hop.ts'
import { drain } from './read-body.ts'
import type { Transfer } from './transfer.ts'

const MOST_REDIRECTS = 5

/** The last answer of an exchange, its body not read. */
export interface Answer {
  readonly hop: Hop
  readonly transfer: Transfer
  /** Every URL on the way, the last one included. */
  readonly urls: readonly URL[]
}

/** Sends a request and follows its redirects by hand until there is an answer; `send` judges each hop like the first. */
export async function exchange(first: Hop, send: (hop: Hop) => Promise<Transfer>, deadline: Deadline): Promise<Answer> {
  const urls: URL[] = []
  let hop = first
  try {
    while (urls.length <= MOST_REDIRECTS) {
      urls.push(hop.url)
      const transfer = await send(hop)
      const next = followed(hop, transfer)
      if (!next) return { hop, transfer, urls }
      await drain(transfer)
      hop = next
    }
  } catch (error) {
    deadline.check()
    throw toNetworkError(error, hop.url)
  }
  throw new ToolError('UPSTREAM_ERROR', `${first.url.host} redirected more than ${MOST_REDIRECTS} times.`, {
    retryable: false,
  })
}

function followed(hop: Hop, transfer: Transfer): Hop | undefined {
  try {
    return nextHop(hop, transfer.status, transfer.headers.location)
  } catch (error) {
    transfer.discard()
    throw error
  }
}
