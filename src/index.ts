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
export type { FormGovernance } from './adapters/from/form-governance.ts'
export { type AiSdkGovernance, type ForeignAiSdkTool as AiSdkTool, fromAiSdk } from './adapters/from/from-ai-sdk.ts'
export { fromLangChain, type LangChainTool } from './adapters/from/from-lang-chain.ts'
export {
  fromMcpTool,
  type McpHandlerExtra,
  type McpToolDefinition,
  type McpToolResult,
} from './adapters/from/from-mcp-tool.ts'
export { fromOpenAi, type OpenAiFunction, type OpenAiHandlerOptions } from './adapters/from/from-open-ai.ts'
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
export type { Grant } from './approvals/index.ts'
export type { CallOptions } from './core/call-options.ts'
export type {
  ClientAnswer,
  ClientCall,
  ClientToolDefinition,
  RefusedClientTool,
} from './core/client-tool.ts'
export type { Clock } from './core/clock.ts'
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
} from './core/commands.ts'
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
} from './core/define.ts'
export { ERRORS, type ErrorCode, type Fix, ToolError, type ToolErrorOptions } from './core/errors.ts'
export { type AgentTool, type AgentToolResult, fromAgentTool } from './core/from-agent-tool.ts'
export { fromHandlerTool, type HandlerOutput, type HandlerTool } from './core/from-handler-tool.ts'
export type {
  FetchOptions,
  GuardedFetch,
  GuardedResponse,
  ReadablePage,
  ReadFiles,
  WriteFiles,
} from './core/handles.ts'
export type {
  EmbedTexts,
  MemoryCandidate,
  MemoryHandle,
  MemoryNote,
  MemoryOptions,
  MemoryService,
} from './core/memory.ts'
export type { MemoryProvider, ProviderNote, ProviderUse } from './core/memory-provider.ts'
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
  MessageFile,
  MessageHandle,
  MessageOutcome,
  MessageService,
  MessagesOptions,
  NewMessage,
  OutgoingMessage,
  SentRequest,
} from './core/messages.ts'
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
} from './core/options.ts'
export type { Principal } from './core/principal.ts'
export {
  jsonResult,
  toAgentToolResult,
  toCoreResult,
  toExecutorResult,
  toSummaryResult,
} from './core/project-result.ts'
/** @deprecated Renamed to `ApprovalView`; removed in the next version. */
export type {
  ApprovalReply,
  ApprovalRequest,
  ApprovalView,
  ApprovalView as AskView,
  Artifact,
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
} from './core/result.ts'
export type { Constraints, Rule, RuleCondition as When, RuleSource, SkillRequest, SourcedRule } from './core/rule.ts'
export type {
  CallbackRunner,
  CommandRunner,
  HistoryEntry,
  HistoryPage,
  Runner,
  SessionEntry,
  SessionHandle,
  SessionLimits,
  SessionMessage,
  SessionService,
  SessionStatus,
  SessionsOptions,
  SessionWork,
  UrlRunner,
} from './core/sessions.ts'
export type { SourceHost, ToolSource, WebFetch, WebFetchOptions } from './core/source.ts'
export type { Store } from './core/store.ts'
export { createToolHub } from './create-tool-hub.ts'
export type { Explanation } from './hub/explanation.ts'
export type { Approvals, Hub, PrincipalHub, Questions, ToolRegistry } from './hub/hub.ts'
export type { ToolListing } from './hub/list-tools.ts'
export type { RefusedTool } from './hub/pipeline/registry.ts'
export type { ToolCard } from './hub/pipeline/tool-card.ts'
export type { UndoOptions, UndoReport } from './hub/undo/undo.ts'
export type { UndoneChange } from './hub/undo/undo-changes.ts'
export { VERSION } from './lib/version.ts'
export { MAX_TOOL_OUTPUT_LENGTH, truncateOutput } from './limits/output.ts'
export { expandToolGroups, normaliseName as normalizeToolName, TOOL_GROUPS } from './policy/tool-groups.ts'
export { isToolAllowedByPolicy } from './policy/visibility.ts'
export type { SandboxDescription } from './sandbox/exec/index.ts'
export {
  ClientConnection,
  type ClientConnectionOptions as ClientOptions,
} from './sources/client-tools/client-connection.ts'
export { connectClient } from './sources/client-tools/connect-client.ts'
export {
  createMcpSource,
  type McpServerStatus,
  type McpSource,
  type McpSourceOptions,
} from './sources/mcp/mcp-source.ts'
export { type FolderOptions, fromFolder } from './sources/plugins/folder-source.ts'
export { type IsolateOptions, isolatePlugin } from './sources/plugins/isolated-plugin.ts'
export { createMemoryStore } from './store/in-process.ts'
export { openStore } from './store/sqlite.ts'
export type { SearchProvider } from './tools/web/search-provider.ts'
export { createWebSearch } from './tools/web/web-search.ts'
