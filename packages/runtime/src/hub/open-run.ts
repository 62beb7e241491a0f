import { realpathSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type Clock, type Durability, type HeadStore, isRunId, ToolError } from '@tool-hub/core'
import { isWithin } from '@tool-hub/core/lib'
import type { ProcessGuard } from '@tool-hub/sandbox/exec'
import type { FilesGuard } from '@tool-hub/sandbox/files'
import { type RecordedLine, RunRecords, readTaintSync } from '../records/log/index.ts'
import {
  OWN_RUN,
  type OwnedRun,
  type RecordSink,
  type RunHold,
  type RunOwner,
  type RunOwnership,
} from './run-ownership.ts'
import type { RunSandbox } from './run-sandbox.ts'
import { RunMemory, type RunState, type SandboxHandles } from './run-state.ts'
import { assertOwner, KeptTaint, runOwner, TaintSources } from './run-taint.ts'

/** Options that all runs of a hub share. */
export interface RunsOptions {
  /** Folder of the records, `false` for none. */
  readonly folder: string | false
  readonly durability: Durability
  readonly clock: Clock
  readonly sandbox: RunSandbox
  /** The store for the heads of the records. Default: none. */
  readonly heads?: HeadStore
  /** Removes secrets from the names of what tainted a run. */
  readonly redact: (text: string) => string
  /** Who may have the runs besides this process. */
  readonly machines: { readonly ownership: RunOwnership; readonly records: RecordSink }
}

/** Options of one run. */
interface OpenRunOptions extends RunsOptions {
  /** Called for every line that is appended to the record. */
  readonly onAppend: (line: RecordedLine) => void
  /** `undefined` if every run is this process's. */
  readonly owned: OwnedRun | undefined
}

/** An open run with its records and guards, which are opened on first use. */
export class OpenRun extends RunMemory implements RunState {
  readonly id: string
  /** Name of the principal that owns the run; `undefined` for the owner of the hub. */
  readonly principal: string | undefined
  /** By what this process has the run, if other machines may take it. */
  readonly owned: OwnedRun | undefined
  readonly hold: RunHold
  readonly records: RunRecords | undefined
  readonly sandbox: SandboxHandles
  isActive = true
  isReleased = false
  readonly keptTaint: KeptTaint | undefined
  #sources: TaintSources
  /** The sources since `clearTaint` was called, until it is done. */
  #newSources: TaintSources | undefined
  readonly #redact: (text: string) => string
  #wasCleared = false
  #files: FilesGuard | undefined
  #artifacts: FilesGuard | undefined
  #processes: ProcessGuard | undefined
  #commands: ProcessGuard | undefined

  constructor(id: string, options: OpenRunOptions, owner: RunOwner | undefined) {
    const { folder, durability, clock, onAppend, heads, redact, owned } = options
    super(clock)
    const sandbox = owner?.sandbox ?? options.sandbox
    this.id = id
    const known = folder === false ? undefined : runOwner(folder, id)
    if (owner && known) assertOwner(id, known.principal, owner.principal)
    const principal = owner?.principal ?? known?.principal ?? owned?.state.principal
    this.principal = principal
    this.owned = owned
    this.hold = owned?.hold ?? OWN_RUN
    const recording = { durability, clock, onAppend, heads, principal, onProblem: warn, ...owned?.records }
    this.records = folder === false ? undefined : RunRecords.open(folder, id, recording)
    const isNewlyOwned = owner !== undefined && !known
    const shared = owned && { known: owned.state.taintedBy, kept: owned.taint }
    this.keptTaint = this.records && new KeptTaint(this.records, { isNewlyOwned, shared })
    this.sandbox = {
      files: () => this.#files ?? this.#openFiles(sandbox),
      artifacts: () => this.#openArtifacts(sandbox),
      network: () => sandbox.network(),
      process: () => {
        this.#commands = sandbox.sharedProcesses() ?? this.#ownProcesses(sandbox)
        return this.#commands
      },
      sandboxLevel: () => sandbox.sandboxLevel(),
    }
    const { sources, wasCleared } = this.records?.taint ?? { sources: [], wasCleared: false }
    this.tainted = sources.length > 0
    this.#wasCleared = wasCleared || (owned?.state.wasCleared ?? false)
    this.#redact = redact
    this.#sources = new TaintSources(redact, sources)
  }

  get taintedBy(): readonly string[] {
    return this.#sources.list
  }

  get hasOutsideArtifacts(): boolean {
    return this.tainted || this.#wasCleared
  }

