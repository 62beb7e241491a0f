import type { ProgramAccess } from './commands.ts'

/** A program that speaks MCP on its standard input and output. */
export interface StdioMcpServer extends McpServerCommon {
  /** Optional: implied by `command`. */
  readonly type?: 'stdio'
  /** The program, found on PATH; no shell reads it. `${env:X}` and `${secret:x}` are filled in. */
  readonly command: string
  /** Arguments of the program, each as it is. Default: none. */
  readonly args?: readonly string[]
  /** Its whole environment in addition to PATH, HOME and the like; `${env:X}` and `${secret:x}` are filled in. */
  readonly env?: Readonly<Record<string, string>>
  /** The folder it runs in. Default: the working directory of the process; with `sandbox`, a folder that it can see. */
  readonly cwd?: string
  /**
   * Runs it in the sandbox of commands: `true`, or the folders it sees in addition to the system's own. Default: false.
   */
  readonly sandbox?: boolean | ProgramAccess
}

/** A service that speaks MCP over HTTP. */
export interface HttpMcpServer extends McpServerCommon {
  /** `sse` for servers of the first protocol version. Default: detected. */
  readonly type?: 'http' | 'streamable-http' | 'sse'
  /** Where it answers, `http:` or `https:`; need not be listed in `sandbox.network`. */
  readonly url: string
  /** `${env:X}` and `${secret:x}` are filled in. */
  readonly headers?: Readonly<Record<string, string>>
  /** How to sign in; `false` never signs in. Default: discovered, with dynamic registration. */
  readonly oauth?: false | McpOAuth
}

/** What an authorization server cannot discover by itself. */
export interface McpOAuth {
  /** The id that the service knows this client by. Default: the hub registers itself. */
  readonly clientId?: string
  /** `${env:X}` or `${secret:x}`. */
  readonly clientSecret?: string
  /** The only authorization server that may get the secret. Default: the first that the service names. */
  readonly issuer?: string
  /** What to ask for. Default: what the service suggests. */
  readonly scopes?: readonly string[]
  /** Port of the loopback address that the browser returns to. Default: any free one. */
  readonly callbackPort?: number
}

/** What is believed of an MCP server, tool by tool. Names may end in `*`. */
export interface McpTrust {
  /** Tools whose annotations are believed: those that only read run without approval. */
  readonly annotations?: readonly string[]
  /** Tools whose results are yours, and not content from outside. */
  readonly results?: readonly string[]
}

interface McpServerCommon {
  /** Keeps the entry but does not connect; its tools do not exist. Default: `false`. */
  readonly disabled?: boolean
  /**
   * Trusts what it declares about its tools: read-only ones run without approval, and their results count as trusted. Or
   * both by tool: see `McpTrust`. Default: neither.
   */
  readonly trust?: boolean | McpTrust
  /** Time for one call. Default: as any tool's. */
  readonly timeoutMs?: number
  /** Time to connect and list its tools. Default: 30 s. */
  readonly startTimeoutMs?: number
}

/** A server of tools that speaks MCP, in the shape that Claude, Cursor and VS Code use. */
export type McpServer = StdioMcpServer | HttpMcpServer
