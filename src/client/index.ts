/** @deprecated Renamed to `ApprovalView`; removed in the next version. */
export type { ApprovalView, ApprovalView as AskView, CallEvent, ToolResult } from '../core/result.ts'
export type { Approval, ApprovalAnswer, Question } from '../protocol/approvals.ts'
export type { CallDetail, CallEntry, CallRequest, RecordLine } from '../protocol/calls.ts'
export type { PolicyExplanation, PolicyState, PolicyTestReport } from '../protocol/policy.ts'
export type { PrincipalEntry } from '../protocol/principals.ts'
export type { FileChange, RunDetail, RunEntry, UndoAnswer } from '../protocol/runs.ts'
export type {
  AuditReport,
  GrantEntry,
  Health,
  Me,
  NewToken,
  ServiceEvent,
  TokenEntry,
} from '../protocol/service.ts'
export type { ToolEntry } from '../protocol/tools.ts'
export { ApiError } from './api-error.ts'
export type { ClientOptions, ConnectOptions, RemoteCallOptions, ToolMap, WebSocketClass } from './client-options.ts'
export { createClient } from './create-client.ts'
export type { FollowedEvent, FollowOptions } from './follow-events.ts'
export { HubClient } from './hub-client.ts'
export type { HubSocket } from './socket/hub-socket.ts'
export type { OwnTool, Registration } from './socket/socket-tools.ts'
