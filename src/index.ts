export type { FormGovernance } from './adapters/index.ts'
export {
  type AgentToolOptions,
  type AiSdkGovernance,
  type AuditEvent,
  type CodingToolOptions,
  createApplyPatchTool,
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
} from './adapters/index.ts'
export type { Grant } from './approvals/index.ts'
/** @deprecated Renamed to `ApprovalView`; removed in the next version. */
export type { ApprovalReply, ApprovalRequest, ApprovalView, ApprovalView as AskView, Artifact, BudgetLimits, CallError, CallEvent, CallOptions, ClientAnswer, ClientCall, ClientToolDefinition, Clock, CommandLimits, CommandLine, CommandOutput, CommandRequest, CommandSandbox, CommandState, Commands, CommandTarget, Constraints, Content, ContentBlock, CoreToolsConfig, Durability, Evidence, Failure, FetchOptions, GuardedFetch, GuardedResponse, HttpMcpServer, HubOptions, Label, Limits, McpOAuth, McpServer, Principal, ProgramEnd, ProgramFence, ProgramRequest, QuestionReply, QuestionRequest, Rate, ReadablePage, ReadFiles, RecentCall, RefusedClientTool, ResultMeta, Rule, RuleCondition as When, RuleSource, RunningCommand, RunningProgram, Sandbox, SandboxLevel, Secret, SkillRequest, SourcedRule, SourceHost, StdioMcpServer, Store, Success, ToolResult, ToolSource, Visibility, WebFetch, WebFetchOptions, WebOptions, WriteFiles } from './core/index.ts'
export type { CallbackRunner, CommandRunner, HistoryEntry, HistoryPage, Runner, SessionEntry, SessionHandle, SessionLimits, SessionMessage, SessionService, SessionStatus, SessionsOptions, SessionWork, UrlRunner } from './features/sessions/index.ts'
export type { Channel, ChannelAnswer, ChannelBounds, ChannelFacts, ChannelIo, ChannelLimits, ChannelOptions, ChannelRecipients, ChannelRequest, Delivery, InboxMessage, MessageFile, MessageHandle, MessageOutcome, MessageService, MessagesOptions, NewMessage, OutgoingMessage, SentRequest } from './features/messages/index.ts'
export type { EmbedTexts, MemoryCandidate, MemoryHandle, MemoryNote, MemoryOptions, MemoryProvider, MemoryService, ProviderNote, ProviderUse } from './features/memory/index.ts'
export {
  type AgentTool,
  type AgentToolResult,
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
  ERRORS,
  type ErrorCode,
  type Fix,
  fromAgentTool,
  fromHandlerTool,
  type HandlerOutput,
  type HandlerTool,
  HOOK_NAMES,
  type Hooks,
  jsonResult,
  type Known,
  type Plugin,
  type PluginApi,
  type ReadContext,
  type ResolvedTarget,
  type Targets,
  type TextChange,
  type Tool,
  ToolError,
  type ToolErrorOptions,
  type ToolInput,
  type ToolKind,
  type ToolOutput,
  toAgentToolResult,
  toCoreResult,
  toExecutorResult,
  toSummaryResult,
} from './core/index.ts'
export { createToolHub } from './create-tool-hub.ts'
export type {
  Approvals,
  Explanation,
  Hub,
  PrincipalHub,
  Questions,
  RefusedTool,
  ToolCard,
  ToolListing,
  ToolRegistry,
  UndoneChange,
  UndoOptions,
  UndoReport,
} from './hub/index.ts'
export { VERSION } from './lib/index.ts'
export { MAX_TOOL_OUTPUT_LENGTH, truncateOutput } from './limits/index.ts'
export {
  expandToolGroups,
  isToolAllowedByPolicy,
  normaliseName as normalizeToolName,
  TOOL_GROUPS,
} from './policy/index.ts'
export type { SandboxDescription } from './sandbox/exec/index.ts'
export {
  ClientConnection,
  type ClientConnectionOptions as ClientOptions,
  connectClient,
} from './sources/client-tools/index.ts'
export {
  createMcpSource,
  type McpServerStatus,
  type McpSource,
  type McpSourceOptions,
} from './sources/mcp/index.ts'
export { type FolderOptions, fromFolder, type IsolateOptions, isolatePlugin } from './sources/plugins/index.ts'
export { createMemoryStore, openStore } from './store/index.ts'
export type { SearchProvider } from './tools/index.ts'
export { createWebSearch } from './tools/index.ts'
