/** The tools of MCP servers. What the command line needs besides is in `manage/`, which loads the MCP client. */
export { createMcpSource, type McpSource, type McpSourceOptions } from './mcp-source.ts'
export { signsIn } from './resolve-server.ts'
export type { McpServerStatus } from './running-servers.ts'
