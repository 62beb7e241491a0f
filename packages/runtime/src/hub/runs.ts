import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Awaitable, type Clock, isRunId, type ReadArtifact, ToolError } from '@tool-hub/core'
import { after } from '@tool-hub/core/lib'
import { type ArtifactReader, findArtifactOf } from '../records/artifacts.ts'
import type { RecordedLine } from '../records/log/index.ts'
import { IdleRuns } from './idle-runs.ts'
import { OpenRun, Rehearsal, type RunsOptions } from './open-run.ts'
import type { OwnedRun, RunOwner } from './run-ownership.ts'
import type { RunSandbox } from './run-sandbox.ts'
import type { RunState } from './run-state.ts'
import { assertOwner, notOwned, runOwner } from './run-taint.ts'

/** The most runs that are remembered as opened here. */
const MAX_OWN = 10_000

/**
 * The open runs of a hub. If there are too many, the one that has been idle longest is closed; its next call opens it again,
 * with its record, its taint and an empty cache.
 */
export class Runs {
  /** Called for every line that is appended to a record. */
  readonly recordListeners = new Set<(line: RecordedLine) => void>()
  /** The runs that were opened here, also those that were closed since; at most the last `MAX_OWN`. */
  readonly own = new Set<string>()
  readonly #options: RunsOptions
  /** In order of last use. */
  readonly #open = new Map<string, OpenRun>()
  readonly #closing = new Map<string, Promise<void>>()
  /** The sandboxes of principals with their own folders. */
  readonly #otherSandboxes = new Set<RunSandbox>()
  readonly #idle: IdleRuns
  /** What has tainted runs that were closed because they were idle, if no record contains it. */
  readonly #unrecorded = new Map<string, readonly string[]>()
  #takesMore = true
  readonly #onAppend = (line: RecordedLine): void => {
    for (const listener of this.recordListeners) listener(line)
  }

  constructor(options: RunsOptions) {
    this.#options = options
    this.#idle = new IdleRuns(options.clock, () => this.#open.values())
  }

  /**
   * Returns an open run; opens it first if necessary (folder, lock, recovery). Returns a promise only while the run is being
   * closed, and while it is taken from other machines. Without `owner`, the caller is the owner of the hub, who may open every run.
   */
  open(id: string, owner?: RunOwner): RunState | Promise<RunState> {
    const present = this.#open.get(id)
    if (!present || (present.isReleased && present.records?.isGone)) return this.#openAgain(id, owner)
    if (owner && owner.principal !== present.principal) throw notOwned(id, owner.principal)
    present.hold.assertHeld?.()
    if (this.#open.size > 1) {
      this.#open.delete(id)
      this.#open.set(id, present)
    }
    present.isActive = true
    if (present.isReleased) this.#idle.add(present)
    return present
  }

  #openAgain(id: string, owner: RunOwner | undefined): RunState | Promise<RunState> {
    // The folder was removed while the run was idle: the run starts again.
    if (this.#open.has(id)) void this.close(id).catch(() => {})
    if (!this.#takesMore) throw new ToolError('ABORTED', 'The hub is closed and takes no more calls.')
    const closing = this.#closing.get(id)
    if (closing) return closing.catch(() => {}).then(() => this.open(id, owner))
    const taking = this.#take(id, owner)
    return taking ? this.#openTaken(id, owner, taking) : this.#add(id, owner, undefined)
  }

  /** Takes a run that processes on other machines could have, too. */
  #take(id: string, owner: RunOwner | undefined): Promise<OwnedRun> | undefined {
    return this.#options.machines.ownership.open(id, owner)
  }

  /** Opens a run when it is taken; other calls of the run wait meanwhile. */
  #openTaken(id: string, owner: RunOwner | undefined, taking: Promise<OwnedRun>): Promise<RunState> {
    const opening = taking.then(async (owned) => {
      try {
        if (!this.#takesMore) throw new ToolError('ABORTED', 'The hub is closed and takes no more calls.')
        return this.#add(id, owner, owned)
      } catch (error) {
        await owned.giveUp()
        throw error
      }
    })
    this.#waitFor(id, opening)
    return opening
  }

  #add(id: string, owner: RunOwner | undefined, owned: OwnedRun | undefined): RunState {
    if (this.#idle.isFull(this.#open.size)) this.#closeIdle()
    const run = new OpenRun(id, { ...this.#options, onAppend: this.#onAppend, owned }, owner)
    if (owner?.sandbox) this.#otherSandboxes.add(owner.sandbox)
    for (const source of this.#unrecorded.get(id) ?? []) run.taint(undefined, source)
    this.#unrecorded.delete(id)
    this.#open.set(id, run)
    this.#remember(id)
    this.#idle.add(run)
    return run
  }

  #remember(id: string): void {
    this.own.delete(id)
    this.own.add(id)
    if (this.own.size <= MAX_OWN) return
    const [oldest = id] = this.own
    this.own.delete(oldest)
  }

  /**
   * Changes a run that has started. A run that is not open is opened for the change alone, and calls wait meanwhile: they
   * may need another sandbox. Throws NOT_FOUND if the run does not exist.
   */
  async change<T>(id: string, work: (run: OpenRun) => Promise<T>): Promise<T> {
    for (let closing = this.#closing.get(id); closing; closing = this.#closing.get(id)) await closing.catch(() => {})
    const present = this.#open.get(id)
    if (present && !present.records?.isGone) {
      void this.open(id)
      return work(present)
    }
    const { folder, machines } = this.#options
    const isHere = folder !== false && isRunId(id) && existsSync(join(folder, id, 'events.jsonl'))
    if (!isHere && !(isRunId(id) && (await machines.ownership.find(id))))
      throw new ToolError('NOT_FOUND', `Run ${JSON.stringify(id.slice(0, 64))} not found.`, {
        hint: 'List the runs with GET /v1/runs or tool-hub runs.',
      })
    if (!this.#takesMore) throw new ToolError('ABORTED', 'The hub is closed.')
    const changing = this.#changeClosed(id, work)
    this.#waitFor(id, changing)
    return changing
  }

  async #changeClosed<T>(id: string, work: (run: OpenRun) => Promise<T>): Promise<T> {
    const owned = await this.#take(id, undefined)
    let run: OpenRun
    try {
      run = new OpenRun(id, { ...this.#options, onAppend: this.#onAppend, owned }, undefined)
    } catch (error) {
      await owned?.giveUp()
      throw error
    }
    return work(run).finally(() => run.close().finally(() => this.#release(id, run)))
  }

  /** Lets others wait until work on a run that is not open has ended. */
  #waitFor(id: string, work: Promise<unknown>): void {
    const waiting = Promise.allSettled([work]).then(() => {
      if (this.#closing.get(id) === waiting) this.#closing.delete(id)
    })
    this.#closing.set(id, waiting)
  }

  /** Returns a run for questions such as `explain`: the open run, or one that writes nothing. */
  rehearsal(id: string, owner?: RunOwner): RunState {
    const { folder } = this.#options
    const present = this.#open.get(id)
    const known = present ?? (folder !== false && isRunId(id) ? runOwner(folder, id) : undefined)
    if (owner && known) assertOwner(id, known.principal, owner.principal)
    if (present) return present
    return new Rehearsal(id, owner?.sandbox ? { ...this.#options, sandbox: owner.sandbox } : this.#options)
  }

  /** What a run has read from outside, also if another process has it. */
  taintedBy(id: string): Awaitable<readonly string[]> {
    const { taintedBy } = this.rehearsal(id)
    if (taintedBy.length > 0 || this.#open.has(id)) return taintedBy
    return after(this.#options.machines.ownership.find(id), (state) => state?.taintedBy ?? [])
  }

  /** Reads an artifact without opening the run. Throws FILE_TOO_LARGE before reading if it exceeds `maxBytes`. */
  async readArtifact(
    id: string,
    ref: string,
    { owner, maxBytes = Number.POSITIVE_INFINITY }: ReadArtifact & { readonly owner?: RunOwner } = {},
  ): Promise<Uint8Array> {
    const artifact = await this.findArtifact(id, ref, owner)
    const { bytes } = artifact
    if (bytes <= maxBytes) return artifact.read()
    throw new ToolError('FILE_TOO_LARGE', `${ref} has ${bytes} bytes; the limit here is ${maxBytes}.`, {
      hint: 'Use a shorter extract, or refer to the artifact instead.',
    })
  }

  /** Opens an artifact for reading in chunks. */
  async findArtifact(id: string, ref: string, owner?: RunOwner): Promise<ArtifactReader> {
    const folder = this.#folderFor(id, owner)
    return findArtifactOf(folder, id, ref, await this.#options.machines.records.files())
  }

  /** Throws NOT_FOUND if the run belongs to another principal, on whatever machine it is. One that never started may be used. */
  async assertMayUse(id: string, { principal }: RunOwner): Promise<void> {
    const { folder, machines } = this.#options
    const present = this.#open.get(id)
    const here = present ?? (folder === false || !isRunId(id) ? undefined : runOwner(folder, id))
    const known = here ?? (await machines.ownership.find(id))
    if (known) assertOwner(id, known.principal, principal)
  }

  isOpen(id: string): boolean {
    return this.#open.has(id)
  }

  /** Closes a run, unless it has calls in progress. */
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
    const closing = run
      .close()
      .finally(() => this.#release(id, run))
      .finally(() => this.#closing.delete(id))
    this.#closing.set(id, closing)
    return closing
  }

  /** Lets other machines have a closed run when its record is shared. Nobody waits for a store that is away. */
  async #release(id: string, { records, owned }: OpenRun): Promise<void> {
    if (!owned) return
    const draining = records?.drained()
    const release = async () => {
      await draining
      // Opened again meanwhile.
      if (draining && (this.#open.has(id) || this.#closing.has(id))) return
      await owned.release()
    }
    if (draining) void release()
    else await release()
  }

  /** Closes a run that another process has taken over, when its calls have ended. Calls that come meanwhile wait. */
  abandon(id: string, whenEnded: Promise<unknown>): void {
    const run = this.#open.get(id)
    if (!run) return
    this.#open.delete(id)
    this.#waitFor(
      id,
      whenEnded.then(() => run.abandon()),
    )
  }

  async closeAll(): Promise<void> {
    this.#idle.stop()
    await Promise.all([...this.#open.keys()].map((id) => this.close(id)))
    await Promise.all(this.#closing.values())
    await Promise.all([this.#options.sandbox, ...this.#otherSandboxes].map((sandbox) => sandbox.close()))
  }

  /** Returns the records folder if `owner` may read this run. Throws NOT_FOUND otherwise. */
  #folderFor(id: string, owner: RunOwner | undefined): string {
    const { folder } = this.#options
    if (folder === false) throw new ToolError('NOT_FOUND', 'This hub keeps no records, so it has no artifacts.')
    const present = this.#open.get(id)
    if (owner) assertOwner(id, (present ?? runOwner(folder, id))?.principal, owner.principal)
    return folder
  }

  #closeIdle(): void {
    for (const [id, run] of this.#open) {
      if (run.inFlight > 0) continue
      if (!run.records && run.tainted) this.#unrecorded.set(id, run.taintedBy)
      // Nobody waits for this; if closing fails, recovery handles it when the run is next opened.
      void this.close(id).catch(() => {})
      return
    }
  }
}

/** Returns a new run id, which contains the time and sorts by it. */
export function newRunId(clock: Clock, kind = 'run'): string {
  const stamp = new Date(clock.now()).toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-')
  return `${kind}-${stamp}-${randomBytes(4).toString('hex')}`
}
