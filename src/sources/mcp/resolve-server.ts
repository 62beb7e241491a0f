import {
  type HttpMcpServer,
  type McpServer,
  type ProgramRequest,
  type SourceHost,
  type StdioMcpServer,
  ToolError,
} from '../../core/index.ts'
import type { ReferenceSources } from './fill-references.ts'
import { openReferences } from './server-references.ts'

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
