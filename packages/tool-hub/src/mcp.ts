export type {
  Era,
  McpAuth,
  McpCallListener,
  McpExtras,
  McpFetchHandler,
  McpFetchOptions,
  McpHttpOptions,
  McpServeOptions,
  McpStdioOptions,
  OwnHandlers,
  ServedHub,
} from '@tool-hub/server/mcp'
export {
  createMcpFetchHandler,
  type McpHttpServer,
  type McpStdioServer,
  serveMcp,
  serveMcpStdio,
} from '@tool-hub/server/mcp'
