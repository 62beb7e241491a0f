import type { ProgramRequest } from '../../commands.ts'
import { ToolError } from '../../errors.ts'
import type { HttpMcpServer, McpServer, StdioMcpServer } from '../../options.ts'
import { lookAtKeys } from '../../record/secret-keys.ts'
import type { SourceHost } from '../../source.ts'
import { fillReferences, type References } from './fill-references.ts'

/** A server with everything filled in that its configuration refers to. */
export type ResolvedServer =
  | { readonly kind: 'program'; readonly request: ProgramRequest }
  | {
      readonly kind: 'web'
      readonly url: URL
      readonly headers: Readonly<Record<string, string>>
      readonly isSse: boolean
    }

const SHORTEST_SECRET = 6
const kindOf = lookAtKeys(undefined, (key) => key)

/** Fills in what the configuration of a server refers to, when it is about to be used; secrets are hidden from then on. */
export function resolveServer(
  name: string,
  server: McpServer,
  { host, env }: { readonly host: Pick<SourceHost, 'secret' | 'hide'>; readonly env: References['env'] },
): ResolvedServer {
  const fill = (text: string, where: string) =>
    fillReferences(text, { env, secret: (key) => host.secret(key) }, `${where} of the MCP server ${name}`)
  const fillAll = (texts: Readonly<Record<string, string>> = {}, where: string) => {
    const filled = Object.entries(texts).map(([key, text]) => [key, fill(text, `${where}.${key}`)] as const)
    host.hide(filled.flatMap(([key, value]) => (kindOf(key) === 'ordinary' ? [] : secretsIn(value))))
    return Object.fromEntries(filled)
  }
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

/** `Bearer abc` is the secret `abc`, also where it stands without the first word. */
function secretsIn(value: string): string[] {
  const parts = [value, value.slice(value.indexOf(' ') + 1)]
  return [...new Set(parts)].filter((part) => part.length >= SHORTEST_SECRET)
}

/** The address of a server, which is one of http or https. */
export function toServerUrl(name: string, text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url && /^https?:$/.test(url.protocol)) return url
  throw new ToolError('CONFIG_INVALID', `The url of the MCP server ${name} is not an address of http or https.`, {
    fix: { key: `mcpServers.${name}.url`, hint: 'Write it whole: https://mcp.example.org/mcp.' },
  })
}
