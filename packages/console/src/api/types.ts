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
} from '@tool-hub/client'
export type { ScriptResult } from '@tool-hub/code/types'
export type { PolicyRule } from '@tool-hub/core/protocol/policy'
export type { Scope } from '@tool-hub/core/protocol/shapes'
export type { CanvasList } from '@tool-hub/features/canvas/schema'
export type { Canvas as CanvasEntry, CanvasDetail as CanvasDetailEntry } from '@tool-hub/features/canvas/types'
export type {
  MemoryCandidate as MemoryCandidateEntry,
  MemoryNote as MemoryNoteEntry,
  MemoryScope,
} from '@tool-hub/features/memory/types'
export type { InboxPage } from '@tool-hub/features/messages/schema'
export type {
  ChannelFacts as ChannelEntry,
  InboxMessage as InboxMessageEntry,
} from '@tool-hub/features/messages/types'
export type {
  NewSchedule as NewScheduleBody,
  Schedule as ScheduleEntry,
  ScheduleChange as ScheduleChangeBody,
  ScheduleRun as ScheduleRunEntry,
} from '@tool-hub/features/schedules/types'
export type {
  HistoryPage as AgentHistory,
  SessionEntry as AgentEntry,
  SessionMessage as AgentMessage,
  SessionStatus as AgentStatus,
} from '@tool-hub/features/sessions/types'
