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
export { createMcpFetchHandler, type McpHttpServer, type McpStdioServer, serveMcp, serveMcpStdio } from './serve.ts'
