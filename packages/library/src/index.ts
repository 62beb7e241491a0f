// biome-ignore-all assist/source/organizeImports: grouped by subject

// The hub with everything that comes with it.
export { createToolHub } from './create-tool-hub.ts'
export * from './public.ts'
export type * from './generated/public/index.ts'

// Adapters: other formats of tools, calls and events.
export type { FormGovernance } from '@tool-hub/adapters'
export {
  type AgentToolOptions,
  type AiSdkGovernance,
  type AuditEvent,
  type CodingToolOptions,
  createApplyPatchTool,
  createCodingTools,
  createEditTool,
  createExecTool,
  createExecutor,
  createProcessTool,
  createReadTool,
  createWriteTool,
  type ExecutorCall,
  type ExecutorConfig,
  type ForeignAiSdkTool as AiSdkTool,
  fromAiSdk,
  fromLangChain,
  fromMcpTool,
  fromOpenAi,
  type LangChainTool,
  type McpHandlerExtra,
  type McpToolDefinition,
  type McpToolResult,
  type OpenAiFunction,
  type OpenAiHandlerOptions,
  type Provider,
  type ProviderSchema,
  schemaFor,
  type ToolCompleted,
  type ToolDefinition,
  type ToolEvent,
  type ToolExecutor,
  type ToolFailed,
  type ToolResultEvent,
  type ToolStarted,
  toAgentTools,
  toAuditEvent,
  toClientToolDefinitions,
  toToolDefinitions,
  toToolEvents,
  toToolResultEvent,
} from '@tool-hub/adapters'

// Sources of tools: plugins in folders, MCP servers, clients.
export { type FolderOptions, fromFolder, type IsolateOptions, isolatePlugin } from '@tool-hub/adapters/sources/plugins'
export {
  createMcpSource,
  type McpServerStatus,
  type McpSource,
  type McpSourceOptions,
} from '@tool-hub/mcp'
export {
  ClientConnection,
  type ClientConnectionOptions as ClientOptions,
  connectClient,
} from '@tool-hub/adapters/sources/client-tools'
export type {
  ClientAnswer,
  ClientCall,
  ClientToolDefinition,
  HttpMcpServer,
  McpOAuth,
  McpServer,
  McpTrust,
  RefusedClientTool,
  StdioMcpServer,
} from '@tool-hub/core'

// The store.
export { createMemoryStore, openPostgresStore, openStore, openStoreOf } from './stores.ts'
