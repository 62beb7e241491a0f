import { isIP, type Socket } from 'node:net'
import { ToolError } from '@tool-hub/core'
import { connectToHost, type ProxyConnection, type ProxyGuard, type ProxyLimits, toRefusal } from './connect-to-host.ts'

// A name or IPv4 address, or an IPv6 address in brackets; what a URL parser would decode or rewrite is not in it.
const AUTHORITY = /^([a-z0-9._-]+|\[[0-9a-f:.]+\]):([1-9][0-9]{0,4})$/i

/** A request for a tunnel. */
export interface TunnelOrder {
  readonly client: Socket
  /** Bytes that followed the request. */
  readonly head: Buffer
  /** `host:port`, as it was written. */
  readonly target: string
  readonly connection: ProxyConnection
  readonly limits: ProxyLimits
  readonly count: (bytes: number) => void
}

const ESTABLISHED = 'HTTP/1.1 200 Connection established\r\n\r\n'
const MAX_CHUNKS = 64
// A fatal TLS alert, access_denied: the only refusal that a client understands while it waits for a ServerHello.
const ACCESS_DENIED = Buffer.from([0x15, 3, 1, 0, 2, 2, 49])

/**
 * Opens a tunnel (CONNECT) to a checked address. What is permitted is https to one host, so nothing passes in either
 * direction before the client has begun a TLS handshake that names that very host.
 */
export async function openTunnel(guard: ProxyGuard, order: TunnelOrder): Promise<void> {
  const { client, target, connection, limits, count } = order
  let server: Socket | undefined
  let isEstablished = false
  // From the beginning: only reading shows that a client has disconnected while a name is resolved.
  const first = readOpening(order)
  first.catch(() => connection.stop())
  try {
    connection.allow(limits.openMs, 'The connection')
    const url = judgeAuthority(target, guard.judge)
    connection.permit(url, guard.admit)
    const reached = await connectToHost(guard, url, connection.signal)
    server = reached.socket
    connection.hold(server)
    connection.allow(limits.openMs, 'The beginning of the TLS handshake')
    isEstablished = true
    client.write(ESTABLISHED)
    const { bytes, opening } = await first
    refuseStrangeOpening(opening, url)
    if (server.destroyed) throw new ToolError('UPSTREAM_ERROR', `${url.host} has closed the connection.`)
    connection.opened()
    connection.connected(reached.address, reached.port)
    connection.hold(client)
    count(bytes.length)
    server.write(bytes)
    joinSockets(client, server, limits.idleMs, count)
  } catch (error) {
    connection.failed(error)
    connection.stop()
    client.end(isEstablished ? ACCESS_DENIED : answer(error, target))
    linger(client, limits.openMs)
  }
}

/** Reads the first bytes of the client until it is clear what they are. The rest waits. */
function readOpening({
  client,
  head,
  connection: { signal },
}: TunnelOrder): Promise<{ bytes: Buffer; opening: Opening }> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let length = 0
    let needs = 1
    const settle = (done: () => void) => {
      client.off('data', take).off('end', gone).off('close', gone).pause()
      signal.removeEventListener('abort', stopped)
      done()
    }
    const gone = () => settle(() => reject(new ToolError('ABORTED', 'The client went away.')))
    const stopped = () => settle(() => reject(signal.reason))
    const take = (chunk: Buffer) => {
      chunks.push(chunk)
      length += chunk.length
      // Bytes may arrive one by one: they are joined, not kept as chunks.
      if (length < needs && chunks.length < MAX_CHUNKS) return
      const bytes = Buffer.concat(chunks.splice(0))
      chunks.push(bytes)
      if (length < needs) return
      const opening = readServerName(bytes)
      if (opening.type === 'part') needs = opening.needs
      else settle(() => resolve({ bytes, opening }))
    }
    client.on('data', take).on('end', gone).on('close', gone).resume()
    signal.addEventListener('abort', stopped)
    if (head.length > 0) take(head)
  })
}

