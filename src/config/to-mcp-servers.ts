import type { McpServer, ProgramFence } from '../core/index.ts'
import { isPlainObject } from '../lib/index.ts'
import { FOREIGN_KEYS, type WrittenMcpServers } from './mcp-schema.ts'
import { resolvePath } from './resolve-path.ts'
import type { Folders } from './to-options.ts'
import { parseDuration } from './units.ts'

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
    // A fence has a folder of its own; that of the config would have to be opened to it.
    ...((cwd !== undefined || !sandbox) && { cwd: resolvePath(base, cwd ?? '.') }),
    ...(typeof sandbox === 'object' && { sandbox: toFence(sandbox, base) }),
  }
}

/** What a fenced program gets, its folders absolute. */
export function toFence(fence: ProgramFence, base: string): ProgramFence {
  const absolute = (paths: readonly string[] | undefined) => paths?.map((path) => resolvePath(base, path))
  const { readable, writable, hosts } = fence
  return {
    ...(readable && { readable: absolute(readable) }),
    ...(writable && { writable: absolute(writable) }),
    ...(hosts && { hosts }),
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
