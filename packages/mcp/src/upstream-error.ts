import { type McpServer, messageOf, ToolError } from '@tool-hub/core'
import { escapeLine, isPlainObject } from '@tool-hub/core/lib'
import { isProgram } from './resolve-server.ts'

const MESSAGE_CHARS = 1_000
const MAX_CAUSE_DEPTH = 5
/** JSON-RPC code for arguments that the server does not accept. */
const INVALID_PARAMS = -32602
/** The server requires a person to open a URL first. */
const URL_ELICITATION_REQUIRED = -32042

/**
 * Turns any error between hub and server into one of the error table: which server, what happened, and what to do
 * next.
 */
export function upstreamError(server: string, thrown: unknown): ToolError {
  const known = findToolError(thrown)
  if (known) return known
  const { code, status } = factsOf(thrown)
  const message = said(thrown)
  const cause = thrown
  if (code === INVALID_PARAMS) {
    return new ToolError('INPUT_SCHEMA_INVALID', `${server} refused the arguments: ${message}`, { cause })
  }
  if (code === URL_ELICITATION_REQUIRED) {
    const hint = `Open it in a browser, then call again: ${urlsOf(thrown).join(' ') || 'the server names no address'}`
    return new ToolError('EXEC_FAILED', `${server} wants something done in a browser first: ${message}`, {
      hint,
      cause,
    })
  }
  if (typeof code === 'number' && !isStreamEnd(thrown)) {
    return new ToolError('EXEC_FAILED', `${server} answered with error ${code}: ${message}`, {
      hint: 'Read the message; correct the arguments, or use another tool.',
      cause,
    })
  }
  if (code === 'REQUEST_TIMEOUT') return new ToolError('TIMEOUT', `${server} did not answer in time.`, { cause })
  if (isNamed(thrown, 'UnauthorizedError') || status === 401 || status === 403) {
    const hint = `Sign in with: tool-hub mcp login ${server}; or correct its headers in tool-hub.yaml.`
    const what = status === 403 ? 'does not let this hub in' : 'wants somebody to sign in'
    return new ToolError('UPSTREAM_ERROR', `${server} ${what}: ${message}`, { hint, retryable: false, cause })
  }
  const isBroken = code === 'INVALID_RESULT' || code === 'UNSUPPORTED_RESULT_TYPE'
  const what = isBroken ? 'answered with something that is not MCP' : 'failed'
  return new ToolError('UPSTREAM_ERROR', `${server} ${what}: ${message}`, {
    hint: `Try again; look at it with: tool-hub mcp test ${server}.`,
    ...(isBroken && { retryable: false }),
    cause,
  })
}

/** Finds a `ToolError` that was wrapped on the way. */
export function findToolError(thrown: unknown): ToolError | undefined {
  let error = thrown
  for (let depth = 0; depth < MAX_CAUSE_DEPTH && error instanceof Error; depth++) {
    if (ToolError.is(error)) return error
    error = error.cause
  }
  return undefined
}

/** The HTTP status of an error answer; `undefined` for other errors. */
export function statusOf(thrown: unknown): number | undefined {
  return factsOf(thrown).status
}

function factsOf(thrown: unknown): { readonly code: unknown; readonly status: number | undefined } {
  if (typeof thrown !== 'object' || thrown === null) return { code: undefined, status: undefined }
  const { code, data } = thrown as { readonly code?: unknown; readonly data?: unknown }
  const status = isPlainObject(data) && typeof data.status === 'number' ? data.status : undefined
  return { code, status: isNamed(thrown, 'SdkHttpError') ? status : undefined }
}

/** Reported by our own transport, not by the server. */
function isStreamEnd(thrown: unknown): boolean {
  const { data } = thrown as { readonly data?: unknown }
  return isPlainObject(data) && data.isStreamEnded === true
}

function isNamed(thrown: unknown, name: string): boolean {
  return thrown instanceof Error && thrown.name === name
}

function said(thrown: unknown): string {
  return escapeLine(messageOf(thrown).slice(0, MESSAGE_CHARS))
}

function urlsOf(thrown: unknown): string[] {
  const { data } = thrown as { readonly data?: unknown }
  const wanted = isPlainObject(data) && Array.isArray(data.elicitations) ? data.elicitations : []
  return wanted
    .slice(0, 3)
    .flatMap((each) =>
      isPlainObject(each) && typeof each.url === 'string' ? [escapeLine(each.url.slice(0, 500))] : [],
    )
}

/** Programs that download what they run. */
const DOWNLOADERS = /(?:^|[/\\])(npx|npm|pnpm|pnpx|yarn|bunx|bun|uvx|uv|pipx|deno|docker)(?:\.cmd|\.exe)?$/

/** The error for a server that took too long to connect and list its tools; `look` says how to find out why. */
export function tooSlow(name: string, server: McpServer, timeoutMs: number, look: string): ToolError {
  const downloader = cutOff(server)
  const hint = downloader
    ? `Its sandbox has no network, so ${downloader} cannot download anything: list the hosts it needs (sandbox: { hosts: […] } of mcpServers.${name}), or install the package and start that.`
    : `Raise startTimeout of mcpServers.${name}, or ${look}`
  return new ToolError('TIMEOUT', `${name} did not connect and list its tools within ${timeoutMs} ms.`, { hint })
}

/** The program that needs to download something and has no network. */
function cutOff(server: McpServer): string | undefined {
  if (!isProgram(server) || !server.sandbox) return undefined
  const { hosts = [] } = server.sandbox === true ? {} : server.sandbox
  return hosts.length === 0 ? DOWNLOADERS.exec(server.command)?.[1] : undefined
}
