// biome-ignore-all assist/source/organizeImports: grouped by subject
/** The names that both packages of users export, `tool-hub` and `@tool-hub/base`. What a hub has in addition is not here. */

// The hub: calling tools, events, undo.
export { VERSION } from '@tool-hub/core/lib'
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
} from '@tool-hub/runtime/hub'
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
} from '@tool-hub/core'

// Defining tools and plugins: definitions, contexts, hooks.
export {
  type AgentTool,
  type AgentToolUpdateCallback,
  type AnyAgentTool,
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
  type Plugin,
  type PluginApi,
  type ReadContext,
  type ResolvedTarget,
  type TargetFacts,
  /** @deprecated Use `TargetFacts`; removed in 0.2.0. */
  type TargetFacts as Known,
  type Targets,
  type TextChange,
  type Tool,
  type ToolInput,
  type ToolKind,
  type ToolOutput,
} from '@tool-hub/core'
export type {
  CommandTarget,
  Constraints,
  FetchOptions,
  GuardedFetch,
  GuardedResponse,
  ReadFiles,
  WriteFiles,
} from '@tool-hub/core'

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
} from '@tool-hub/core'
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
} from '@tool-hub/core'
export { MAX_TOOL_OUTPUT_LENGTH, truncateOutput } from '@tool-hub/runtime/limits'

// Policy, approvals and questions.
export {
  expandToolGroups,
  isToolAllowedByPolicy,
  normaliseName as normalizeToolName,
  TOOL_GROUPS,
  type ToolPolicy,
} from '@tool-hub/policy'
export type { Effect } from '@tool-hub/core'
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
} from '@tool-hub/core'
/** @deprecated Renamed to `ApprovalView`; removed in the next version. */
export type { ApprovalView as AskView } from '@tool-hub/core'
export type { Grant } from '@tool-hub/runtime/approvals'
export type {
  Approvals,
  ClearedTaint,
  ClearTaintOptions,
  Questions,
  ShadowDifference,
  ShadowExample,
  ShadowReport,
} from '@tool-hub/runtime/hub'

// The sandbox: commands, programs and their isolation.
export type { SandboxDescription } from '@tool-hub/sandbox/exec'
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
} from '@tool-hub/core'

// The web.
export type { SearchProvider } from '@tool-hub/runtime/tools'
export { createWebSearch } from '@tool-hub/runtime/tools'
export type { ReadablePage, SourceStore, WebFetch, WebFetchOptions, WebOptions } from '@tool-hub/core'

// Sources of tools.
export type { SourceHost, ToolSource } from '@tool-hub/core'

// The store.
export type { Store } from '@tool-hub/core'
