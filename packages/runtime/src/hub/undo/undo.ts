import { join } from 'node:path'
import { type Fix, ToolError } from '@tool-hub/core'
import type { FilesGuard } from '@tool-hub/sandbox/files'
import type { RecordedChange } from '../../records/undo/index.ts'
import { createLimiters } from '../create-runtime.ts'
import { namesResult } from '../open-run.ts'
import { Registry } from '../pipeline/registry.ts'
import { ToolCatalog } from '../pipeline/tool-catalog.ts'
import { callTool } from '../pipeline.ts'
import type { HubRuntime, Runtime } from '../runtime.ts'
import { findChanges, type UndoSelection } from './find-changes.ts'
import type { UndoneChange } from './undo-changes.ts'
import { createUndoTool } from './undo-tool.ts'

/** Options of `hub.undo`. */
export interface UndoOptions extends UndoSelection {
  /**
   * Without `call` and `run`: the last call of any run in the folder of the records. Default: false, the last call of a run
   * that this hub has opened.
   */
  readonly anyRun?: boolean
  /** Only reports what would happen. Default: false. */
  readonly dryRun?: boolean
  /** Also undoes changes to files that were changed since; undoing the undo restores those files. Default: false. */
  readonly force?: boolean
  /** The caller that is recorded for the undo. */
  readonly caller?: string
  /** Stops the undo between two changes when it aborts. */
  readonly signal?: AbortSignal
}

/** The result of an undo. */
export interface UndoReport {
  /** Whether every change is undone: none was refused or impossible to undo. */
  readonly ok: boolean
  /** Whether this was a dry run, which changes nothing. */
  readonly dryRun: boolean
  /** The run of the undo itself; absent if there was nothing to do. */
  readonly run?: string
  /** The call id of the undo itself, by which it can be undone; absent if there was nothing to do. */
  readonly callId?: string
  /** The calls that made the changes. */
  readonly calls: readonly { readonly run: string; readonly callId: string; readonly tool: string }[]
  /** The outcome for each change, newest first. */
  readonly changes: readonly UndoneChange[]
}

/** The most paths that are passed to policy in advance; others are checked when they are used. */
const MAX_TARGETS = 1_000

/** Undoes the file changes of a call or a run. The undo is a call like any other, with its own record and journal. */
export async function undo(runtime: HubRuntime, options: UndoOptions): Promise<UndoReport> {
  const {
    runsFolder: root,
    identity: { run: defaultRun },
    sandboxOptions,
  } = runtime
  if (root === false) throw new ToolError('NOT_FOUND', 'This hub keeps no records, so nothing can be undone.')
  const { call, run, anyRun = false, caller, signal, force = false, dryRun = false } = options
  const own = runtime.runs.own
  for (const id of new Set([defaultRun, run ?? defaultRun])) await runtime.runs.rehearsal(id).records?.written()
  // Opening the run copies its record to this machine.
  if (runtime.machines.records.hasOthers && run !== undefined) await runtime.runs.open(run)
  const found = await findChanges(root, { call, run }, (id) => anyRun || id === defaultRun || own.has(id))
  const first = found[0]
  if (!first) return { ok: true, dryRun, calls: [], changes: [] }
  // With a workspace for each run, only the run itself can access its files, and always only the run its deliverables.
  const isOwn = sandboxOptions.root === undefined || found.some((change) => isResult(change, root))
  const into = isOwn ? first.run : defaultRun
  const isOfOther = !own.has(first.run)
  const state = await runtime.runs.open(into)
  const tool = createUndoTool({
    root,
    recordsOf: async (id) => (await runtime.runs.open(id)).records,
    hasOthers: runtime.machines.records.hasOthers,
  })
  const paths = targetsOf(found, state.sandbox.files())
  const isWholeRun = call === undefined && run !== undefined
  const input = { run: first.run, ...(!isWholeRun && { call: first.callId }), paths, force, dryRun }
  const result = await callTool(forOwner(runtime, tool), tool, input, { run: into, caller, signal })
  // To undo a change of another hub's run does not make that run one of this hub.
  if (isOfOther) own.delete(first.run)
  if (!result.ok) throw failure(result.error)
  const changes = result.data as UndoneChange[]
  return {
    ok: changes.every(({ action }) => action !== 'refused' && action !== 'not undoable'),
    dryRun,
    run: into,
    callId: result.callId,
    calls: callsOf(found),
    changes,
  }
}

/**
 * Returns a runtime with only the undo tool, which is visible whatever the owner shows to agents. The limits are for agents:
 * a run that has used its budget must be one that the owner can still undo.
 */
function forOwner(runtime: Runtime, tool: ReturnType<typeof createUndoTool>): Runtime {
  const registry = new Registry()
  registry.register(tool, 'owner')
  const limits = createLimiters({}, runtime.store, runtime.clock)
  return { ...runtime, registry, limits, catalog: new ToolCatalog(registry, () => ({ visible: true })) }
}

function callsOf(changes: readonly RecordedChange[]): UndoReport['calls'] {
  const calls = new Map(changes.map(({ run, callId, tool }) => [callId, { run, callId, tool }]))
  return [...calls.values()]
}

/** Returns the targets of the undo for policy. Paths that the guard does not permit are refused when they are used. */
function targetsOf(changes: readonly RecordedChange[], files: FilesGuard): string[] {
  const paths = changes.flatMap(({ change }) => (change.op === 'move' ? [change.path, change.to] : [change.path]))
  return [...new Set(paths)].filter((path) => isAdmitted(path, files)).slice(0, MAX_TARGETS)
}

function isResult({ run, change }: RecordedChange, runs: string): boolean {
  return namesResult(change.path, runs, join(runs, run, 'deliverables'))
}

function isAdmitted(path: string, files: FilesGuard): boolean {
  try {
    files.resolve(path, 'write')
    return true
  } catch {
    return false
  }
}

function failure({
  code,
  message,
  fix,
  retryable,
}: {
  code: ToolError['code']
  message: string
  fix: Fix
  retryable: boolean
}) {
  return new ToolError(code, message, { fix, retryable })
}
