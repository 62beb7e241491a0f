import type { Hop } from './next-hop.ts'
import { type BodyLimit, readChunks, type WholeBody } from './read-body.ts'
import type { Transfer } from './transfer.ts'

/** A body that was read up to a limit. */
export interface BegunBody extends WholeBody {
  /** All of a body that goes on after it, from its first byte. */
  readonly whole?: AsyncGenerator<Buffer, void>
}

/** Reads a body up to `maxBytes`; one that goes on is still to be had whole, as a stream within its own limit. */
export async function beginBody(
  hop: Hop,
  transfer: Transfer,
  { maxBytes }: BodyLimit,
  streamLimit: BodyLimit,
): Promise<BegunBody> {
  const chunks = readChunks(hop, transfer, streamLimit, () => {})
  const taken: Buffer[] = []
  let length = 0
  // Written so that a limit which is no number stops everything.
  do {
    const next = await chunks.next()
    if (next.done) return { bytes: Buffer.concat(taken), isCut: false }
    taken.push(next.value)
    length += next.value.length
  } while (length <= maxBytes)
  const head = Buffer.concat(taken)
  return { bytes: head.subarray(0, maxBytes), isCut: true, whole: withHead(head, chunks) }
}

/** Giving up the whole gives up the rest. */
async function* withHead(head: Buffer, rest: AsyncGenerator<Buffer, void>): AsyncGenerator<Buffer, void> {
  try {
    // A copy: the tool may change the bytes it gets, and the beginning is given twice.
    yield Buffer.from(head)
    yield* rest
  } finally {
    await rest.return()
  }
}
