export { createMcpFetchHandler } from './create-mcp-fetch-handler.ts'
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
} from './options.ts'
export { type McpHttpServer, serveMcp } from './serve-mcp.ts'
export { type McpStdioServer, serveMcpStdio } from './serve-mcp-stdio.ts'
