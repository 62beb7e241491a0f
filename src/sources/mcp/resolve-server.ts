import {
  type HttpMcpServer,
  type McpServer,
  type ProgramRequest,
  type SourceHost,
  type StdioMcpServer,
  ToolError,
} from '../../core/index.ts'
import { lookAtKeys } from '../../records/redaction/index.ts'

/** A server with everything filled in that its configuration refers to. */
export type ResolvedServer =
  | { readonly kind: 'program'; readonly request: ProgramRequest }
  | {
      readonly kind: 'web'
      readonly url: URL
      readonly headers: Readonly<Record<string, string>>
      readonly isSse: boolean
    }

/** Fills in what the configuration of a server refers to, when it is about to be used; secrets are hidden from then on. */
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
      ...(sandbox && { fence: sandbox === true ? {} : sandbox }),
    }
    return { kind: 'program', request }
  }
  const url = toServerUrl(name, fill(server.url, 'url'))
  return { kind: 'web', url, headers: fillAll(server.headers, 'headers'), isSse: server.type === 'sse' }
}

/** Whether it is a program, and not a service on the network. */
export function isProgram(server: McpServer): server is StdioMcpServer {
  return typeof (server as Partial<StdioMcpServer>).command === 'string'
}

/** Whether the hub signs in by itself where the server wants that. */
export function signsIn({ oauth, headers = {} }: HttpMcpServer): boolean {
  return oauth !== false && !Object.keys(headers).some((name) => name.toLowerCase() === 'authorization')
}

/** The address of a server, which is one of http or https. */
export function toServerUrl(name: string, text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url && /^https?:$/.test(url.protocol)) return url
  throw new ToolError('CONFIG_INVALID', `The url of the MCP server ${name} is not an address of http or https.`, {
    fix: { key: `mcpServers.${name}.url`, hint: 'Write it whole: https://mcp.example.org/mcp.' },
  })
}

/** Shorter ones would hide ordinary words. */
const MIN_SECRET_LENGTH = 6
const HARMLESS: ReadonlySet<string> = new Set(
  `HOME PATH USER USERNAME LOGNAME PWD OLDPWD SHELL LANG LANGUAGE TERM TZ TMPDIR TMP TEMP HOSTNAME EDITOR DISPLAY CI
  NODE_ENV`.split(/\s+/),
)
/** `PROJECT_DIR=/home/me/project`: without it, no result of a server that works there could be read. */
const NAMES_FOLDER = /(?:^|_)(?:DIR|DIRECTORY|FOLDER|PATH|ROOT|HOME|WORKSPACE|CWD)$/i
const IS_PLACE = /^(?:[/~]|\.{1,2}\/|[A-Za-z]:\\)/
const kindOf = lookAtKeys(undefined, (key) => key)

/** Fills in what the texts of a server's configuration refer to. */
interface ServerReferences {
  fill(text: string, where: string): string
  /** The same for variables or headers; one whose name says that it is secret is hidden even where it refers to nothing. */
  fillAll(texts: Readonly<Record<string, string>> | undefined, where: string): Readonly<Record<string, string>>
}

/** Fills in references; whatever comes from the environment or from secrets no record and no result holds from then on. */
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

/** Where the values come from. */
export interface ReferenceSources {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly secret: (name: string) => string | undefined
  /** Is notified of every value that was taken from there, and of no default. */
  readonly onValue?: (kind: 'env' | 'secret', name: string, value: string) => void
}

/** `${env:X}`, `${secret:x}`, and `${X}` as Claude writes it; each may say what holds without it, `${X:-default}`. */
const REFERENCE = /\$\{(?:([A-Za-z]+):(?!-))?([A-Za-z_][A-Za-z0-9_.-]*?)(?::-([^}]*))?\}/g

/** A text of the configuration of a server with what it refers to; one that is missing is reported by its name. */
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
