import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type ClientCapabilities,
  type Implementation,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { escapeLine } from '@tool-hub/core/lib'
import type { ClientSession } from './client-session.ts'
import type { Era, McpCallListener } from './options.ts'
import { TASKS_EXTENSION } from './tasks.ts'

/** A server for one client; over HTTP in the modern era, for one request. */
export interface Connection {
  readonly session: ClientSession
  readonly era: Era
  readonly server: Server
  listener: McpCallListener | undefined
}

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

/** Describes the client of a request. Its authenticated name takes precedence over its own. */
export function viewClient({ server, session, era }: Connection, context: ServerContext): ClientView {
  const { info, capabilities } = era === 'modern' ? envelopeOf(context) : handshakeOf(server)
  return {
    caller: `mcp:${session.knownName ?? nameOf(info)}`,
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
