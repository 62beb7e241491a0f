export type {
  Approval,
  ApprovalAnswer,
  AskView,
  AuditReport,
  CallDetail,
  CallEntry,
  CallEvent,
  FileChange,
  GrantEntry,
  Health,
  Me,
  NewToken,
  PolicyExplanation,
  PolicyState,
  PolicyTestReport,
  PrincipalEntry,
  Question,
  RecordLine,
  RunDetail,
  RunEntry,
  ServiceEvent,
  TokenEntry,
  ToolEntry,
  ToolResult,
  UndoAnswer,
} from '../../../src/client/index.ts'
export type { MemoryScope } from '../../../src/contracts/memory.ts'
export type { AgentEntry, AgentHistory, AgentMessage, AgentStatus } from '../../../src/serve/api/agents.ts'
export type { CanvasDetail, CanvasEntry, CanvasList } from '../../../src/serve/api/canvases.ts'
export type { ChannelEntry, InboxMessage, InboxPage } from '../../../src/serve/api/inbox.ts'
export type { MemoryCandidateEntry, MemoryNoteEntry } from '../../../src/serve/api/memory.ts'
export type { PolicyRule } from '../../../src/serve/api/policy.ts'
export type {
  NewScheduleBody,
  ScheduleChangeBody,
  ScheduleEntry,
  ScheduleRunEntry,
} from '../../../src/serve/api/schedules.ts'
export type { Scope } from '../../../src/serve/api/shapes.ts'
