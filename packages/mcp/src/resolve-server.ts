import {
  type HttpMcpServer,
  type McpServer,
  type ProgramRequest,
  type SourceHost,
  type StdioMcpServer,
  ToolError,
} from '@tool-hub/core'
import { fillReferences, type ReferenceSources } from '@tool-hub/core/config'
import { lookAtKeys } from '@tool-hub/runtime/records/redaction'

/** A server with all references in its configuration resolved. */
export type ResolvedServer =
  | { readonly kind: 'program'; readonly request: ProgramRequest }
  | {
      readonly kind: 'web'
      readonly url: URL
      readonly headers: Readonly<Record<string, string>>
      readonly isSse: boolean
    }

/**
 * Resolves the references in the configuration of a server when it is about to be used; secrets are redacted from then
 * on.
 */
export function resolveServer(
  name: string,
  server: McpServer,
  from: { readonly host: Pick<SourceHost, 'secret' | 'hide'>; readonly env: ReferenceSources['env'] },
): ResolvedServer {
  const { fill, fillAll } = openReferences(name, from)
  if (isProgram(server)) {
    const { command, args = [], cwd, sandbox } = server
    const request = {
      argv: [fill(command, 'command'), ...args.map((arg, index) => fill(arg, `args[${index}]`))],
      env: fillAll(server.env, 'env'),
      ...(cwd !== undefined && { cwd: fill(cwd, 'cwd') }),
      ...(sandbox && { access: sandbox === true ? {} : sandbox }),
    }
    return { kind: 'program', request }
  }
  const url = toServerUrl(name, fill(server.url, 'url'))
  return { kind: 'web', url, headers: fillAll(server.headers, 'headers'), isSse: server.type === 'sse' }
}

/** Whether a server is a program, and not a service on the network. */
export function isProgram(server: McpServer): server is StdioMcpServer {
  return typeof (server as Partial<StdioMcpServer>).command === 'string'
}

/** Whether the hub signs in by itself if the server requires it. */
export function signsIn({ oauth, headers = {} }: HttpMcpServer): boolean {
  return oauth !== false && !Object.keys(headers).some((name) => name.toLowerCase() === 'authorization')
}

/** Parses the URL of a server. Throws CONFIG_INVALID unless it is http or https. */
export function toServerUrl(name: string, text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url && /^https?:$/.test(url.protocol)) return url
  throw new ToolError('CONFIG_INVALID', `The url of the MCP server ${name} is not an address of http or https.`, {
    fix: { key: `mcpServers.${name}.url`, hint: 'Write it whole: https://mcp.example.org/mcp.' },
  })
}

/** Redacting shorter values would hide ordinary words. */
const MIN_SECRET_LENGTH = 6
const HARMLESS: ReadonlySet<string> = new Set(
  `HOME PATH USER USERNAME LOGNAME PWD OLDPWD SHELL LANG LANGUAGE TERM TZ TMPDIR TMP TEMP HOSTNAME EDITOR DISPLAY CI
  NODE_ENV`.split(/\s+/),
)
/** `PROJECT_DIR=/home/me/project` is not redacted: no result of a server that works there could be read. */
const NAMES_FOLDER = /(?:^|_)(?:DIR|DIRECTORY|FOLDER|PATH|ROOT|HOME|WORKSPACE|CWD)$/i
const IS_PLACE = /^(?:[/~]|\.{1,2}\/|[A-Za-z]:\\)/
const kindOf = lookAtKeys(undefined, (key) => key)

/** Resolves the references in the texts of a server's configuration. */
interface ServerReferences {
  fill(text: string, where: string): string
  /** The same for variables or headers; a value whose key names a secret is redacted even if it refers to nothing. */
  fillAll(texts: Readonly<Record<string, string>> | undefined, where: string): Readonly<Record<string, string>>
}

/**
 * Resolves references; values from the environment or from secrets are redacted in records and results from then on.
 */
export function openReferences(
  server: string,
  { host, env }: { readonly host: Pick<SourceHost, 'secret' | 'hide'>; readonly env: ReferenceSources['env'] },
): ServerReferences {
  const references: ReferenceSources = {
    env,
    secret: (name) => host.secret(name),
    onValue: (kind, name, value) => {
      if (kind === 'secret' || !isHarmless(name, value)) hide([value])
    },
  }
  const hide = (values: readonly string[]) => {
    const all = values.flatMap((value) => [value, value.slice(value.indexOf(' ') + 1)])
    const secrets = [...new Set(all)].filter((value) => value.length >= MIN_SECRET_LENGTH)
    if (secrets.length > 0) host.hide(secrets)
  }
  const fill = (text: string, where: string) => fillReferences(text, references, `${where} of the MCP server ${server}`)
  return {
    fill,
    fillAll: (texts = {}, where) => {
      const filled = Object.entries(texts).map(([key, text]) => [key, fill(text, `${where}.${key}`)] as const)
      hide(filled.flatMap(([key, value]) => (kindOf(key) === 'ordinary' ? [] : [value])))
      return Object.fromEntries(filled)
    },
  }
}

function isHarmless(name: string, value: string): boolean {
  return HARMLESS.has(name.toUpperCase()) || (NAMES_FOLDER.test(name) && IS_PLACE.test(value))
}
