export type {
  Era,
  McpAuth,
  McpCallListener,
  McpExtras,
  McpFetchHandler,
  McpFetchOptions,
  McpHttpOptions,
  McpHttpServer,
  McpServeOptions,
  McpStdioOptions,
  McpStdioServer,
  OwnHandlers,
  ServedHub,
} from './options.ts'
export { createMcpFetchHandler, serveMcp, serveMcpStdio } from './serve.ts'
