import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { ToolError } from '@tool-hub/core/errors'
import type { Scope } from '@tool-hub/core/protocol/shapes'
import { WebSocket } from 'ws'
import { type Clock, systemClock } from '../../packages/core/src/context.ts'
import type { Rate } from '../../packages/core/src/limits.ts'
import type { HubOptions } from '../../packages/core/src/options.ts'
import type { ClientMessage, ServerMessage } from '../../packages/core/src/protocol/messages.ts'
import type { ServiceEvent } from '../../packages/core/src/protocol/service.ts'
import { unauthenticated } from '../../packages/server/src/auth/auth-request.ts'
import { RequestRates } from '../../packages/server/src/auth/request-limits.ts'
import type { Service } from '../../packages/server/src/service.ts'
import type { EventHub } from '../../packages/server/src/services/event-hub.ts'
import { createWebSocketEndpoint } from '../../packages/server/src/websocket/endpoint.ts'
import type { WsLimits } from '../../packages/server/src/websocket/messages.ts'
import { testHub } from '../../packages/testing/src/tool-contract.ts'

/** Who has which token, and what it may do. */
export type TestTokens = Readonly<Record<string, { readonly scopes: readonly Scope[]; readonly rate?: Rate }>>

const TOKENS: TestTokens = {
  ada: { scopes: ['call', 'approve', 'read', 'admin'] },
  bob: { scopes: ['call', 'approve', 'read'] },
  eve: { scopes: ['read'] },
}

/** A WebSocket endpoint on loopback with a real hub; events and approvals are minimal. */
export async function serveWs(
  options: {
    readonly hub?: HubOptions
    readonly tokens?: TestTokens
    readonly clock?: Clock
    readonly limits?: Partial<WsLimits>
    /** Of those whose token says nothing else. */
    readonly rate?: Rate
  } = {},
) {
  const hub = testHub(options.hub)
  const tokens = { ...TOKENS, ...options.tokens }
  const revoked = new Set<string>()
  const rates = new RequestRates(options.clock ?? systemClock, options.rate)
  const events = plainFeed()
  const answered: unknown[] = []
  const attending = new Set<string>()
  const approvals = {
    attend: ({ name }: { name: string }) => {
      attending.add(name)
      return () => attending.delete(name)
    },
    answer: async (caller: { name: string }, id: string, answer: unknown, via: string) => {
      if (id === 'none') throw new ToolError('NOT_FOUND', 'Approval not found.')
      return { won: answered.push({ by: caller.name, id, answer, via }) === 1 }
    },
    reply: async (caller: { name: string }, id: string, reply: unknown, via: string) => ({
      won: answered.push({ by: caller.name, id, reply, via }) === 1,
    }),
  }
  const endpoint = createWebSocketEndpoint({
    service: { events, approvals } as unknown as Pick<Service, 'events' | 'approvals'>,
    authenticate: async ({ headers }: IncomingMessage) => {
      const token = headers.authorization?.replace('Bearer ', '') ?? ''
      const known = Object.hasOwn(tokens, token) && !revoked.has(token) ? tokens[token] : undefined
      if (!known) return unauthenticated('The token is unknown, expired or revoked.')
      const name = `token:${token}`
      const caller = { name, scopes: new Set(known.scopes), rate: known.rate, token, hub: hub.as({ name }) }
      const take = () => rates.take(name, known.rate)
      return { ok: true, caller, holds: () => !revoked.has(token), take, credential: () => undefined }
    },
    clock: options.clock,
    limits: options.limits,
  })
  const sockets = new Set<Duplex>()
  const server = createServer()
  server.on('upgrade', (request, socket, head) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    endpoint.upgrade(request, socket, head)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    hub,
    endpoint,
    events,
    answered,
    attending,
    revoked,
    rates,
    url: `http://127.0.0.1:${port}`,
    /** Cuts every TCP connection off, without a word. */
    drop() {
      for (const socket of sockets) socket.destroy()
    },
    async close() {
      await endpoint.close()
      for (const socket of sockets) socket.destroy()
      await new Promise<void>((resolve) => server.close(() => resolve()))
      await hub.close({ abort: true })
    },
  }
}

/** What `serveWs` gives. */
export type WsServed = Awaited<ReturnType<typeof serveWs>>

function plainFeed(): EventHub {
  const listeners = new Set<(event: ServiceEvent) => void>()
  return {
    subscribe(listener, { types } = {}) {
      const own = (event: ServiceEvent) => {
        if (!types || types.includes(event.type)) listener(event, '0')
      }
      listeners.add(own)
      return () => listeners.delete(own)
    },
    publish(event) {
      for (const listener of [...listeners]) listener(event)
    },
  }
}

/** A client that sends what the test says, and acknowledges nothing by itself. */
export class RawSocket {
  readonly ws: WebSocket
  /** All that came and was not asked for yet. */
  readonly inbox: ServerMessage[] = []
  readonly closed: Promise<number>
  #wake: (() => void) | undefined

  constructor(url: string, token: string | undefined, protocols = ['tool-hub.v1']) {
    const offered = token === undefined ? protocols : [...protocols, `bearer.${token}`]
    this.ws = new WebSocket(`${url.replace('http', 'ws')}/v1/ws`, offered)
    this.ws.on('message', (data) => {
      this.inbox.push(JSON.parse(String(data)))
      this.#wake?.()
    })
    this.closed = new Promise((resolve) => this.ws.on('close', resolve))
    this.ws.on('error', () => {})
  }

  static async open(url: string, token = 'ada', hello: Partial<Extract<ClientMessage, { type: 'hello' }>> = {}) {
    const socket = new RawSocket(url, token)
    await new Promise((resolve, reject) => socket.ws.on('open', resolve).on('error', reject))
    socket.say({ type: 'hello', ...hello })
    const welcome = await socket.next('welcome')
    return Object.assign(socket, { session: welcome.session, welcome })
  }

  say(message: ClientMessage | string): void {
    this.ws.send(typeof message === 'string' ? message : JSON.stringify(message))
  }

  /** The next message of a type, which is taken out. */
  async next<T extends ServerMessage['type']>(type: T): Promise<Extract<ServerMessage, { type: T }>> {
    for (;;) {
      const index = this.inbox.findIndex((message) => message.type === type)
      if (index >= 0) return this.inbox.splice(index, 1)[0] as Extract<ServerMessage, { type: T }>
      await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }

  /** Gone without a word. */
  drop(): Promise<number> {
    this.ws.terminate()
    return this.closed
  }
}
