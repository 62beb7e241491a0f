import { join } from 'node:path'
import { type Fix, ToolError } from '../../core/index.ts'
import type { RecordedChange } from '../../records/undo/index.ts'
import type { FilesGuard } from '../../sandbox/files/index.ts'
import { Registry } from '../pipeline/registry.ts'
import { callTool } from '../pipeline.ts'
import type { HubRuntime, Runtime } from '../runtime.ts'
import { namesResult } from '../workspace.ts'
import { findChanges, type UndoWish } from './find-changes.ts'
import type { UndoneChange } from './undo-changes.ts'
import { createUndoTool } from './undo-tool.ts'

/** What is to be undone, and how. */
export interface UndoOptions extends UndoWish {
  /** Says what would happen and changes nothing. */
  readonly dryRun?: boolean
  /** Also where something was changed since; what is there then can be had back by undoing the undo. */
  readonly force?: boolean
  /** Who undoes; recorded. */
  readonly caller?: string
  /** Stops the undo between two changes when it aborts. */
  readonly signal?: AbortSignal
}

/** What an undo did. */
export interface UndoReport {
  /** Every change is taken back: none was refused, for none there was nothing to take it back with. */
  readonly ok: boolean
  /** Nothing was changed; the report says what would be. */
  readonly dryRun: boolean
  /** The run and the id of the undo itself, by which it can be undone; none when there was nothing to do. */
  readonly run?: string
  /** Id of the undo itself, which is a call like any other; absent when there was nothing to do. */
  readonly callId?: string
  /** The calls whose changes these are. */
  readonly calls: readonly { readonly run: string; readonly callId: string; readonly tool: string }[]
  /** Newest first. */
  readonly changes: readonly UndoneChange[]
}

/** More are judged when they are used. */
const MAX_TARGETS = 1_000

/** Takes back what a call or a run changed in files: a call like any other, with a record and a journal of its own. */
export async function undo(runtime: HubRuntime, options: UndoOptions): Promise<UndoReport> {
  const { runsFolder: root, run: defaultRun, sandboxOptions } = runtime
  if (root === false) throw new ToolError('NOT_FOUND', 'This hub keeps no records, so nothing can be undone.')
  const { call, run, caller, signal, force = false, dryRun = false } = options
  for (const id of new Set([defaultRun, run ?? defaultRun])) await runtime.rehearsal(id).records?.written()
  const found = await findChanges(root, { call, run })
  const first = found[0]
  if (!first) return { ok: true, dryRun, calls: [], changes: [] }
  // With a workspace for each run, only the run itself has its files; its results nobody else ever has.
  const isOwn = sandboxOptions.root === undefined || found.some((change) => isResult(change, root))
  const into = isOwn ? first.run : defaultRun
  const state = await runtime.openRun(into)
  const tool = createUndoTool({ root, recordsOf: async (id) => (await runtime.openRun(id)).records })
  const paths = targetsOf(found, state.sandbox.files())
  const isWholeRun = call === undefined && run !== undefined
  const input = { run: first.run, ...(!isWholeRun && { call: first.callId }), paths, force, dryRun }
  const result = await callTool(forOwner(runtime, tool), tool, input, { run: into, caller, signal })
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

/** A runtime with the undo tool alone, which is visible whatever the owner shows to agents. */
function forOwner(runtime: Runtime, tool: ReturnType<typeof createUndoTool>): Runtime {
  const registry = new Registry()
  registry.register(tool, 'owner')
  return { ...runtime, registry, sees: () => ({ visible: true }) }
}

function callsOf(changes: readonly RecordedChange[]): UndoReport['calls'] {
  const calls = new Map(changes.map(({ run, callId, tool }) => [callId, { run, callId, tool }]))
  return [...calls.values()]
}

/** What the undo may touch, for policy. What the guard would not let through is refused when its turn comes. */
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
