// biome-ignore-all assist/source/organizeImports: grouped by subject

// The hub: creating one, calling tools, events, undo.
export { createToolHub } from './create-tool-hub.ts'
export { VERSION } from './lib/index.ts'
export type {
  Explanation,
  Hub,
  PrincipalHub,
  RefusedTool,
  ToolListing,
  ToolRegistry,
  UndoneChange,
  UndoOptions,
  UndoReport,
} from './hub/index.ts'
export type {
  BudgetLimits,
  CallEvent,
  CallOptions,
  Clock,
  CoreToolsConfig,
  Durability,
  DatabaseOptions,
  HubOptions,
  Limits,
  Principal,
  Rate,
  RecentCall,
  Secret,
  ToolCard,
} from './core/index.ts'

// Defining tools and plugins: definitions, contexts, hooks.
export {
  type AgentTool,
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
  fromAgentTool,
  fromHandlerTool,
  type HandlerTool,
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
} from './core/index.ts'
export type {
  CommandTarget,
  Constraints,
  FetchOptions,
  GuardedFetch,
  GuardedResponse,
  ReadFiles,
  WriteFiles,
} from './core/index.ts'

// Results, content and errors.
export {
  type AgentToolResult,
  ERRORS,
  type ErrorCode,
  type Fix,
  type HandlerOutput,
  jsonResult,
  ToolError,
  type ToolErrorOptions,
  toAgentToolResult,
  toCoreResult,
  toExecutorResult,
  toSummaryResult,
} from './core/index.ts'
export type {
  Artifact,
  CallError,
  Content,
  ContentBlock,
  Evidence,
  Failure,
  Label,
  ResultMeta,
  Success,
  ToolResult,
} from './core/index.ts'
export { MAX_TOOL_OUTPUT_LENGTH, truncateOutput } from './limits/index.ts'

// Policy, approvals and questions.
export {
  expandToolGroups,
  isToolAllowedByPolicy,
  normaliseName as normalizeToolName,
  TOOL_GROUPS,
} from './policy/index.ts'
export type { Effect } from './core/index.ts'
export type {
  ApprovalReply,
  ApprovalRequest,
  ApprovalView,
  QuestionReply,
  QuestionRequest,
  Rule,
  RuleCondition as When,
  WhereRange,
  WhereTest,
  WhereValue,
  RuleSource,
  SkillRequest,
  SourcedRule,
  Visibility,
} from './core/index.ts'
/** @deprecated Renamed to `ApprovalView`; removed in the next version. */
export type { ApprovalView as AskView } from './core/index.ts'
export type { Grant } from './approvals/index.ts'
export type {
  Approvals,
  ClearedTaint,
  ClearTaintOptions,
  Questions,
  ShadowDifference,
  ShadowExample,
  ShadowReport,
} from './hub/index.ts'

// The sandbox: commands, programs and their isolation.
export type { SandboxDescription } from './sandbox/exec/index.ts'
export type {
  CommandLimits,
  CommandLine,
  CommandOutput,
  CommandRequest,
  CommandSandbox,
  CommandState,
  Commands,
  ProgramAccess,
  /** @deprecated Renamed to `ProgramAccess`; removed in the next version. */
  ProgramAccess as ProgramFence,
  ProgramEnd,
  ProgramRequest,
  RunningCommand,
  RunningProgram,
  Sandbox,
  SandboxLevel,
} from './core/index.ts'

// Features, and the web.
export type * from './features/generated/public/index.ts'
export type { SearchProvider } from './tools/index.ts'
export { createWebSearch } from './tools/index.ts'
export type { ReadablePage, SharedStore, WebFetch, WebFetchOptions, WebOptions } from './core/index.ts'

// Adapters: other formats of tools, calls and events.
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

// Sources of tools: plugins in folders, MCP servers, clients.
export { type FolderOptions, fromFolder, type IsolateOptions, isolatePlugin } from './sources/plugins/index.ts'
export {
  createMcpSource,
  type McpServerStatus,
  type McpSource,
  type McpSourceOptions,
} from './sources/mcp/index.ts'
export {
  ClientConnection,
  type ClientConnectionOptions as ClientOptions,
  connectClient,
} from './sources/client-tools/index.ts'
export type {
  ClientAnswer,
  ClientCall,
  ClientToolDefinition,
  HttpMcpServer,
  McpOAuth,
  McpServer,
  McpTrust,
  RefusedClientTool,
  SourceHost,
  StdioMcpServer,
  ToolSource,
} from './core/index.ts'

// The store.
export { createMemoryStore, openPostgresStore, openStore, openStoreOf } from './store/index.ts'
export type { Store } from './core/index.ts'
