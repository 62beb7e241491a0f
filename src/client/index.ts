export type { CallEvent, ToolResult } from '../result.ts'
export type { Approval, ApprovalAnswer, AskView, Question } from '../serve/api/asks.ts'
export type { CallDetail, CallEntry, CallRequest, RecordLine } from '../serve/api/calls.ts'
export type { PolicyExplanation, PolicyState, PolicyTestReport } from '../serve/api/policy.ts'
export type { PrincipalEntry } from '../serve/api/principals.ts'
export type { FileChange, RunDetail, RunEntry, UndoAnswer } from '../serve/api/runs.ts'
export type {
  AuditReport,
  GrantEntry,
  Health,
  Me,
  NewToken,
  ServiceEvent,
  TokenEntry,
} from '../serve/api/service.ts'
export type { ToolEntry } from '../serve/api/tools.ts'
export { ApiError } from './api-error.ts'
export type { ClientOptions, ConnectOptions, RemoteCallOptions, ToolMap, WebSocketClass } from './client-options.ts'
export { createClient } from './create-client.ts'
export type { FollowedEvent, FollowOptions } from './follow-events.ts'
export { HubClient } from './hub-client.ts'
export type { HubSocket } from './socket/hub-socket.ts'
export type { OwnTool, Registration } from './socket/socket-tools.ts'
