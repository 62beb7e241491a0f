import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import {
  type Clock,
  type Durability,
  type HeadStore,
  isRunId,
  type ReadArtifact,
  type RunCache,
  type SeenFiles,
  ToolError,
} from '../core/index.ts'
import { type ArtifactReader, findArtifactOf, readArtifactOf } from '../records/artifacts/index.ts'
import { diskError, type RecordedLine, RunRecords } from '../records/log/index.ts'
import type { ProcessGuard } from '../sandbox/exec/index.ts'
import type { FilesGuard } from '../sandbox/files/index.ts'
import { createResponseCache, type ResponseCache } from '../sandbox/network/index.ts'
import { createRunCache, createSeenFiles } from '../store/index.ts'
import { descriptorLimit } from '../system/index.ts'
import { StartQueue } from './pipeline/record.ts'
import type { SandboxHandles } from './pipeline/targets.ts'
import { isMarkedTainted, NOBODY, ownerOf, RunMarks } from './run-marks.ts'
import type { RunSandbox } from './run-sandbox.ts'
import type { RunState } from './runtime.ts'
import { makeWorkspace, RESULTS_ALIAS } from './workspace.ts'

/** Whose a run is, and what it may touch. */
export interface RunOwner {
  readonly principal: string
  /** Its own folders, where it has some. */
  readonly doors?: RunSandbox
}

/** What the runs of one hub have in common. */
export interface RunsOptions {
  /** Folder of the records, `false` for none. */
  readonly folder: string | false
  readonly durability: Durability
  readonly clock: Clock
  readonly doors: RunSandbox
  /** Where the heads of their records are kept, if anywhere. */
  readonly heads?: HeadStore
  /** Hears of every line of their records. */
  readonly onAppend?: (line: RecordedLine) => void
}

const RESPONSE_BYTES = 8_000_000
const CACHE_LIMITS = { maxEntries: 1_000, maxBytes: 16_000_000, maxValueBytes: 1_000_000 }

/**
 * The open runs of a hub. When there are too many, the one that was idle for longest is closed; its next call opens it
 * again, with its record and its taint, and an empty cache.
 */
export class Runs {
  readonly #options: RunsOptions
  /** The one used last is last. */
  readonly #open = new Map<string, OpenRun>()
  readonly #closing = new Map<string, Promise<void>>()
  /** Those of principals with folders of their own. */
  readonly #otherDoors = new Set<RunSandbox>()
  readonly #idle: IdleRuns
  #takesMore = true

  constructor(options: RunsOptions) {
    this.#options = options
    this.#idle = new IdleRuns(options.clock, () => this.#open.values())
  }

