export { checkRecords, diskError } from './disk-error.ts'
export { MAX_ARGS_CHARS } from './event-line.ts'
export type {
  ApprovalAnswered,
  ApprovalRequested,
  CallEnded,
  CallFacts,
  CallInterrupted,
  CallStarted,
  EventBody,
  ProcessEnded,
  RecordEvent,
  ShadowDiffered,
} from './events.ts'
export { peekHead, type RecordedTaint, readHead } from './head.ts'
export { type Line, readLinesSync } from './lines.ts'
export { listRuns, lookAtRuns, type RunInfo, runNames } from './list-runs.ts'
export { eventLines, parseEvent, pastCalls, readEvents, tailEvents } from './read-events.ts'
export type { AuditFinding } from './record-check.ts'
export { openArchives } from './run-archives.ts'
export type { HubChanged, TaintCleared } from './run-events.ts'
export {
  MAX_SOURCE_CHARS,
  MAX_TAINT_SOURCES,
  type RecordedOwner,
  readOwnerSync,
  readTaintSync,
} from './run-facts.ts'
export { type RecordedLine, RunRecords, type RunRecordsOptions } from './run-records.ts'
export { type FirstLines, FolderCheck } from './verify-folder.ts'
export { type VerifyReport, verifyRun } from './verify-run.ts'
