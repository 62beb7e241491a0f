import {
  type HttpMcpServer,
  type McpServer,
  type ProgramRequest,
  type SourceHost,
  type StdioMcpServer,
  ToolError,
} from '../../core/index.ts'
import { lookAtKeys } from '../../records/redaction/index.ts'

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

/** Where the values of references come from. */
export interface ReferenceSources {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly secret: (name: string) => string | undefined
  /** Called for every value that was found, but not for defaults. */
  readonly onValue?: (kind: 'env' | 'secret', name: string, value: string) => void
}

/** `${env:X}`, `${secret:x}`, and `${X}` as in Claude's configuration; each may have a default, `${X:-default}`. */
const REFERENCE = /\$\{(?:([A-Za-z]+):(?!-))?([A-Za-z_][A-Za-z0-9_.-]*?)(?::-([^}]*))?\}/g

/** Resolves the references in a text. Throws CONFIG_INVALID with the name of one that is missing. */
export function fillReferences(text: string, references: ReferenceSources, where: string): string {
  return text.replaceAll(REFERENCE, (whole, kind: string | undefined, name: string, otherwise: string | undefined) => {
    const value = lookUp(kind ?? 'env', name, references, { whole, where })
    if (value === undefined && otherwise !== undefined) return otherwise
    if (value === undefined)
      throw missing(kind === 'secret' ? `the secret ${name}` : `the environment variable ${name}`, where, kind)
    references.onValue?.(kind === 'secret' ? 'secret' : 'env', name, value)
    return value
  })
}

function lookUp(
  kind: string,
  name: string,
  { env, secret }: ReferenceSources,
  { whole, where }: { readonly whole: string; readonly where: string },
): string | undefined {
  if (kind === 'env') return Object.hasOwn(env, name) ? env[name] : undefined
  if (kind === 'secret') return secret(name)
  throw new ToolError('CONFIG_INVALID', `${where} holds ${whole}, which tool-hub cannot fill in.`, {
    hint: 'Use ${env:NAME} for a variable of the environment or ${secret:name} for a secret of tool-hub.yaml.',
  })
}

function missing(what: string, where: string, kind: string | undefined): ToolError {
  const hint =
    kind === 'secret' ? 'Add it to secrets in tool-hub.yaml.' : 'Set it, or give a default: ${env:NAME:-default}.'
  return new ToolError('CONFIG_INVALID', `${where} needs ${what}, which is not set.`, { hint })
}
