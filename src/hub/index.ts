export { readTaint } from './clear-taint.ts'
export type { ClusterMember, RunPlace } from './cluster.ts'
export type { Explanation } from './explain.ts'
export { createHub, type Hub } from './hub.ts'
export type {
  Approvals,
  ClearedTaint,
  ClearTaintOptions,
  PrincipalHub,
  Questions,
  ToolRegistry,
  WorkerStates,
} from './hub-api.ts'
export { fromCoreToolsConfig, secretsOf } from './hub-options.ts'
export { policyLayers } from './hub-policy.ts'
export type { RegisteredTool } from './pipeline/registered-tool.ts'
export type { FoundTool } from './pipeline/registry.ts'
export { type RefusedTool, Registry } from './pipeline/registry.ts'
export { listTools, type ToolListing } from './pipeline/tool-catalog.ts'
export { protectedCode } from './protected-code.ts'
export { type PruneReport, pruneRun, pruneRuns, type Retention, removeRun, sizeOfFolder } from './prune-runs.ts'
export { isStoreLost, restoreKeys, storeIsLost } from './recovery.ts'
export { type RecordedCall, recordedCalls, runsBelow } from './run-index/read-records.ts'
export { RunIndexer } from './run-index/run-indexer.ts'
export type { RunMoment } from './run-index/run-moments.ts'
export { newRunId } from './runs.ts'
export { loadSecondParser, recoverCommands } from './second-parser.ts'
export {
  type RecordedShadow,
  type ShadowDifference,
  type ShadowExample,
  type ShadowReport,
  shadowFromRuns,
} from './shadow-policy.ts'
export { lazySource, turnedOffSource } from './sources.ts'
export { type SuggestOptions, type SuggestReport, suggestFromRuns } from './suggest.ts'
export { readMarks } from './undo/find-changes.ts'
export type { UndoOptions, UndoReport } from './undo/undo.ts'
export type { UndoneChange } from './undo/undo-changes.ts'
export type { RunningWorker, WorkerLogEntry, WorkerOptions } from './worker/worker.ts'
