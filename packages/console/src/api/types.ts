import type { HubClient } from '@tool-hub/client'

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
  ScriptResult,
  ServiceEvent,
  ShadowReportEntry,
  TokenEntry,
  ToolEntry,
  ToolResult,
  UndoAnswer,
} from '@tool-hub/client'
export type { Scope } from '@tool-hub/core/protocol'

/** What a method of the client returns. */
type Answer<Method extends (...parameters: never[]) => Promise<unknown>> = Awaited<ReturnType<Method>>

export type PolicyRule = Answer<HubClient['policy']['get']>['rules'][number]

export type CanvasList = Answer<HubClient['canvases']['list']>
export type CanvasEntry = CanvasList['canvases'][number]
export type CanvasDetailEntry = Answer<HubClient['canvases']['get']>

export type MemoryNoteEntry = Answer<HubClient['memory']['notes']>['notes'][number]
export type MemoryCandidateEntry = Answer<HubClient['memory']['candidates']>['candidates'][number]
export type MemoryScope = MemoryNoteEntry['scope']

export type InboxPage = Answer<HubClient['inbox']['list']>
export type InboxMessageEntry = InboxPage['messages'][number]
export type ChannelEntry = Answer<HubClient['inbox']['channels']>[number]

export type ScheduleEntry = Answer<HubClient['schedules']['add']>
export type NewScheduleBody = Parameters<HubClient['schedules']['add']>[0]
export type ScheduleChangeBody = NonNullable<Parameters<HubClient['schedules']['change']>[1]>
export type ScheduleRunEntry = Answer<HubClient['schedules']['run']>

export type AgentEntry = Answer<HubClient['agents']['list']>['agents'][number]
export type AgentStatus = Answer<HubClient['agents']['get']>
export type AgentHistory = Answer<HubClient['agents']['history']>
