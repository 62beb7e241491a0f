import { SERVER_NAME, ToolError } from '../../core/index.ts'

/** Refuses what cannot name an MCP server. */
export function assertServerName(name: string): void {
  if (SERVER_NAME.test(name)) return
  throw new ToolError('CONFIG_INVALID', `${JSON.stringify(name.slice(0, 64))} is not a name for an MCP server.`, {
    hint: 'Under mcpServers, use letters, digits, _ and -, beginning with a letter, at most 32 characters.',
  })
}
