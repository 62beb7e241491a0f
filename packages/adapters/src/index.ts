export { type AgentToolOptions, toAgentTools } from './agent-tools.ts'
export { toAnthropic } from './anthropic.ts'
export {
  type CodingToolOptions,
  createApplyPatchTool,
  createCodingTools,
  createEditTool,
  createExecTool,
  createProcessTool,
  createReadTool,
  createWriteTool,
} from './coding-tools.ts'
export { createExecutor, type ExecutorCall, type ExecutorConfig, type ToolExecutor } from './executor.ts'
export type { FormGovernance } from './from/define-form.ts'
export { type AiSdkGovernance, type ForeignAiSdkTool, fromAiSdk } from './from/from-ai-sdk.ts'
export { fromLangChain, type LangChainTool } from './from/from-lang-chain.ts'
export {
  fromMcpTool,
  type McpHandlerExtra,
  type McpToolDefinition,
  type McpToolResult,
  mcpContent,
} from './from/from-mcp-tool.ts'
export { fromOpenAi, type OpenAiFunction, type OpenAiHandlerOptions } from './from/from-open-ai.ts'
export { toOpenAi } from './openai.ts'
export { type Provider, type ProviderSchema, schemaFor } from './schema/for-provider.ts'
export { type ToolDefinition, toClientToolDefinitions, toToolDefinitions } from './tool-definitions.ts'
export {
  type AuditEvent,
  type ToolCompleted,
  type ToolEvent,
  type ToolFailed,
  type ToolResultEvent,
  type ToolStarted,
  toAuditEvent,
  toToolEvents,
  toToolResultEvent,
  wasExecuted,
} from './tool-events.ts'
