import type { Readable, Writable } from 'node:stream'
import type {
  AuthInfo,
  JSONRPCRequest,
  OAuthMetadata,
  OAuthTokenVerifier,
  Result,
  Server,
  ServerContext,
} from '@modelcontextprotocol/server'
import type { CallEvent, Clock } from '@tool-hub/core'
import type { Hub } from '@tool-hub/runtime/hub'

/** What a server of MCP uses of a hub. */
export type ServedHub = Pick<Hub, 'cards' | 'callDynamic' | 'artifact' | 'endRun' | 'onToolsChanged' | 'ready'> &
  Partial<Pick<Hub, 'maxInputEntries'>>

/** Which protocol a client speaks: `modern` since 2026-07-28, `legacy` before, with sessions. */
export type Era = 'legacy' | 'modern'

/** Options of an MCP server for every transport. */
export interface McpServeOptions {
  /** Dialect of the tool names. Default: that of the profile. */
  readonly dialect?: string
  /** Name of the server. Default: `tool-hub`. */
  readonly name?: string
  /** Instructions for the model. Default: that the tools are governed, and what to do when a call is refused. */
  readonly instructions?: string
  /**
   * Whether a client that can show forms is asked for approvals and for answers to questions; otherwise only the hub's
   * other channels are used. `questions` asks only the questions of tools and leaves approvals to others than the
   * caller. Default: on over stdio, where the client has started this process, and over HTTP for authenticated callers;
   * without `auth`, any program on this machine could approve its own calls.
   */
  readonly elicitation?: boolean | 'questions'
  /** A call that takes longer becomes a task, for clients of the modern era that support tasks. Default: 10 s. */
  readonly taskAfterMs?: number
  /** How long the first list of tools waits for sources that are still connecting. Default: 3 s. */
  readonly readyTimeoutMs?: number
  /** Adds to each server that is made: prompts, resources, completions. */
  readonly extras?: McpExtras
  /**
   * Marks the ids of sessions, tasks and sealed states, e.g. with the process that has them. Default: they are random
   * only.
   */
  readonly ownId?: (id: string) => string
  /** Called with errors that belong to no call. */
  readonly onError?: (error: Error) => void
  /** The source of time, for tests. Default: the machine's clock. */
  readonly clock?: Clock
}

/** Extends a server before it is connected; may return a listener for the events of its calls. */
export type McpExtras = (server: Server, own: OwnHandlers) => McpCallListener | void

/** Called with the events of a call and the context of its request. */
export type McpCallListener = (event: CallEvent, context: ServerContext) => void

/** The server's own answers, for extras that take the place of one and pass on what is not theirs. */
export interface OwnHandlers {
  /** Which protocol this client speaks. */
  readonly era: Era
  /** The run of the calls of this client that name no conversation. */
  readonly run: string
  /** Answers a request as the server does without extras. */
  readonly answer: (request: Pick<JSONRPCRequest, 'method' | 'params'>, context: ServerContext) => Promise<Result>
}

/** Who may call over HTTP: clients with the token, or with a token of an OAuth authorization server. */
export type McpAuth =
  | {
      /** The one token that every client must send as `Authorization: Bearer …`. */
      readonly token: string
    }
  | {
      /**
       * Verifies a token and returns its `clientId`, and `extra.sub` if one client acts for several people. Each has
       * its own run.
       */
      readonly verifier: OAuthTokenVerifier
      /** The address of this server as its clients know it; tokens must be made for it. */
      readonly resource: string
      /** Where tokens come from. */
      readonly oauthMetadata: OAuthMetadata
      /** Scopes that every token must have. Default: none. */
      readonly requiredScopes?: readonly string[]
      /** Scopes that the metadata of this server names. Default: none. */
      readonly scopesSupported?: readonly string[]
    }

/** Options of the HTTP handler. */
export interface McpFetchOptions extends McpServeOptions {
  /** Host names of the server in addition to those of loopback: `tools.example.org`. */
  readonly allowedHosts?: readonly string[]
  /** Host names of web pages that may call, in addition to those of loopback. */
  readonly allowedOrigins?: readonly string[]
  /** Who may call; a request without a valid token is refused. Default: everybody who reaches the address. */
  readonly auth?: McpAuth
  /** Path of the endpoint. Default: `/mcp`. */
  readonly path?: string
  /** Concurrent clients. Default: 100. When there are too many, the principal with the most loses one. */
  readonly maxSessions?: number
  /** How long an idle client is kept. Default: 30 minutes. */
  readonly sessionIdleMs?: number
  /** Bytes of one request. Default: 4 MB. */
  readonly maxBodyBytes?: number
  /** Keys and elements of one request. Default: `limits.entries` of the hub, 50,000. */
  readonly maxBodyEntries?: number
}

/** Options of the HTTP server. */
export interface McpHttpOptions extends McpFetchOptions {
  /** Address to listen on. Default: 127.0.0.1; any other than loopback needs `auth`. */
  readonly host?: string
  /** Default: 0, any free port. */
  readonly port?: number
  /** How long calls in progress may continue after `close`. Default: 5 s. */
  readonly graceMs?: number
}

/** Options of the stdio server. */
export interface McpStdioOptions extends McpServeOptions {
  /** Default: that of the process. */
  readonly stdin?: Readable
  /** Default: that of the process; everything else that is written to it goes to stderr then. */
  readonly stdout?: Writable
}

/** Answers HTTP requests that speak MCP. */
export interface McpFetchHandler {
  /** `authInfo`: the caller, if a server in front has authenticated it. */
  fetch(request: Request, options?: { readonly authInfo?: AuthInfo }): Promise<Response>
  /** Lets calls in progress continue for `graceMs`, then aborts them and ends every session. */
  close(options?: { readonly graceMs?: number }): Promise<void>
}

/** A server that is listening. */
export interface McpHttpServer {
  /** Where clients connect: `http://127.0.0.1:41234/mcp`. */
  readonly url: string
  /**
   * Stops accepting requests, lets calls in progress end or aborts them, and ends every session. The hub stays open.
   */
  close(): Promise<void>
}

/** An MCP server on standard input and output. */
export interface McpStdioServer {
  /** Resolves when the client has disconnected and its run is closed. */
  readonly closed: Promise<void>
  /** Closes the connection and aborts its calls. */
  close(): Promise<void>
}
