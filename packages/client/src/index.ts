export type { ScriptResult } from '@tool-hub/code/types'
export type {
  ApprovalView,
  /** @deprecated Renamed to `ApprovalView`; removed in the next version. */
  ApprovalView as AskView,
  CallEvent,
  ToolResult,
} from '@tool-hub/core'
export type {
  Approval,
  ApprovalAnswer,
  AuditReport,
  CallBody as CallRequest,
  CallDetail,
  CallEntry,
  ClusterState,
  FileChangeEntry as FileChange,
  GrantEntry,
  Health,
  Me,
  NewToken,
  PolicyExplanation,
  PolicyState,
  PolicySuggestions,
  PolicyTestReport,
  PrincipalEntry,
  QuestionEntry as Question,
  RecordLine,
  RunDetail,
  RunEntry,
  RunLaterList,
  RunTaint,
  ServiceEvent,
  ShadowReportEntry,
  TokenEntry,
  TokenOverlap,
  ToolEntry,
  UndoAnswer,
} from '@tool-hub/core/protocol'
export type { ClientOptions, ConnectOptions, RemoteCallOptions, ToolMap, WebSocketClass } from './client-options.ts'
export { createClient, type FollowedEvent, type FollowOptions, HubClient } from './create-client.ts'
export { ApiError } from './http-requests.ts'
export type { HubSocket } from './socket/hub-socket.ts'
export type { OwnTool, Registration } from './socket/socket-tools.ts'
