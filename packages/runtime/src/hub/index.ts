export type { ClearedTaint, ClearTaintOptions } from './clear-taint.ts'
export { readTaint } from './clear-taint.ts'
export type { HubLists } from './create-runtime.ts'
export type { Explanation } from './explain.ts'
export { createHub, type Hub } from './hub.ts'
export type { Approvals, PrincipalHub, Questions, ToolRegistry } from './hub-api.ts'
export { fromCoreToolsConfig, mergeSandbox, secretsOf } from './hub-options.ts'
export { policyLayers } from './hub-policy.ts'
export {
  type CallExecutor,
  type ConnectMachines,
  type ExecuteOptions,
  type MachineOptions,
  type Machines,
  ONE_MACHINE,
  reachablePlace,
} from './machines.ts'
export type { CallPlace } from './pipeline/call-parts.ts'
export type { RegisteredTool } from './pipeline/registered-tool.ts'
export type { FoundTool } from './pipeline/registry.ts'
export { type RefusedTool, Registry } from './pipeline/registry.ts'
export { listTools, type ToolListing } from './pipeline/tool-catalog.ts'
export { guestRuntime } from './principal-hub.ts'
export { protectedCode } from './protected-code.ts'
export { type PruneReport, pruneRun, pruneRuns, type Retention, removeRun, sizeOfFolder } from './prune-runs.ts'
export { isStoreLost, restoreKeys, storeIsLost } from './recovery.ts'
export { type RecordedCall, recordedCalls, runsBelow } from './run-index/read-records.ts'
export { RunIndexer } from './run-index/run-indexer.ts'
export type { RunMoment } from './run-index/run-moments.ts'
export type {
  OwnedRun,
  RecordSink,
  RunHold,
  RunOwner,
  RunOwnership,
  RunRemoval,
  RunRetention,
} from './run-ownership.ts'
export type { RunSandbox } from './run-sandbox.ts'
export type { RunLog, RunState, SandboxHandles } from './run-state.ts'
export { RunMemory } from './run-state.ts'
export { assertOwner, runOwner, TaintSources } from './run-taint.ts'
export { newRunId } from './runs.ts'
export type { HubRuntime, Runtime } from './runtime.ts'
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
