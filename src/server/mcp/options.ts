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
import type { CallEvent, Clock } from '../../core/index.ts'
import type { Hub } from '../../hub/index.ts'

/** What a server of MCP uses of a hub. */
export type ServedHub = Pick<Hub, 'cards' | 'callDynamic' | 'artifact' | 'endRun' | 'onToolsChanged' | 'ready'> &
  Partial<Pick<Hub, 'maxInputEntries'>>

/** Which protocol a client speaks: `modern` since 2026-07-28, `legacy` before, with sessions. */
export type Era = 'legacy' | 'modern'

/** What a server of MCP may be told, whichever way it is reached. */
export interface McpServeOptions {
  /** Whose tool names clients see; the profile's own unless said. */
  readonly dialect?: string
  /** What the server calls itself; `tool-hub` unless said. */
  readonly name?: string
  /** How to use the tools, for the model behind the client; unless said, that they are governed and what to do when one is refused. */
  readonly instructions?: string
  /**
   * Whether a client that can show forms is asked what policy and tools ask; else the hub's own ways are the only ones.
   * With `questions` it is asked what tools ask, and whether a call may happen is left to others than who calls.
   * Unless said, it is over stdio, where the client is who started this process, and over HTTP for those of whom `auth`
   * knows who they are: without, any program on this machine could say yes to its own calls.
   */
  readonly elicitation?: boolean | 'questions'
  /** A call that takes longer becomes a task, for clients of the modern era that know tasks; 10 s unless said. */
  readonly taskAfterMs?: number
  /** How long the first list of tools waits for sources that are still connecting; 3 s unless said. */
  readonly readyTimeoutMs?: number
  /** Adds to each server that is made: prompts, resources, completions. */
  readonly extras?: McpExtras
  /** Hears of what went wrong beside any call. */
  readonly onError?: (error: Error) => void
  /** The source of time, for tests. Default: the machine's clock. */
  readonly clock?: Clock
}

/** What is added to a server before it is connected; may give back a listener for the events of its calls. */
export type McpExtras = (server: Server, own: OwnHandlers) => McpCallListener | void

/** Hears the events of a call, with the request that made it. */
export type McpCallListener = (event: CallEvent, context: ServerContext) => void

/** The server's own answers, for extras that take the place of one and pass on what is not theirs. */
export interface OwnHandlers {
  /** Which protocol this client speaks. */
  readonly era: Era
  /** The run that the calls of this client belong to. */
  readonly run: string
  /** Answers a request as the server does without extras. */
  readonly answer: (request: Pick<JSONRPCRequest, 'method' | 'params'>, context: ServerContext) => Promise<Result>
}

/** Who may call over HTTP: whoever has the token, or whoever an OAuth authorization server says. */
export type McpAuth =
  | {
      /** The one token that every client must send as `Authorization: Bearer …`. */
      readonly token: string
    }
  | {
      /** Says whose a token is: `clientId`, and `extra.sub` where one client acts for several people. Each has a run of its own. */
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

/** What the handler for HTTP may be told beside. */
export interface McpFetchOptions extends McpServeOptions {
  /** Names by which this server may be addressed, beside those of loopback: `tools.example.org`. */
  readonly allowedHosts?: readonly string[]
  /** Host names of web pages that may call, beside those of loopback. */
  readonly allowedOrigins?: readonly string[]
  /** Who may call; a request without a valid token is refused. Default: everybody who reaches the address. */
  readonly auth?: McpAuth
  /** Where it answers; `/mcp` unless said. */
  readonly path?: string
  /** Clients at once; 100 unless said. When there are too many, whoever has most makes room. */
  readonly maxSessions?: number
  /** How long a client that does nothing is kept; 30 minutes unless said. */
  readonly sessionIdleMs?: number
  /** Bytes of one request; 4 MB unless said. */
  readonly maxBodyBytes?: number
  /** Keys and elements of one request. Default: `limits.entries` of the hub, 50,000. */
  readonly maxBodyEntries?: number
}

/** What the server for HTTP may be told beside. */
export interface McpHttpOptions extends McpFetchOptions {
  /** Address to listen on; 127.0.0.1 unless said. Any that is not loopback needs `auth`. */
  readonly host?: string
  /** 0, any free one, unless said. */
  readonly port?: number
  /** How long calls under way may go on when it is closed; 5 s unless said. */
  readonly graceMs?: number
}

/** What the server for stdio may be told beside. */
export interface McpStdioOptions extends McpServeOptions {
  /** The process's own unless said. */
  readonly stdin?: Readable
  /** The process's own unless said; then everything else that is written there goes to stderr. */
  readonly stdout?: Writable
}

/** Answers HTTP requests that speak MCP. */
export interface McpFetchHandler {
  /** `authInfo`: who it is, where somebody in front has found that out already. */
  fetch(request: Request, options?: { readonly authInfo?: AuthInfo }): Promise<Response>
  /** Lets calls under way go on for `graceMs`, then stops them and ends every session. */
  close(options?: { readonly graceMs?: number }): Promise<void>
}
