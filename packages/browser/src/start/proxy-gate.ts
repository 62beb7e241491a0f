import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chmod, lchown } from 'node:fs/promises'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'

/** The only network access of a browser: each connection authenticates as a run and is forwarded to the proxy of that run. */
export interface ProxyGate {
  /** The port on loopback; undefined when it listens on a unix socket. */
  readonly port: number | undefined
  /** Returns a password for the proxy that listens on this socket, and a function that revokes it. */
  admit(socket: string): { readonly password: string; readonly leave: () => void }
  close(): Promise<void>
}

/** Where the gate listens: on loopback, or on a Unix socket that one user can reach. */
export interface GateOptions {
  readonly path?: string
  readonly owner?: { readonly uid: number; readonly gid: number }
}

/** The user name that goes with every password. */
export const GATE_USER = 'run'

const MAX_HEAD_BYTES = 16_384
const HEAD_MS = 15_000
const MAX_CONNECTIONS = 512
const END_OF_HEAD = Buffer.from('\r\n\r\n')
const AUTHORIZATION = /\r\nproxy-authorization: *basic ([a-z0-9+/=]{1,200})\r\n/i
const WHO_IS_IT = [
  'HTTP/1.1 407 Proxy Authentication Required',
  'Proxy-Authenticate: Basic realm="tool-hub"',
  'Content-Length: 0',
  'Connection: close',
  '\r\n',
].join('\r\n')

/** Opens the gate. Other users of the machine can connect on loopback, but have no password. */
export async function openGate({ path, owner }: GateOptions = {}): Promise<ProxyGate> {
  const proxies = new Map<string, string>()
  const sockets = new Set<Socket>()
  const keep = (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    // An unhandled socket error would end the process.
    socket.on('error', () => socket.destroy())
  }
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    keep(client)
    receive(client, proxies, keep)
  })
  server.maxConnections = MAX_CONNECTIONS
  server.listen(path === undefined ? { host: '127.0.0.1', port: 0 } : { path, exclusive: true })
  await once(server, 'listening')
  if (path !== undefined) {
    await chmod(path, 0o600)
    if (owner) await lchown(path, owner.uid, owner.gid)
  }
  return {
    port: path === undefined ? (server.address() as AddressInfo).port : undefined,
    admit(socket) {
      const password = randomBytes(24).toString('hex')
      const words = Buffer.from(`${GATE_USER}:${password}`).toString('base64')
      proxies.set(words, socket)
      return { password, leave: () => void proxies.delete(words) }
    },
    close: () => closeGate(server, sockets),
  }
}

/** Reads the head of the first request, authenticates it and forwards the connection. */
function receive(client: Socket, proxies: ReadonlyMap<string, string>, keep: (socket: Socket) => void): void {
  let head = Buffer.alloc(0)
  const timer = setTimeout(() => client.destroy(), HEAD_MS)
  client.once('close', () => clearTimeout(timer))
  const gone = () => client.destroySoon()
  const take = (chunk: Buffer) => {
    head = Buffer.concat([head, chunk])
    const end = head.indexOf(END_OF_HEAD)
    if (end === -1 && head.length <= MAX_HEAD_BYTES) return
    clearTimeout(timer)
    client.off('data', take).off('end', gone).pause()
    const [, words = ''] = AUTHORIZATION.exec(head.toString('latin1', 0, end === -1 ? 0 : end + 2)) ?? []
    const proxy = proxies.get(words)
    if (proxy === undefined) {
      client.end(WHO_IS_IT)
      client.resume().once('end', () => client.destroy())
      return
    }
    const far = connect({ path: proxy, allowHalfOpen: true })
    keep(far)
    far.once('close', () => client.destroySoon())
    client.once('close', () => far.destroy())
    far.write(head)
    client.pipe(far)
    far.pipe(client)
  }
  client.on('data', take).on('end', gone)
}

async function closeGate(server: Server, sockets: ReadonlySet<Socket>): Promise<void> {
  if (!server.listening) return
  const isGone = once(server, 'close')
  server.close()
  for (const socket of sockets) socket.destroy()
  await isGone
}
