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
} from '../server/mcp/index.ts'
export {
  createMcpFetchHandler,
  type McpHttpServer,
  type McpStdioServer,
  serveMcp,
  serveMcpStdio,
} from '../server/mcp/index.ts'