/** Without the name a server shared by many hosts would answer for another one than the checked one. */
function refuseStrangeOpening(opening: Opening, { hostname }: URL): void {
  if (opening.type !== 'hello') {
    throw new ToolError('HTTP_DISALLOWED_HOST', `What was sent to ${hostname} is not TLS.`, {
      hint: 'Only https goes through a tunnel; send plain http to the proxy as GET http://host/path.',
    })
  }
  const literal = hostname.replace(/[[\]]/g, '')
  const { serverName } = opening
  if (serverName === undefined && isIP(literal) > 0) return
  if (serverName?.toLowerCase() === literal) return
  const named = serverName === undefined ? 'no server' : `the server ${JSON.stringify(serverName)}`
  throw new ToolError('HTTP_DISALLOWED_HOST', `The TLS handshake in the tunnel to ${hostname} names ${named}.`, {
    hint: 'Ask for a tunnel to the host that the handshake names.',
  })
}

function answer(error: unknown, target: string): string {
  const { status, reason, text } = toRefusal(error, target)
  const body = `${text}\n`
  return [
    `HTTP/1.1 ${status} ${reason}`,
    'Content-Type: text/plain; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
    '',
    body,
  ].join('\r\n')
}

/** Keeps reading until the client has seen the end: closing with unread bytes could discard the response. */
function linger(client: Socket, ms: number): void {
  client.on('end', () => client.destroy()).resume()
  client.setTimeout(Math.min(ms, 2000), () => client.destroy())
}

/** The URL that stands for the target of a CONNECT: `https://host:port/`, since TLS is what a tunnel carries. */
export function judgeAuthority(target: string, judge: (text: string) => URL): URL {
  const [, host, port] = AUTHORITY.exec(target) ?? []
  if (host === undefined) {
    throw new ToolError('INPUT_SCHEMA_INVALID', 'The target of CONNECT is not a host and a port.', {
      hint: 'Write it as example.org:443.',
    })
  }
  if (port === '80') {
    throw new ToolError('HTTP_DISALLOWED_HOST', `A tunnel to ${host}:80 would carry plain HTTP, which is not judged.`, {
      hint: 'Send plain http to the proxy as GET http://host/path, or use https.',
    })
  }
  return judge(`https://${host}:${port}/`)
}

/** Forwards bytes in both directions until both sides have ended, one fails, or both are silent for too long. */
export function joinSockets(near: Socket, far: Socket, idleMs: number, count: (bytes: number) => void): void {
  const stop = () => {
    near.destroy()
    far.destroy()
  }
  for (const [from, to] of [
    [near, far],
    [far, near],
  ] as const) {
    // One side may have ended while the other still sends.
    from.allowHalfOpen = true
    from.setTimeout(idleMs, stop)
    from.on('data', ({ length }) => count(length))
    from.on('error', stop)
    from.on('close', () => from.readableEnded || to.destroy())
    from.pipe(to)
  }
}

/** What the first bytes of a tunnel are: an incomplete message, a TLS ClientHello with its server name, or neither. */
type Opening =
  | { readonly type: 'other' }
  /** How many bytes are needed for the next attempt. */
  | { readonly type: 'part'; readonly needs: number }
  | { readonly type: 'hello'; readonly serverName?: string }

const HANDSHAKE = 22
const CLIENT_HELLO = 1
const SERVER_NAME = 0
const HOST_NAME = 0
const RECORD_HEAD = 5
const MESSAGE_HEAD = 4
// Including its records; a usual one has at most 2,000.
const MAX_HELLO_BYTES = 16_384
// Real clients use one or two; many small ones would only cost time.
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
    // What follows the message, such as early data, is for the server.
    if (opening) return opening
    at = end
  }
  return OTHER
}

/** Reads a handshake message; undefined if it is incomplete. */
function readMessage(message: Buffer): Opening | undefined {
  if (message[0] !== CLIENT_HELLO) return OTHER
  if (message.length < MESSAGE_HEAD) return undefined
  const length = message.readUIntBE(1, 3)
  if (message.length < MESSAGE_HEAD + length) return undefined
  try {
    return { type: 'hello', serverName: findName(message.subarray(MESSAGE_HEAD, MESSAGE_HEAD + length)) }
  } catch (error) {
    // A length that exceeds the message.
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
    if (names.take(1)[0] !== HOST_NAME) throw new RangeError('a name that is not a host name')
    // With two names, servers may use either.
    if (found !== undefined) throw new RangeError('more than one name')
    found = names.takeSized(2).toString('latin1')
    if (!names.isEmpty) throw new RangeError('more than one name')
  }
  return found
}

/** Reads fields one after the other; throws a RangeError if one is longer than the rest of the message. */
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
