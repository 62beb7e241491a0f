import type { Server, ServerContext } from '@modelcontextprotocol/server'
import type { ClientSession } from '../client-session.ts'
import { type ClientView, viewClient } from '../client-view.ts'
import type { Era, McpCallListener } from '../options.ts'

/** One server towards one client; over HTTP in the modern era, for one request. */
export interface Connection {
  readonly session: ClientSession
  readonly era: Era
  readonly server: Server
  readonly listener: McpCallListener | undefined
  /** Who made a request. */
  client(context: ServerContext): ClientView
}

/** A connection that remembers who introduced itself. */
export class ServerConnection implements Connection {
  readonly session: ClientSession
  readonly era: Era
  readonly server: Server
  listener: McpCallListener | undefined
  #client: ClientView | undefined

  constructor(session: ClientSession, era: Era, server: Server) {
    this.session = session
    this.era = era
    this.server = server
  }

  client(context: ServerContext): ClientView {
    if (this.era === 'modern') return this.#view(context)
    // Without a handshake there is nothing to remember yet.
    if (this.server.getClientVersion() !== undefined) this.#client ??= this.#view(context)
    return this.#client ?? this.#view(context)
  }

  #view(context: ServerContext): ClientView {
    return viewClient(this.server, context, this.era, this.session.knownName)
  }
}
