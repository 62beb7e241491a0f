import { isIP, type Socket } from 'node:net'
import { ToolError } from '../../../core/index.ts'
import { connectToHost, type ProxyGuard, type ProxyLimits, toRefusal } from './connect-to-host.ts'
import type { ProxyConnection } from './proxy-connection.ts'
import { type Opening, readServerName } from './read-server-name.ts'

// A name or IPv4 address, or an IPv6 address in brackets; what a URL parser would decode or rewrite is not in it.
const AUTHORITY = /^([a-z0-9._-]+|\[[0-9a-f:.]+\]):([1-9][0-9]{0,4})$/i

/** A request for a tunnel. */
export interface TunnelOrder {
  readonly client: Socket
  /** What came after the request already. */
  readonly head: Buffer
  /** `host:port`, as it was written. */
  readonly target: string
  readonly connection: ProxyConnection
  readonly limits: ProxyLimits
  readonly count: (bytes: number) => void
}

const ESTABLISHED = 'HTTP/1.1 200 Connection established\r\n\r\n'
const MAX_CHUNKS = 64
// A fatal alert of TLS, access_denied: the only words that a client understands which waits for a ServerHello.
const ACCESS_DENIED = Buffer.from([0x15, 3, 1, 0, 2, 2, 49])

/**
 * Opens a tunnel (CONNECT) to a checked address. What is permitted is https to one host, so nothing passes in either
 * direction before the client has begun a TLS handshake that names that very host.
 */
export async function openTunnel(guard: ProxyGuard, order: TunnelOrder): Promise<void> {
  const { client, target, connection, limits, count } = order
  let server: Socket | undefined
  let isEstablished = false
  // From the beginning: a client that goes away while a name is resolved is seen only by reading from it.
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

/** The first bytes of the client, until it is clear what they are. The rest of its words wait. */
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
      // Bytes may come one by one: each costs little, and is not kept as a chunk of its own.
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

/** Reads on until the client has seen the end: closing on unread bytes could take the answer away from it. */
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

/** Carries bytes both ways until both sides have ended, or one breaks, or neither says anything for too long. */
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
