import { type McpServer, SERVER_NAME } from '@tool-hub/core'
import { duration, key, parseDuration, programAccessSchema, text, toProgramAccess } from '@tool-hub/core/config'
import { isPlainObject } from '@tool-hub/core/lib'
import { resolvePath } from '@tool-hub/sandbox/system'
import { z } from 'zod'

const texts = z.record(z.string(), z.string())

const oauth = z.strictObject({
  clientId: key(text, 'The client id known to the service. Default: registered dynamically.'),
  clientSecret: key(text, 'The client secret, as a reference: ${env:NAME} or ${secret:name}.'),
  issuer: key(
    text,
    'The only authorization server that may get the secret. Default: the first that the service names.',
  ),
  scopes: key(z.array(text), 'Scopes to request. Default: those that the service suggests.'),
  callbackPort: key(z.int().min(1).max(65_535), 'Port that the browser returns to. Default: any free one.'),
})

/** Keys that other programs write into their config. They are ignored: rules decide instead. */
export const FOREIGN_KEYS = [
  'autoApprove',
  'alwaysAllow',
  'disabledTools',
  'gallery',
  'version',
  'dev',
  'note',
  'envFile',
]

const common = {
  disabled: key(z.boolean(), 'true keeps the entry but does not connect.', false),
  trust: key(
    z.union([
      z.boolean(),
      z.strictObject({
        annotations: key(z.array(text), 'Tools whose annotations are believed: those that only read need no approval.'),
        results: key(z.array(text), 'Tools whose results are yours, and not content from outside.'),
      }),
    ]),
    'Trusts what it says about its tools: read-only ones need no approval, and their results count as trusted. Or both by tool.',
    false,
  ),
  timeout: key(duration, 'Time limit of one call. Default: limits.timeout.'),
  startTimeout: key(duration, 'Time limit to connect and list its tools.', '30s'),
  ...Object.fromEntries(FOREIGN_KEYS.map((name) => [name, key(z.unknown(), 'A key of other programs; ignored here.')])),
}

const program = z.strictObject({
  type: key(z.literal('stdio'), 'A program.'),
  command: text.describe('The program to start.'),
  args: key(z.array(z.string()), 'Its arguments.', []),
  env: key(
    texts,
    'Environment variables in addition to PATH, HOME and the like. Values may contain ${env:NAME} and ${secret:name}.',
  ),
  cwd: key(text, 'The folder it runs in. Default: the folder of this config; with sandbox, a folder of its own.'),
  sandbox: key(programAccessSchema, 'Runs it in the sandbox, like a command.', false),
  ...common,
})

const service = z.strictObject({
  type: key(z.enum(['http', 'streamable-http', 'sse']), 'The transport. Default: detected.'),
  url: z.url({ protocol: /^https?$/ }).describe('URL of the service.'),
  headers: key(texts, 'Headers of every request. Values may contain ${env:NAME} and ${secret:name}.'),
  oauth: key(z.union([z.literal(false), oauth]), 'How to sign in; false never signs in. Default: discovered.'),
  ...common,
})

/** MCP servers by name, in the format of Claude, Cursor and VS Code. */
export const mcpServersSchema = z.record(
  z.string().regex(SERVER_NAME, 'letters, digits, _ and -, at most 32, a letter first'),
  z.union([program, service]),
)

/** The servers as they were written. */
export type WrittenMcpServers = z.output<typeof mcpServersSchema>

/** The folders that relative paths and the default record folders are in. */
export interface Folders {
  /** Of the config file: what is written in it is relative to this. */
  readonly base: string
  /** The folder of the project. Default place of the records. */
  readonly home: string
}

/** MCP servers as a hub takes them: times in milliseconds, folders absolute, no keys of other programs. */
export function toMcpServers(servers: WrittenMcpServers, { base, home }: Folders): Record<string, McpServer> {
  return Object.fromEntries(
    Object.entries(servers).map(([name, written]) => {
      const { timeout, startTimeout, ...rest } = withoutForeign(withWorkspace(written, home)) as typeof written
      const server = {
        ...rest,
        ...(timeout !== undefined && { timeoutMs: parseDuration(timeout) }),
        ...(startTimeout !== undefined && { startTimeoutMs: parseDuration(startTimeout) }),
      }
      return [name, 'command' in server ? inFolders(server as Written, base) : (server as McpServer)] as const
    }),
  )
}

type Written = Extract<McpServer, { command: string }>

function inFolders(server: Written, base: string): McpServer {
  const { cwd, sandbox } = server
  return {
    ...server,
    // A sandbox has a folder of its own; the folder of the config would have to be opened to it.
    ...((cwd !== undefined || !sandbox) && { cwd: resolvePath(base, cwd ?? '.') }),
    ...(typeof sandbox === 'object' && { sandbox: toProgramAccess(sandbox, (path) => resolvePath(base, path)) }),
  }
}

function withoutForeign(server: object): object {
  return Object.fromEntries(Object.entries(server).filter(([name]) => !FOREIGN_KEYS.includes(name)))
}

/** The folder of the project, as VS Code and Cursor write it. */
function withWorkspace<T>(value: T, home: string): T {
  if (typeof value === 'string') return value.replaceAll('${workspaceFolder}', home) as T
  if (Array.isArray(value)) return value.map((item) => withWorkspace(item, home)) as T
  if (!isPlainObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withWorkspace(item, home)])) as T
}
