import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterEach } from 'vitest'
import type { NetworkGuardOptions } from '../../packages/sandbox/src/network/network-guard.ts'
import type { OpenedProxy, ProxySettings } from '../../packages/sandbox/src/network/proxy/open-proxy.ts'
import { NEVER, useLoopback } from './loopback.ts'

/** What a test wants of a proxy; `a.example` is allowed and led to the loopback server by default. */
export interface ProxySetting extends ProxySettings {
  readonly guard?: Partial<NetworkGuardOptions>
  readonly signal?: AbortSignal
  readonly permits?: (url: string) => void
  readonly onConnection?: (url: string, outcome: string) => void
}

/** Gives every test of a file proxies, and what they told of connections. */
export function useProxies() {
  const local = useLoopback()
  let proxies: OpenedProxy[] = []
  const state = {
    local,
    /** `url outcome`, as they came. */
    told: [] as string[],
    async open({ guard, limits, owner, signal = NEVER, permits = () => {}, onConnection }: ProxySetting = {}) {
      const tell = (url: string, outcome: string) => void state.told.push(`${url} ${outcome}`)
      const network = { permits, onConnection: onConnection ?? tell }
      const proxy = await local
        .guard({ allowedHosts: ['a.example'], ...guard })
        .openProxy(network, signal, { limits, owner })
      proxies.push(proxy)
      return proxy
    },
  }
  afterEach(async () => {
    await Promise.all(proxies.map((proxy) => proxy.close()))
    state.told = []
    proxies = []
  })
  return state
}

/** Connects to a unix socket. */
export async function connectTo(path: string): Promise<Socket> {
  const socket = connect({ path })
  socket.on('error', () => {})
  await once(socket, 'connect')
  return socket
}

/** Says something to a unix socket, and gives everything that comes back until the other side closes. */
export async function sayTo(path: string, words: string | Buffer): Promise<string> {
  const socket = await connectTo(path)
  socket.write(words)
  try {
    return await text(socket)
  } finally {
    socket.destroy()
  }
}

/** A GET as a client sends it to a proxy. */
export function get(url: string, ...headers: string[]): string {
  const host = /^http:\/\/([^/]*)/i.exec(url)?.[1] ?? 'a.example'
  return `${[`GET ${url} HTTP/1.1`, `Host: ${host}`, ...headers].join('\r\n')}\r\n\r\n`
}
