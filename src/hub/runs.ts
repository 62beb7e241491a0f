import { randomBytes } from 'node:crypto'
import { type Clock, isRunId, type ReadArtifact, ToolError } from '../core/index.ts'
import { type ArtifactReader, findArtifactOf, readArtifactOf } from '../records/artifacts/index.ts'
import { descriptorLimit } from '../system/index.ts'
import type { RunSandbox } from './run-sandbox.ts'
import { assertOwner, OpenRun, Rehearsal, type RunOwner, type RunsOptions, runOwner } from './run-state.ts'
import type { RunState } from './runtime.ts'

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
  readonly #otherSandboxes = new Set<RunSandbox>()
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
    if (owner?.sandbox) this.#otherSandboxes.add(owner.sandbox)
    this.#open.set(id, run)
    this.#idle.add(run)
    return run
  }

  /** For questions such as `explain`: the run when it is open, else one that leaves no trace. */
  rehearsal(id: string, owner?: RunOwner): RunState {
    const present = this.#open.get(id)
    if (present && (owner === undefined || present.principal === owner.principal)) return present
    return new Rehearsal(id, owner?.sandbox ? { ...this.#options, sandbox: owner.sandbox } : this.#options)
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
    const known = present ?? (folder === false || !isRunId(id) ? undefined : runOwner(folder, id))
    if (known) assertOwner(id, known.principal, principal)
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
    await Promise.all([this.#options.sandbox, ...this.#otherSandboxes].map((sandbox) => sandbox.close()))
  }

  /** Where the records are, for one who may look at this run. */
  #folderFor(id: string, owner: RunOwner | undefined): string {
    const { folder } = this.#options
    if (folder === false) throw new ToolError('NOT_FOUND', 'This hub keeps no records, so it has no artifacts.')
    const present = this.#open.get(id)
    if (owner) assertOwner(id, (present ?? runOwner(folder, id))?.principal, owner.principal)
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
