/** What the first bytes of a tunnel are: a part of something, a TLS ClientHello and the server it names, or neither. */
export type Opening =
  | { readonly type: 'other' }
  /** Asking again makes sense once there are this many bytes. */
  | { readonly type: 'part'; readonly needs: number }
  | { readonly type: 'hello'; readonly serverName?: string }

const HANDSHAKE = 22
const CLIENT_HELLO = 1
const SERVER_NAME = 0
const HOST_NAME = 0
const RECORD_HEAD = 5
const MESSAGE_HEAD = 4
// With its records; a usual one has 2,000 at most.
const MAX_HELLO_BYTES = 16_384
// Honest clients use one or two; many small ones would only make the reader work.
const MAX_RECORDS = 16
const OTHER: Opening = { type: 'other' }

/** Reads the server name out of a ClientHello (RFC 8446, 4.1.2; RFC 6066, 3), which may come in several records. */
export function readServerName(bytes: Buffer): Opening {
  const parts: Buffer[] = []
  let at = 0
  while (parts.length < MAX_RECORDS) {
    const head = bytes.subarray(at, at + RECORD_HEAD)
    if ((head[0] ?? HANDSHAKE) !== HANDSHAKE || (head[1] ?? 3) !== 3) return OTHER
    if (head.length < RECORD_HEAD) return { type: 'part', needs: at + RECORD_HEAD }
    const end = at + RECORD_HEAD + head.readUInt16BE(3)
    if (end === at + RECORD_HEAD || end > MAX_HELLO_BYTES) return OTHER
    if (bytes.length < end) return { type: 'part', needs: end }
    parts.push(bytes.subarray(at + RECORD_HEAD, end))
    const opening = readMessage(Buffer.concat(parts))
    // What follows the message, like early data, is the server's.
    if (opening) return opening
    at = end
  }
  return OTHER
}

/** Reads the message of a handshake; undefined while it is not whole. */
function readMessage(message: Buffer): Opening | undefined {
  if (message[0] !== CLIENT_HELLO) return OTHER
  if (message.length < MESSAGE_HEAD) return undefined
  const length = message.readUIntBE(1, 3)
  if (message.length < MESSAGE_HEAD + length) return undefined
  try {
    return { type: 'hello', serverName: findName(message.subarray(MESSAGE_HEAD, MESSAGE_HEAD + length)) }
  } catch (error) {
    // A length that leads out of the message.
    if (error instanceof RangeError) return OTHER
    throw error
  }
}

function findName(hello: Buffer): string | undefined {
  const fields = new Fields(hello)
  fields.take(2 + 32)
  fields.takeSized(1)
  fields.takeSized(2)
  fields.takeSized(1)
  if (fields.isEmpty) return undefined
  const extensions = new Fields(fields.takeSized(2))
  let found: string | undefined
  while (!extensions.isEmpty) {
    const type = extensions.take(2).readUInt16BE()
    const data = new Fields(extensions.takeSized(2))
    if (type !== SERVER_NAME) continue
    const names = new Fields(data.takeSized(2))
    if (names.take(1)[0] !== HOST_NAME) throw new RangeError('a name that is no host name')
    // Of two names, servers may take either one.
    if (found !== undefined) throw new RangeError('more than one name')
    found = names.takeSized(2).toString('latin1')
    if (!names.isEmpty) throw new RangeError('more than one name')
  }
  return found
}

/** Fields one after the other; throws a RangeError where there is less than they say. */
class Fields {
  #rest: Buffer

  constructor(bytes: Buffer) {
    this.#rest = bytes
  }

  get isEmpty(): boolean {
    return this.#rest.length === 0
  }

  take(count: number): Buffer {
    if (count > this.#rest.length) throw new RangeError('a field that is longer than its message')
    const taken = this.#rest.subarray(0, count)
    this.#rest = this.#rest.subarray(count)
    return taken
  }

  takeSized(lengthBytes: number): Buffer {
    return this.take(this.take(lengthBytes).readUIntBE(0, lengthBytes))
  }
}
