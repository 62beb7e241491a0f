export { type AgentToolOptions, toAgentTools } from './adapters/agent-tools.ts'
export { type AuditEvent, toAuditEvent } from './adapters/audit-event.ts'
export { toClientToolDefinitions } from './adapters/client-tool-definitions.ts'
export {
  type CodingToolOptions,
  createApplyPatchTool,
  createEditTool,
  createExecTool,
  createProcessTool,
  createReadTool,
  createWriteTool,
} from './adapters/coding-tools.ts'
export { createExecutor, type ExecutorCall, type ExecutorConfig, type ToolExecutor } from './adapters/executor.ts'
export { type Provider, type ProviderSchema, schemaFor } from './adapters/schema/for-provider.ts'
export { type ToolDefinition, toToolDefinitions } from './adapters/tool-definitions.ts'
export {
  type ToolCompleted,
  type ToolEvent,
  type ToolFailed,
  type ToolStarted,
  toToolEvents,
} from './adapters/tool-events.ts'
export { type ToolResultEvent, toToolResultEvent } from './adapters/tool-result-event.ts'
export type { Grant } from './approval/grants.ts'
export type { CallOptions } from './call-options.ts'
export type { Clock } from './clock.ts'
export type {
  CommandLine,
  CommandOutput,
  CommandRequest,
  CommandState,
  Commands,
  CommandTarget,
  ProgramEnd,
  ProgramFence,
  ProgramRequest,
  RunningCommand,
  RunningProgram,
  SandboxLevel,
} from './contracts/commands.ts'
export type {
  FetchOptions,
  GuardedFetch,
  GuardedResponse,
  ReadablePage,
  ReadFiles,
  WriteFiles,
} from './contracts/handles.ts'
export type {
  EmbedTexts,
  MemoryCandidate,
  MemoryDesk,
  MemoryHandle,
  MemoryNote,
  MemoryOptions,
} from './contracts/memory.ts'
export type { MemoryProvider, ProviderNote, ProviderUse } from './contracts/memory-provider.ts'
export type {
  Channel,
  ChannelAnswer,
  ChannelBounds,
  ChannelFacts,
  ChannelIo,
  ChannelLimits,
  ChannelOptions,
  ChannelRecipients,
  ChannelRequest,
  Delivery,
  InboxMessage,
  MessageDesk,
  MessageFile,
  MessageHandle,
  MessageOutcome,
  MessagesOptions,
  NewMessage,
  OutgoingMessage,
  SentRequest,
} from './contracts/messages.ts'
export type {
  CallbackRunner,
  CommandRunner,
  HistoryEntry,
  HistoryPage,
  Runner,
  SessionDesk,
  SessionEntry,
  SessionHandle,
  SessionLimits,
  SessionMessage,
  SessionStatus,
  SessionsOptions,
  SessionWork,
  UrlRunner,
} from './contracts/sessions.ts'
export { createToolHub } from './create-tool-hub.ts'
export {
  type AnyTool,
  type BaseContext,
  CAPABILITIES,
  type CallerKind,
  type CallView,
  type Capability,
  type Context,
  type Dialect,
  definePlugin,
  defineTool,
  type Effect,
  HOOK_NAMES,
  type Hooks,
  type Known,
  type Plugin,
  type PluginApi,
  type ReadContext,
  type ResolvedTarget,
  type Targets,
  type TextChange,
  type Tool,
  type ToolInput,
  type ToolKind,
  type ToolOutput,
} from './define.ts'
export { ERRORS, type ErrorCode, type Fix, ToolError, type ToolErrorOptions } from './errors.ts'
export { type AgentTool, type AgentToolResult, fromAgentTool } from './from-agent-tool.ts'
export { fromHandlerTool, type HandlerOutput, type HandlerTool } from './from-handler-tool.ts'
export type { JailDescription as SandboxDescription } from './guards/process/jail/describe-jail.ts'
export type { Explanation } from './hub/explanation.ts'
export type { ToolListing } from './hub/list-tools.ts'
export type { UndoOptions, UndoReport } from './hub/undo/undo.ts'
export type { UndoneChange } from './hub/undo/undo-changes.ts'
export type { Approvals, Hub, PrincipalHub, Questions, ToolRegistry } from './hub.ts'
export { MAX_TOOL_OUTPUT_LENGTH, truncateOutput } from './limits/output.ts'
export type {
  BudgetLimits,
  CommandLimits,
  CommandSandbox,
  CoreToolsConfig,
  Durability,
  HttpMcpServer,
  HubOptions,
  Limits,
  McpOAuth,
  McpServer,
  QuestionReply,
  Rate,
  Sandbox,
  Secret,
  StdioMcpServer,
  Visibility,
  WebOptions,
} from './options.ts'
export { expandToolGroups, normaliseName as normalizeToolName, TOOL_GROUPS } from './policy/tool-groups.ts'
export { isToolAllowedByPolicy } from './policy/visibility.ts'
export type { Principal } from './principal.ts'
export { jsonResult, toAgentToolResult, toCoreResult, toExecutorResult, toSummaryResult } from './project-result.ts'
export type {
  ApprovalReply,
  ApprovalRequest,
  Artifact,
  AskView,
  CallError,
  CallEvent,
  Content,
  ContentBlock,
  Evidence,
  Failure,
  Label,
  QuestionRequest,
  RecentCall,
  ResultMeta,
  Success,
  ToolResult,
} from './result.ts'
export type { Constraints, Rule, RuleSource, SkillRequest, SourcedRule, When } from './rule.ts'
export type { SourceHost, ToolSource, WebFetch, WebFetchOptions } from './source.ts'
export { ClientConnection, type ClientOptions } from './sources/client/client-connection.ts'
export type { ClientAnswer, ClientCall, ClientToolDefinition, RefusedClientTool } from './sources/client/client-tool.ts'
export { connectClient } from './sources/client/connect-client.ts'
export type { FormGovernance } from './sources/forms/form-governance.ts'
export { type AiSdkGovernance, type AiSdkTool, fromAiSdk } from './sources/forms/from-ai-sdk.ts'
export { fromLangChain, type LangChainTool } from './sources/forms/from-lang-chain.ts'
export {
  fromMcpTool,
  type McpHandlerExtra,
  type McpToolDefinition,
  type McpToolResult,
} from './sources/forms/from-mcp-tool.ts'
export { fromOpenAi, type OpenAiFunction, type OpenAiHandlerOptions } from './sources/forms/from-open-ai.ts'
export {
  createMcpSource,
  type McpServerStatus,
  type McpSource,
  type McpSourceOptions,
} from './sources/mcp/mcp-source.ts'
export { type FolderOptions, fromFolder } from './sources/plugins/folder-source.ts'
export { type IsolateOptions, isolatePlugin } from './sources/plugins/isolated-plugin.ts'
export type { RefusedTool } from './steps/registry.ts'
export type { ToolCard } from './steps/tool-card.ts'
export { createMemoryStore } from './store/memory/create-memory-store.ts'
export { openStore } from './store/sqlite/open-store.ts'
export type { Store } from './store.ts'
export type { SearchProvider } from './tools/web/search-provider.ts'
export { createWebSearch } from './tools/web/web-search.ts'
export { VERSION } from './version.ts'
