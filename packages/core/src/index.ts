export {
  type Artifact,
  type CallError,
  type Content,
  type ContentBlock,
  type Evidence,
  type Failure,
  isUserText,
  type Label,
  type ResultMeta,
  type Success,
  type ToolResult,
  type UserText,
} from './call.ts'
export type { CallOptions } from './call-options.ts'
export { CAPABILITIES, type CallerKind, type Capability, GUARDED } from './capability.ts'
export type { Change, FileState, Journal, KeptChange, PlaceForTree, SeenFiles } from './change.ts'
export type {
  CallFlags,
  CommandBuilder,
  CommandDescription,
  CommandFlags,
  CommandKit,
  CommandOption,
  FeatureCommand,
  JsonLine,
  SelectQuestion,
} from './command-kit.ts'
export {
  type CommandLine,
  type CommandOutput,
  type CommandRequest,
  type CommandState,
  type Commands,
  type CommandTarget,
  commandValue,
  type LogPage,
  type ProgramAccess,
  type ProgramEnd,
  type ProgramRequest,
  type RunningCommand,
  type RunningProgram,
  type SandboxLevel,
} from './commands.ts'
export {
  type ConfigDocument,
  configError,
  formatPath,
  formatPlace,
  type KeyPath,
  MAX_PROBLEMS,
  type Problem,
  sourceOf,
} from './config-document.ts'
export type { Answer, BaseContext, Context, Question, ReadContext, RunCache, TextChange } from './context.ts'
export { type Clock, systemClock } from './context.ts'
export {
  CALLER_ERRORS,
  ERRORS,
  type ErrorCode,
  type FailureStatus,
  type Fix,
  messageOf,
  ToolError,
  type ToolErrorOptions,
} from './errors.ts'
export type {
  ApprovalReply,
  ApprovalRequest,
  ApprovalView,
  CallEvent,
  QuestionRequest,
  RecentCall,
  ScriptPlace,
} from './events.ts'
export { callerGone, isCallerGone, resourceError, throwIfAborted, toolFailure } from './failures.ts'
export * from './feature.ts'
export {
  arrangementsOf,
  type DoctorFinding,
  defineConfig,
  defineFeature,
  defineFeatureRoute,
  type FeatureConfig,
  type FeatureDefinition,
  type FeatureRequest,
  type FeatureRoute,
  type FeatureRouteAnswer,
  type FeatureRoutes,
  type FeatureServer,
  FileAnswer,
  type RouteCaller,
  type RouteClientMethod,
  type RunDescription,
  type ServedFile,
  type StoredTools,
  type ToolAdjustment,
} from './feature-definition.ts'
export { FEATURE_TOOL_NAMES } from './feature-tools.generated.ts'
export { CAPABILITY_OF_FEATURE, FEATURE_CAPABILITIES, FEATURES } from './features.generated.ts'
export {
  type AgentTool,
  type AgentToolResult,
  type AgentToolUpdateCallback,
  type AnyAgentTool,
  fromAgentTool,
  type Governance,
} from './from-agent-tool.ts'
export type {
  CopyResult,
  Encoding,
  FetchOptions,
  FileBytes,
  FileChange,
  FileFacts,
  FilesLevel,
  FileText,
  FindOptions,
  FindResult,
  FoundLine,
  GuardedFetch,
  GuardedResponse,
  LinePage,
  ListEntry,
  Listing,
  ListOptions,
  NamedEntry,
  NameOptions,
  ReadablePage,
  ReadFiles,
  RemoveResult,
  SearchOptions,
  SearchResult,
  WriteFiles,
  WriteOptions,
  Written,
} from './handles.ts'
export {
  failAtRunTime,
  isOutOfResources,
  lazyModule,
  loadLazyModules,
  loadWithRoom,
  withFreeDescriptors,
} from './lazy-module.ts'
export type { Awaitable } from './lib/index.ts'
export {
  type BudgetLimits,
  type CommandLimits,
  DEFAULT_COMMAND_LIMITS,
  DEFAULT_LIMITS,
  type Limits,
  type Rate,
} from './limits.ts'
export type { HttpMcpServer, McpOAuth, McpServer, McpTrust, StdioMcpServer } from './mcp-server.ts'
export {
  assertRunId,
  assertToolName,
  didYouMean,
  groupOf,
  isRunId,
  nameFinder,
  nearestNames,
  SERVER_NAME,
  suggestNames,
  toWireName,
} from './names.ts'
export {
  type BucketOptions,
  type CoreToolsConfig,
  type DatabaseOptions,
  type Durability,
  type HubOptions,
  type QuestionReply,
  RECORDED_OUTPUTS,
  type RecordedOutputs,
  type RecordsOptions,
  type Secret,
  type WebOptions,
} from './options.ts'
export {
  asTool,
  type CallView,
  checkPluginKeys,
  definePlugin,
  type Effect,
  fromHandlerTool,
  type HandlerOutput,
  type HandlerTool,
  HOOK_NAMES,
  type Hooks,
  isHandlerTool,
  type Plugin,
  type PluginApi,
  type ResolvedTarget,
} from './plugin.ts'
export type {
  Constraints,
  Rule,
  RuleCondition,
  RuleSource,
  SkillRequest,
  SourcedRule,
  Visibility,
  WhereRange,
  WhereTest,
  WhereValue,
} from './principal.ts'
export { type Principal, rootsOf } from './principal.ts'
export { countsAsFailure, isDenial, isFailure } from './protocol/call-status.ts'
export {
  jsonResult,
  textOfBlock,
  toAgentContent,
  toAgentToolResult,
  toCoreResult,
  toExecutorResult,
  toSummaryResult,
  withNoticeLines,
  withoutNoticeLines,
} from './result-formats.ts'
export { CACHE_NAMES, type CommandSandbox, type Sandbox } from './sandbox-options.ts'
export { actionNeeds } from './schema/schema.ts'
export type {
  ClientAnswer,
  ClientCall,
  ClientToolDefinition,
  RefusedClientTool,
  SourceHost,
  SourceStore,
  ToolSource,
  WebFetch,
  WebFetchOptions,
} from './source.ts'
export * from './store/index.ts'
export {
  type AnyTool,
  type Dialect,
  DOUBT_DETAILS,
  defineTool,
  type ModelLimit,
  type Retry,
  type TargetFacts,
  type Targets,
  type Tool,
  type ToolInput,
  type ToolKind,
  type ToolOutput,
  withoutDoubtDetails,
} from './tool.ts'
export type { ToolArrangement, ToolCard, WireTool } from './tool-card.ts'
export { shownUrl, wrapUntrusted } from './web-content.ts'
export {
  assertPlace,
  describeWorkers,
  invalidPlace,
  joinPlaces,
  labelsOfCall,
  labelsOfPlace,
  PLACE_KEY,
  PLACE_KEYS,
  PLACE_PATTERN,
  placeOfLabels,
  sortedLabels,
} from './worker-labels.ts'
