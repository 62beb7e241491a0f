export { checkRecords, diskError } from './disk-error.ts'
export { bodyOf, type ChainLink, FIRST_PREV, inspectLine, type LineFacts, MAX_ARGS_CHARS } from './event-line.ts'
export type {
  ApprovalAnswered,
  ApprovalRequested,
  CallEnded,
  CallFacts,
  CallInterrupted,
  CallOutput,
  CallStarted,
  EventBody,
  ProcessEnded,
  RecordEvent,
  ShadowDiffered,
} from './events.ts'
export { peekHead, type RecordedTaint, readHead, readHeadSync } from './head.ts'
export { type Line, LineReader, readLinesSync } from './lines.ts'
export { listRuns, lookAtRuns, type RunInfo, runNames } from './list-runs.ts'
export { makeFolders } from './open-run.ts'
export {
  eventLines,
  pageOfCalls,
  parseEvent,
  pastCalls,
  type RecordSource,
  readEvents,
  tailEvents,
} from './read-events.ts'
export { type AuditFinding, AuditFindings, ChainCheck, type KnownHead } from './record-check.ts'
export { openArchives } from './run-archives.ts'
export type { HubChanged, RunOpened, TaintCleared, UserTextAdded } from './run-events.ts'
export {
  MAX_SOURCE_CHARS,
  MAX_TAINT_SOURCES,
  type RecordedOwner,
  readOwnerSync,
  readTaintSync,
} from './run-facts.ts'
export { type RecordedLine, RunRecords, type RunRecordsOptions } from './run-records.ts'
export {
  type RecordShipment,
  type SharedFile,
  type SharedFiles,
  type ShippedFile,
  type ShippedRecord,
  UnsharedEnd,
} from './shipment.ts'
export { type FirstLines, FolderCheck } from './verify-folder.ts'
export { type VerifyReport, verifyRun } from './verify-run.ts'
