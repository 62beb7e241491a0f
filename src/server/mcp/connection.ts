import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type ClientCapabilities,
  type Implementation,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { escapeLine } from '../../lib/index.ts'
import type { ClientSession } from './client-session.ts'
import type { Era, McpCallListener } from './options.ts'

/** A server for one client; over HTTP in the modern era, for one request. */
export interface Connection {
  readonly session: ClientSession
  readonly era: Era
  readonly server: Server
  readonly listener: McpCallListener | undefined
  /** Returns the client of a request. */
  client(context: ServerContext): ClientView
}

/** A connection that remembers its client. */
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
    // Before the handshake there is nothing to remember.
    if (this.server.getClientVersion() !== undefined) this.#client ??= this.#view(context)
    return this.#client ?? this.#view(context)
  }

  #view(context: ServerContext): ClientView {
    return viewClient(this.server, context, this.era, this.session.knownName)
  }
}

/** The extension that declares tasks in the modern era. */
export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks'

/**
 * A client as it describes itself: with each request in the modern era, at the start of its session in the legacy era.
 */
export interface ClientView {
  /** The caller on record. */
  readonly caller: string
  /** Whether it can show forms. */
  readonly canElicit: boolean
  /** Whether it accepts a task instead of a result. */
  readonly takesTasks: boolean
}

/** Describes the client of a request. `known`: its authenticated name, which takes precedence over its own. */
export function viewClient(server: Server, context: ServerContext, era: Era, known: string | undefined): ClientView {
  const { info, capabilities } = era === 'modern' ? envelopeOf(context) : handshakeOf(server)
  return {
    caller: `mcp:${known ?? nameOf(info)}`,
    canElicit: showsForms(capabilities),
    takesTasks: era === 'modern' && capabilities?.extensions?.[TASKS_EXTENSION] !== undefined,
  }
}

interface Introduction {
  readonly info?: Implementation
  readonly capabilities?: ClientCapabilities
}

/** The SDK has validated the envelope; only its type is missing. */
function envelopeOf({ mcpReq }: ServerContext): Introduction {
  const envelope = (mcpReq.envelope ?? {}) as Readonly<Record<string, unknown>>
  return {
    info: envelope[CLIENT_INFO_META_KEY] as Implementation | undefined,
    capabilities: envelope[CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities | undefined,
  }
}

function handshakeOf(server: Server): Introduction {
  return { info: server.getClientVersion(), capabilities: server.getClientCapabilities() }
}

function nameOf(info: Implementation | undefined): string {
  return escapeLine(String(info?.name ?? '')).slice(0, 64) || 'client'
}

/** A client without modes supports forms, which existed first. */
function showsForms(capabilities: ClientCapabilities | undefined): boolean {
  const elicitation = capabilities?.elicitation
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined)
}
