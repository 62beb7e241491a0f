export type {
  Approval,
  ApprovalAnswer,
  ApprovalView,
  AuditReport,
  CallDetail,
  CallEntry,
  CallEvent,
  ClusterState,
  FileChange,
  GrantEntry,
  Health,
  Me,
  NewToken,
  PolicyExplanation,
  PolicyState,
  PolicySuggestions,
  PolicyTestReport,
  PrincipalEntry,
  Question,
  RecordLine,
  RunDetail,
  RunEntry,
  RunTaint,
  ServiceEvent,
  ShadowReportEntry,
  TokenEntry,
  ToolEntry,
  ToolResult,
  UndoAnswer,
} from '../../../src/client/index.ts'
export type { CanvasList } from '../../../src/features/canvas/schema.ts'
export type { Canvas as CanvasEntry, CanvasDetail as CanvasDetailEntry } from '../../../src/features/canvas/types.ts'
export type { ScriptResult } from '../../../src/features/code/types.ts'
export type {
  MemoryCandidate as MemoryCandidateEntry,
  MemoryNote as MemoryNoteEntry,
  MemoryScope,
} from '../../../src/features/memory/types.ts'
export type { InboxPage } from '../../../src/features/messages/schema.ts'
export type {
  ChannelFacts as ChannelEntry,
  InboxMessage as InboxMessageEntry,
} from '../../../src/features/messages/types.ts'
export type {
  NewSchedule as NewScheduleBody,
  Schedule as ScheduleEntry,
  ScheduleChange as ScheduleChangeBody,
  ScheduleRun as ScheduleRunEntry,
} from '../../../src/features/schedules/types.ts'
export type {
  HistoryPage as AgentHistory,
  SessionEntry as AgentEntry,
  SessionMessage as AgentMessage,
  SessionStatus as AgentStatus,
} from '../../../src/features/sessions/types.ts'
export type { PolicyRule } from '../../../src/protocol/policy.ts'
export type { Scope } from '../../../src/protocol/shapes.ts'
