export { checkRecords } from './check-records.ts'
export { diskError } from './disk-error.ts'
export { MAX_ARGS_CHARS } from './encode-event.ts'
export type {
  ApprovalAnswered,
  ApprovalRequested,
  CallEnded,
  CallFacts,
  CallInterrupted,
  CallStarted,
  EventBody,
  HubChanged,
  ProcessEnded,
  RecordEvent,
} from './events.ts'
export type { AuditFinding } from './findings.ts'
export { readHead } from './head.ts'
export { type Line, readLinesSync } from './lines.ts'
export { listRuns, type RunInfo } from './list-runs.ts'
export { pastCalls } from './past-calls.ts'
export { eventLines, parseEvent, readEvents } from './read-events.ts'
export { type RecordedLine, RunRecords } from './run-records.ts'
export { tailEvents } from './tail-events.ts'
export { type FirstLines, FolderCheck } from './verify-folder.ts'
export { type VerifyReport, verifyRun } from './verify-run.ts'
