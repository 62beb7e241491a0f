export type {
  ApprovalView,
  /** @deprecated Renamed to `ApprovalView`; removed in the next version. */
  ApprovalView as AskView,
  CallEvent,
  ToolResult,
} from '../core/index.ts'
export type {
  Approval,
  ApprovalAnswer,
  AuditReport,
  CallDetail,
  CallEntry,
  CallRequest,
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
  UndoAnswer,
} from '../protocol/index.ts'
export { ApiError } from './api-error.ts'
export type { ClientOptions, ConnectOptions, RemoteCallOptions, ToolMap, WebSocketClass } from './client-options.ts'
export { createClient, type FollowedEvent, type FollowOptions, HubClient } from './create-client.ts'
export type { HubSocket } from './socket/hub-socket.ts'
export type { OwnTool, Registration } from './socket/socket-tools.ts'