  /** Taints the run until `clearTaint`; its record keeps the taint for later processes. */
  taint(callId: string | undefined, source: string): void {
    const isChanged = this.#sources.add(source)
    const since = this.#newSources
    const isNewSince = since?.add(source)
    const isNew = this.markTainted(callId)
    // While the taint is being cleared, only what came since counts afterwards.
    if (since) this.keptTaint?.set(since.list, { isChanged: isNewSince === true })
    else this.keptTaint?.set(this.#sources.list, { isChanged })
    if (isNew) this.emitTaint()
  }

  /**
   * Clears the taint, on record first: a process that is killed in between leaves the run tainted. Content that is read
   * meanwhile taints it again, as it does later. Returns what had tainted the run.
   */
  async clearTaint(clearing: { readonly by: string; readonly reason: string }): Promise<readonly string[]> {
    if (this.#newSources) throw new ToolError('CONFLICT', `Somebody else is clearing the taint of run ${this.id}.`)
    const sources = this.taintedBy
    const since = new TaintSources(this.#redact)
    this.#newSources = since
    this.inFlight++
    try {
      await this.keptTaint?.clear({ ...clearing, sources }, () => since.list)
      if (since.list.length === 0) this.untaint()
      this.#sources = since
      this.#wasCleared = true
    } finally {
      this.#newSources = undefined
      this.inFlight--
    }
    return sources
  }

  #openArtifacts(sandbox: RunSandbox): FilesGuard | undefined {
    if (this.records) this.#artifacts ??= sandbox.openArtifacts(join(this.records.folder, 'artifacts'))
    return this.#artifacts
  }

  #openFiles(sandbox: RunSandbox): FilesGuard {
    const { records } = this
    this.#files ??= sandbox.sharedFiles(records?.deliverables)
    if (this.#files) return this.#files
    const workspace = sandbox.makeWorkspace(this.id, records?.workspace)
    this.#files = sandbox.openFiles(workspace, records && { path: records.deliverables, alias: RESULTS_ALIAS })
    return this.#files
  }

  #ownProcesses(sandbox: RunSandbox): ProcessGuard {
    this.#processes ??= sandbox.openProcesses(sandbox.makeWorkspace(this.id, this.records?.workspace))
    return this.#processes
  }

  release(): void {
    this.isReleased = true
    this.records?.release()
  }

  /** Ends the commands first, so that their ends are recorded too. */
  async close(): Promise<void> {
    await this.#endWork()
    await this.records?.close()
  }

  /** Closes a run that another process has taken over. */
  async abandon(): Promise<void> {
    await this.#endWork()
    await this.records?.abandon()
  }

  async #endWork(): Promise<void> {
    await this.#commands?.endRun(this.id)
    await this.#processes?.close()
    this.#files?.close()
    this.#artifacts?.close()
  }
}

/** A run for questions such as `explain`: nothing is written and its workspace is empty. An existing taint counts. */
export class Rehearsal extends RunMemory implements RunState {
  readonly id: string
  readonly records = undefined
  readonly sandbox: SandboxHandles
  readonly taintedBy: readonly string[]
  readonly hold = OWN_RUN
  readonly keptTaint = undefined

  constructor(id: string, { folder, clock, sandbox }: RunsOptions) {
    super(clock)
    this.id = id
    const workspace = sandbox.workspaceOf(id) ?? (folder === false ? undefined : join(folder, id, 'workspace'))
    const deliverables = folder === false ? undefined : join(folder, id, 'deliverables')
    this.taintedBy = folder !== false && isRunId(id) ? readTaintSync(join(folder, id)).sources : []
    this.tainted = this.taintedBy.length > 0
    this.sandbox = {
      files: () => sandbox.standInShared(deliverables) ?? sandbox.standIn(workspace, deliverables),
      artifacts: () => undefined,
      network: () => sandbox.network(),
      process: () => sandbox.sharedProcesses() ?? sandbox.standInProcesses(workspace),
      sandboxLevel: () => sandbox.sandboxLevel(),
    }
  }

  get hasOutsideArtifacts(): boolean {
    return this.tainted
  }

  taint(): void {}
}

/** Warns the owner once that records cannot be written. Each call with side effects reports it too. */
function warn({ message }: ToolError): void {
  process.emitWarning(message, { type: 'ToolHubWarning', code: 'RECORDS_UNAVAILABLE' })
}

/** Options for a run that shares a root with other runs and has its own deliverables. */
interface ResultFilesOptions {
  /** The files guard of the shared root. */
  readonly shared: FilesGuard
  /** The shared root, to which relative paths are relative. */
  readonly root: string
  /** The folder `deliverables` of the run. */
  readonly deliverables: string
  /** Opens a guard for the shared root and the deliverables. */
  readonly open: () => FilesGuard
}

/** The relative path of the deliverables for a run with its own workspace: the folder next to the workspace. */
export const RESULTS_ALIAS = '../deliverables'

/**
 * Returns the files guard of a run that shares a root with others. The first path in `deliverables` opens a guard that also
 * includes that folder; most runs never use one and open nothing of their own.
 */
export function withResults({ shared, root, deliverables, open }: ResultFilesOptions): FilesGuard {
  let own: FilesGuard | undefined
  const guardOf = (path: string): FilesGuard => {
    if (!own && namesResult(path, root, deliverables)) own = open()
    return own ?? shared
  }
  return {
    resolve(path, ...how) {
      try {
        // Compares text first, because everything else costs as much as the rest of a small call.
        return (path.includes('deliverables') ? guardOf(path) : (own ?? shared)).resolve(path, ...how)
      } catch (error) {
        throw namePlace(error, path, deliverables)
      }
    },
    present: (path) => guardOf(path).present(path),
    runsLater: (path, change) => shared.runsLater(path, change),
    handle: (call) => (own ?? shared).handle(call),
    close: () => own?.close(),
  }
}

/** Returns whether the text of a path leads into the deliverables folder. */
export function namesResult(path: string, root: string, deliverables: string): boolean {
  if (!path.includes('deliverables')) return false
  const named = resolve(root, path)
  return isWithin(deliverables, named) || isWithin(realFolder(deliverables), named)
}

function realFolder(path: string): string {
  try {
    return realpathSync.native(path)
  } catch {
    // The folder does not exist, so no path leads into it.
    return path
  }
}

/** Throws for `../deliverables`, which is outside the shared root, and names the correct folder. */
function namePlace(error: unknown, path: string, deliverables: string): unknown {
  if (!ToolError.is(error) || error.code !== 'PATH_OUTSIDE_SANDBOX' || !isWithin(RESULTS_ALIAS, path)) return error
  const hint = `${error.fix.hint} Results of this run belong below ${deliverables}.`
  return new ToolError(error.code, error.message, { hint, details: error.details, cause: error })
}