  /**
   * The state of a run, opened when it is not: folder, lock, recovery. A promise only while it is being closed. Without
   * `owner` it is the hub's own owner who asks, and may open every run.
   */
  open(id: string, owner?: RunOwner): RunState | Promise<RunState> {
    const present = this.#open.get(id)
    if (present && !(present.isReleased && present.records?.isGone)) return this.#use(present, owner)
    // Somebody has removed its folder while nobody used it: it begins anew.
    if (present) void this.close(id).catch(() => {})
    if (!this.#takesMore) throw new ToolError('ABORTED', 'The hub is closed and takes no more calls.')
    const closing = this.#closing.get(id)
    if (closing) return closing.catch(() => {}).then(() => this.open(id, owner))
    if (this.#idle.isFull(this.#open.size)) this.#closeIdle()
    const run = new OpenRun(id, this.#options, owner)
    if (owner?.doors) this.#otherDoors.add(owner.doors)
    this.#open.set(id, run)
    this.#idle.add(run)
    return run
  }

  /** For questions such as `explain`: the run when it is open, else one that leaves no trace. */
  rehearsal(id: string, owner?: RunOwner): RunState {
    const present = this.#open.get(id)
    if (present && (owner === undefined || present.principal === owner.principal)) return present
    return new Rehearsal(id, owner?.doors ? { ...this.#options, doors: owner.doors } : this.#options)
  }

  /** What a run keeps under a reference; looking does not open it. FILE_TOO_LARGE, and nothing read, over `maxBytes`. */
  async readArtifact(
    id: string,
    ref: string,
    { owner, maxBytes = Number.POSITIVE_INFINITY }: ReadArtifact & { readonly owner?: RunOwner } = {},
  ): Promise<Uint8Array> {
    const folder = this.#folderFor(id, owner)
    const { bytes } = await findArtifactOf(folder, id, ref)
    if (bytes <= maxBytes) return readArtifactOf(folder, id, ref)
    throw new ToolError('FILE_TOO_LARGE', `${ref} has ${bytes} bytes, at most ${maxBytes} are taken here.`, {
      hint: 'Use less of it, or say where the whole is to be found.',
    })
  }

  /** The same, to be read piece by piece. */
  async findArtifact(id: string, ref: string, owner?: RunOwner): Promise<ArtifactReader> {
    return findArtifactOf(this.#folderFor(id, owner), id, ref)
  }

  /** Throws NOT_FOUND if the run is somebody else's. One that was never begun may be ended, and leaves no trace. */
  assertMayEnd(id: string, { principal }: RunOwner): void {
    const { folder } = this.#options
    const present = this.#open.get(id)
    const onDisk = () => (folder === false || !isRunId(id) ? NOBODY : ownerOf(folder, id))
    const known = present ? present.principal : onDisk()
    if (known !== NOBODY) assertOwner(id, known, principal)
  }

  isOpen(id: string): boolean {
    return this.#open.has(id)
  }

  /** Closes a run, unless a call came to it meanwhile. */
  async closeIdle(id: string): Promise<void> {
    if (this.#open.get(id)?.inFlight === 0) await this.close(id)
  }

  takeNoMore(): void {
    this.#takesMore = false
  }

  close(id: string): Promise<void> {
    const run = this.#open.get(id)
    if (!run) return this.#closing.get(id) ?? Promise.resolve()
    this.#open.delete(id)
    const closing = run.close().finally(() => this.#closing.delete(id))
    this.#closing.set(id, closing)
    return closing
  }

  async closeAll(): Promise<void> {
    this.#idle.stop()
    await Promise.all([...this.#open.keys()].map((id) => this.close(id)))
    await Promise.all(this.#closing.values())
    await Promise.all([this.#options.doors, ...this.#otherDoors].map((doors) => doors.close()))
  }

  /** Where the records are, for one who may look at this run. */
  #folderFor(id: string, owner: RunOwner | undefined): string {
    const { folder } = this.#options
    if (folder === false) throw new ToolError('NOT_FOUND', 'This hub keeps no records, so it has no artifacts.')
    const present = this.#open.get(id)
    if (owner) assertOwner(id, present ? present.principal : ownerOf(folder, id), owner.principal)
    return folder
  }

  #use(run: OpenRun, owner: RunOwner | undefined): RunState {
    if (owner) assertOwner(run.id, run.principal, owner.principal)
    if (this.#open.size > 1) {
      this.#open.delete(run.id)
      this.#open.set(run.id, run)
    }
    this.#idle.use(run)
    return run
  }

  #closeIdle(): void {
    for (const [id, run] of this.#open) {
      if (run.inFlight > 0) continue
      // Nobody waits for an idle run; a failure to close it is found by the recovery at its next opening.
      void this.close(id).catch(() => {})
      return
    }
  }
}

class OpenRun implements RunState, ReleasableRun {
  readonly id: string
  /** Whose it is; the hub's own owner's without. */
  readonly principal: string | undefined
  readonly records: RunRecords | undefined
  readonly cache: RunCache
  readonly starts: StartQueue
  readonly doors: SandboxHandles
  readonly seen: SeenFiles = createSeenFiles()
  readonly responses: ResponseCache
  inFlight = 0
  isActive = true
  isReleased = false
  readonly #marks: RunMarks | undefined
  #isTainted: boolean
  /** The first that did, in this process. */
  #taintedBy: string | undefined
  #isTaintedByMany = false
  readonly #taintListeners = new Set<() => void>()
  #files: FilesGuard | undefined
  #artifacts: FilesGuard | undefined
  #processes: ProcessGuard | undefined
  #commands: ProcessGuard | undefined

  constructor(id: string, options: RunsOptions, owner: RunOwner | undefined) {
    const { folder, durability, clock, onAppend, heads } = options
    const doors = owner?.doors ?? options.doors
    this.id = id
    const known = folder === false ? NOBODY : isRunId(id) ? ownerOf(folder, id) : undefined
    if (owner && known !== NOBODY) assertOwner(id, known, owner.principal)
    this.principal = owner?.principal ?? (known === NOBODY ? undefined : known)
    this.records =
      folder === false
        ? undefined
        : RunRecords.open(folder, id, { durability, clock, onAppend, heads, onProblem: warn })
    this.#marks = this.records && new RunMarks(this.records.folder)
    if (owner && known === NOBODY) this.#setOwner(owner.principal)
    this.cache = createRunCache({ ...CACHE_LIMITS, clock })
    this.starts = new StartQueue(clock)
    this.responses = createResponseCache({ maxBytes: RESPONSE_BYTES, clock })
    this.doors = {
      files: () => this.#openFiles(doors),
      artifacts: () => this.#openArtifacts(doors),
      network: () => doors.network(),
      process: () => {
        this.#commands = doors.sharedProcesses() ?? this.#ownProcesses(doors)
        return this.#commands
      },
      sandboxLevel: () => doors.sandboxLevel(),
    }
    this.#isTainted = this.#marks?.isTainted ?? false
  }

  get tainted(): boolean {
    return this.#isTainted
  }

  /** Once tainted, always: a mark in the run's folder tells the next process. */
  taint(callId: string): void {
    this.#taintedBy ??= callId
    if (callId !== this.#taintedBy) this.#isTaintedByMany = true
    const isNew = !this.#isTainted
    this.#isTainted = true
    this.#marks?.setTainted()
    if (isNew) for (const listener of [...this.#taintListeners]) listener()
  }

  onTaint(listener: () => void): () => void {
    this.#taintListeners.add(listener)
    return () => this.#taintListeners.delete(listener)
  }

  marked(): Promise<void> | undefined {
    return this.#marks?.synced()
  }

  taintedBeside(callId: string): boolean {
    return this.#isTainted && (this.#isTaintedByMany || this.#taintedBy !== callId)
  }

  /** A run that cannot say whose it is must not be used: it is released, and nobody's as before. */
  #setOwner(principal: string): void {
    try {
      this.#marks?.setOwner(principal)
    } catch (error) {
      // It has had no call; what is wrong with the disk is told by the mark.
      void this.records?.close().catch(() => {})
      throw diskError(`Run ${this.id} cannot be marked as that of ${principal}`, this.records!.folder, error)
    }
  }

  #openArtifacts(doors: RunSandbox): FilesGuard | undefined {
    if (this.records) this.#artifacts ??= doors.openArtifacts(join(this.records.folder, 'artifacts'))
    return this.#artifacts
  }

  #openFiles(doors: RunSandbox): FilesGuard {
    const { records } = this
    this.#files ??= doors.sharedFiles(records?.deliverables)
    if (this.#files) return this.#files
    const workspace = this.#workspace(doors)
    this.#files = doors.openFiles(workspace, records && { path: records.deliverables, alias: RESULTS_ALIAS })
    return this.#files
  }

  #ownProcesses(doors: RunSandbox): ProcessGuard {
    this.#processes ??= doors.openProcesses(this.#workspace(doors))
    return this.#processes
  }

  #workspace(doors: RunSandbox): string | undefined {
    const folder = doors.workspaceOf(this.id) ?? this.records?.workspace
    if (folder !== undefined) makeWorkspace(folder)
    return folder
  }

  release(): void {
    this.isReleased = true
    this.records?.release()
  }

  /** Commands end first: how is on record, too. */
  async close(): Promise<void> {
    await this.#commands?.endRun(this.id)
    await this.#processes?.close()
    this.#files?.close()
    this.#artifacts?.close()
    await this.records?.close()
  }
}

/** A run that is only talked about: nothing is written, and its workspace is empty. What it has read before counts. */
class Rehearsal implements RunState {
  readonly id: string
  readonly records = undefined
  readonly cache: RunCache
  readonly starts: StartQueue
  readonly doors: SandboxHandles
  readonly seen: SeenFiles = createSeenFiles()
  readonly responses: ResponseCache
  readonly tainted: boolean
  inFlight = 0

  constructor(id: string, { folder, clock, doors }: RunsOptions) {
    this.id = id
    this.cache = createRunCache({ ...CACHE_LIMITS, clock })
    this.starts = new StartQueue(clock)
    this.responses = createResponseCache({ maxBytes: RESPONSE_BYTES, clock })
    const workspace = doors.workspaceOf(id) ?? (folder === false ? undefined : join(folder, id, 'workspace'))
    const deliverables = folder === false ? undefined : join(folder, id, 'deliverables')
    this.tainted = folder !== false && isRunId(id) && isMarkedTainted(join(folder, id))
    this.doors = {
      files: () => doors.standInShared(deliverables) ?? doors.standIn(workspace, deliverables),
      artifacts: () => undefined,
      network: () => doors.network(),
      process: () => doors.sharedProcesses() ?? doors.standInProcesses(workspace),
      sandboxLevel: () => doors.sandboxLevel(),
    }
  }

  taint(): void {}

  onTaint(): () => void {
    return () => {}
  }

  marked(): undefined {}

  taintedBeside(): boolean {
    return this.tainted
  }
}

/** Says no more of another one's run than of one that does not exist. */
function assertOwner(id: string, known: string | undefined | typeof NOBODY, principal: string): void {
  if (known === principal) return
  throw new ToolError('NOT_FOUND', `There is no run ${JSON.stringify(id)} of ${principal}.`, {
    hint: 'Leave run out, or use a name that nobody else has used.',
  })
}

/** The disk refuses the record: calls with effects say so one by one, the owner hears it once. */
function warn({ message }: ToolError): void {
  process.emitWarning(message, { type: 'ToolHubWarning', code: 'RECORDS_UNAVAILABLE' })
}

/** A new run id: sorts by time, says when. */
export function newRunId(clock: Clock, kind = 'run'): string {
  const stamp = new Date(clock.now()).toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-')
  return `${kind}-${stamp}-${randomBytes(4).toString('hex')}`
}

/** A run that is open, whose records hold descriptors unless they are released. */
export interface ReleasableRun {
  readonly inFlight: number
  /** Used since the last check. */
  isActive: boolean
  isReleased: boolean
  /** Closes the descriptors of its records; the next event opens them again. */
  release(): void
}

/** A run is released after one to two of these without a call. */
const CHECK_MS = 30_000
/** So many runs may always be open, with their records. */
const MIN_HELD = 16
/** The records of all runs together take at most a quarter of the descriptors, their workspaces and deliverables an eighth. */
const FILES_OF_RECORDS = 3
const FOLDERS_OF_RUN = 2
const MAX_OPEN = 256

/** Releases the records of runs that are not in use: after about a minute, or sooner when too many are open. */
export class IdleRuns {
  readonly #clock: Clock
  /** The one used last is last. */
  readonly #runs: () => Iterable<ReleasableRun>
  readonly #descriptors: () => number
  #limits: { readonly held: number; readonly open: number } | undefined
  #cancel: (() => void) | undefined

  constructor(clock: Clock, runs: () => Iterable<ReleasableRun>, descriptors = descriptorLimit) {
    this.#clock = clock
    this.#runs = runs
    this.#descriptors = descriptors
  }

  /** Whether a hub that has so many runs open should close one before it opens another. */
  isFull(open: number): boolean {
    return open >= MIN_HELD && open >= this.#max.open
  }

  /** A run has been opened. */
  add(run: ReleasableRun): void {
    run.isActive = true
    run.isReleased = false
    this.#makeRoom(run)
    this.#cancel ??= this.#checkLater()
  }

  /** A call comes to a run that is open. */
  use(run: ReleasableRun): void {
    run.isActive = true
    if (run.isReleased) this.add(run)
  }

  stop(): void {
    this.#cancel?.()
    this.#cancel = undefined
  }

  #makeRoom(wanted: ReleasableRun): void {
    const held = [...this.#runs()].filter((run) => run !== wanted && !run.isReleased)
    if (held.length < MIN_HELD) return
    const tooMany = held.length + 1 - this.#max.held
    if (tooMany <= 0) return
    const idle = held.filter(({ inFlight }) => inFlight === 0)
    for (const run of idle.slice(0, tooMany)) run.release()
  }

  /** Looked at when there are many runs only: most hubs have one. */
  get #max() {
    const descriptors = this.#limits ? 0 : this.#descriptors()
    this.#limits ??= {
      held: Math.max(MIN_HELD, Math.floor(descriptors / (4 * FILES_OF_RECORDS))),
      open: Math.min(MAX_OPEN, Math.max(MIN_HELD, Math.floor(descriptors / (8 * FOLDERS_OF_RUN)))),
    }
    return this.#limits
  }

  #checkLater(): () => void {
    return this.#clock.after(CHECK_MS, () => this.#check(), { background: true })
  }

  #check(): void {
    this.#cancel = undefined
    let hasHeld = false
    for (const run of this.#runs()) {
      if (run.isReleased) continue
      if (!run.isActive && run.inFlight === 0) {
        run.release()
        continue
      }
      run.isActive = run.inFlight > 0
      hasHeld = true
    }
    if (hasHeld) this.#cancel = this.#checkLater()
  }
}
