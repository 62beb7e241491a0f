import { type AddressInfo, createServer, type Socket } from 'node:net'
import { gzipSync } from 'node:zlib'

/** A server on loopback whose every path behaves badly in a way of its own. */
export interface LyingServer {
  readonly port: number
  /** Connections that are open now. */
  readonly connections: number
  close(): void
}

const HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n'
const BOMB = gzipSync(Buffer.alloc(10_000_000), { level: 9 })

const LIES: Readonly<Record<string, (socket: Socket, path: string) => void>> = {
  hung: () => {},
  dripping(socket) {
    socket.write(`${HEAD}content-length: 1000000\r\n\r\n`)
    drip(socket, 'x')
  },
  // Our side of the connection stays open: nobody will ever say more.
  'half-closed': (socket) => socket.end(`${HEAD}content-length: 1000\r\n\r\nhalf`),
  'too-short'(socket) {
    socket.write(`${HEAD}content-length: 1000\r\n\r\nshort`, () => socket.destroy())
  },
  'torn-chunk': (socket) => socket.end(`${HEAD}transfer-encoding: chunked\r\n\r\nff\r\nonly this`),
  bomb(socket) {
    socket.write(`${HEAD}content-encoding: gzip\r\n\r\n`)
    const more = () => {
      while (!socket.destroyed && socket.write(BOMB));
    }
    socket.on('drain', more)
    more()
  },
  redirect: (socket, path) => socket.end(`HTTP/1.1 302 FoundEntry\r\nlocation: ${path}1\r\ncontent-length: 0\r\n\r\n`),
  headers(socket) {
    socket.write('HTTP/1.1 200 OK\r\n')
    const more = () => {
      while (!socket.destroyed && socket.write(`x-${'more'.repeat(200)}: ${'y'.repeat(1000)}\r\n`));
    }
    socket.on('drain', more)
    more()
  },
  'no-http': (socket) => socket.end('SSH-2.0-OpenSSH_9.6\r\n'),
  fine: (socket) => socket.end(`${HEAD}content-length: 4\r\nconnection: close\r\n\r\nfine`),
}

/** Starts it; `http://127.0.0.1:port/<lie>` lies. */
export async function startLyingServer(): Promise<LyingServer> {
  const sockets = new Set<Socket>()
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket)).on('error', () => {})
    socket.on('end', () => socket.destroy())
    socket.once('data', (request) => {
      const path = String(request).split(' ')[1] ?? ''
      LIES[/^\/([a-z-]+)/.exec(path)?.[1] ?? 'hung']?.(socket, path)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    get connections() {
      return sockets.size
    },
    close() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}

function drip(socket: Socket, drop: string): void {
  const timer = setInterval(() => socket.write(drop), 20)
  socket.on('close', () => clearInterval(timer))
}
