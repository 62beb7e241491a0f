import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import {
  type AddressInfo,
  connect,
  createServer as createTcpServer,
  type Socket,
  type Server as TcpServer,
} from 'node:net'
import { afterEach, beforeEach } from 'vitest'
import {
  createNetworkGuard,
  type NetworkCall,
  type NetworkGuard,
  type NetworkGuardOptions,
} from '../../packages/sandbox/src/network/network-guard.ts'

/** A public address, for names that tests make up. */
export const PUBLIC = '93.184.216.34'

/**
 * Gives every test of a file a web server on loopback, and guards for which every name is public while every
 * connection ends at that server.
 */
export function useLoopback() {
  let server: Server
  let guards: NetworkGuard[] = []
  let liars: TcpServer[] = []
  const state = {
    answer: ((_, response) => response.end('ok')) as RequestListener,
    port: 0,
    /** Every connection that was dialled, and where to. */
    sockets: [] as Socket[],
    dialled: [] as string[],
    guard(options: Partial<NetworkGuardOptions> = {}): NetworkGuard {
      const guard = createNetworkGuard({
        allowedHosts: ['*'],
        privateRanges: [],
        maxBytes: 10_000,
        timeoutMs: 20_000,
        userAgent: 'hub/1',
        resolve: async () => [PUBLIC],
        dial: (address) => state.dial(state.port, address),
        ...options,
      })
      guards.push(guard)
      return guard
    },
    fetchWith: (options?: Partial<NetworkGuardOptions>, call: Partial<NetworkCall> = {}) =>
      state.guard(options).handle({ signal: () => NEVER, ...call }),
    dial(port: number, address = PUBLIC): Socket {
      const socket = connect(port, '127.0.0.1')
      state.sockets.push(socket)
      state.dialled.push(address)
      return socket
    },
    /** A server with behaviour of its own; returns its address. */
    async liar(talk: (socket: Socket) => void): Promise<() => Socket> {
      const liar = createTcpServer({ allowHalfOpen: true }, (socket) => talk(socket.on('error', () => {})))
      liars.push(liar)
      liar.listen(0, '127.0.0.1')
      await once(liar, 'listening')
      return () => state.dial((liar.address() as AddressInfo).port)
    },
  }
  beforeEach(async () => {
    Object.assign(state, { sockets: [], dialled: [] })
    state.answer = (_, response) => response.end('ok')
    server = createServer((request, response) => state.answer(request, response)).listen(0, '127.0.0.1')
    await once(server, 'listening')
    state.port = (server.address() as AddressInfo).port
  })
  afterEach(async () => {
    await Promise.all(guards.map((guard) => guard.close()))
    for (const socket of state.sockets) socket.destroy()
    for (const liar of liars) liar.close()
    server.closeAllConnections()
    server.close()
    guards = []
    liars = []
  })
  return state
}

/** The signal of a call that nobody stops. */
export const NEVER: AbortSignal = new AbortController().signal
