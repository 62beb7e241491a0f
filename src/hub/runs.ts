import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Awaitable, assertRunId, type Clock, isRunId, type ReadArtifact, ToolError } from '../core/index.ts'
import { after } from '../lib/index.ts'
import { type ArtifactReader, findArtifactOf } from '../records/artifacts/index.ts'
import type { RecordedLine } from '../records/log/index.ts'
import { descriptorLimit } from '../system/index.ts'
import type { RunSandbox } from './run-sandbox.ts'
import { type ClusterRuns, type LeasedRun, OpenRun, Rehearsal, type RunOwner, type RunsOptions } from './run-state.ts'
import { assertOwner, notOwned, runOwner } from './run-taint.ts'
import type { RunState } from './runtime.ts'

/**
 * The open runs of a hub. If there are too many, the one that has been idle longest is closed; its next call opens it again,
 * with its record, its taint and an empty cache.
 */
export class Runs {
  /** Called for every line that is appended to a record. */
  readonly recordListeners = new Set<(line: RecordedLine) => void>()
  readonly #options: RunsOptions
  /** In order of last use. */
  readonly #open = new Map<string, OpenRun>()
  readonly #closing = new Map<string, Promise<void>>()
  /** The sandboxes of principals with their own folders. */
  readonly #otherSandboxes = new Set<RunSandbox>()
  readonly #idle: IdleRuns
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
   * closed, and in a cluster while it is leased. Without `owner`, the caller is the owner of the hub, who may open every run.
   */
  open(id: string, owner?: RunOwner): RunState | Promise<RunState> {
    const present = this.#open.get(id)
    if (!present || (present.isReleased && present.records?.isGone)) return this.#openAgain(id, owner)
    if (owner && owner.principal !== present.principal) throw notOwned(id, owner.principal)
    this.#options.cluster?.member.assertHolds(id)
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
    return this.#options.cluster ? this.#openLeased(id, owner, this.#options.cluster) : this.#add(id, owner)
  }

  /** Leases a run before it is opened; other calls of the run wait meanwhile. */
  #openLeased(id: string, owner: RunOwner | undefined, cluster: ClusterRuns): Promise<RunState> {
    const opening = leaseRun(id, { ...this.#options, cluster }, owner).then(async (leased) => {
      try {
        if (!this.#takesMore) throw new ToolError('ABORTED', 'The hub is closed and takes no more calls.')
        return this.#add(id, owner, leased)
      } catch (error) {
        await cluster.member.giveBack(id)
        throw error
      }
    })
    this.#waitFor(id, opening)
    return opening
  }

  #add(id: string, owner: RunOwner | undefined, leased?: LeasedRun): RunState {
    if (this.#idle.isFull(this.#open.size)) this.#closeIdle()
    const run = new OpenRun(id, { ...this.#options, onAppend: this.#onAppend, leased }, owner)
    if (owner?.sandbox) this.#otherSandboxes.add(owner.sandbox)
    this.#open.set(id, run)
    this.#idle.add(run)
    return run
  }

  /**
   * Changes a run that has started. A run that is not open is opened for the change alone, and calls wait meanwhile: they
   * may need another sandbox. Throws NOT_FOUND if there is no such run.
   */
  async change<T>(id: string, work: (run: OpenRun) => Promise<T>): Promise<T> {
    for (let closing = this.#closing.get(id); closing; closing = this.#closing.get(id)) await closing.catch(() => {})
    const present = this.#open.get(id)
    if (present && !present.records?.isGone) {
      void this.open(id)
      return work(present)
    }
    const { folder, cluster } = this.#options
    const isHere = folder !== false && isRunId(id) && existsSync(join(folder, id, 'events.jsonl'))
    if (!isHere && !(cluster && isRunId(id) && (await cluster.states.find(id))))
      throw new ToolError('NOT_FOUND', `There is no run ${JSON.stringify(id.slice(0, 64))}.`, {
        hint: 'List the runs with GET /v1/runs or tool-hub runs.',
      })
    if (!this.#takesMore) throw new ToolError('ABORTED', 'The hub is closed.')
    const changing = this.#changeClosed(id, work)
    this.#waitFor(id, changing)
    return changing
  }

  async #changeClosed<T>(id: string, work: (run: OpenRun) => Promise<T>): Promise<T> {
    const { cluster } = this.#options
    const leased = cluster && (await leaseRun(id, { ...this.#options, cluster }, undefined))
    let run: OpenRun
    try {
      run = new OpenRun(id, { ...this.#options, onAppend: this.#onAppend, leased }, undefined)
    } catch (error) {
      await cluster?.member.giveBack(id)
      throw error
    }
    return work(run).finally(() => run.close().finally(() => this.#release(id, run)))
  }

  /** Lets others wait until work on a run that is not open has ended. */
  #waitFor(id: string, work: Promise<unknown>): void {
    const settled = work.then(
      () => {},
      () => {},
    )
    const waiting = settled.finally(() => {
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

  /** Whether a run has read content from outside, also if another process has it. */
  isTainted(id: string): Awaitable<boolean> {
    const { cluster } = this.#options
    const { tainted } = this.rehearsal(id)
    if (!cluster || tainted || this.#open.has(id)) return tainted
    return after(cluster.states.find(id), (state) => (state?.taintedBy.length ?? 0) > 0)
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
    const { shared } = this.#options
    return findArtifactOf(folder, id, ref, shared && (await shared.get()).content)
  }

  /** Throws NOT_FOUND if the run belongs to another principal, on whatever machine it is. One that never started may be used. */
  async assertMayUse(id: string, { principal }: RunOwner): Promise<void> {
    const { folder, cluster } = this.#options
    const present = this.#open.get(id)
    const here = present ?? (folder === false || !isRunId(id) ? undefined : runOwner(folder, id))
    const known = here ?? (await cluster?.states.find(id))
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

  /** Ends the lease of a closed run when its record is shared. Nobody waits for a store that is away. */
  async #release(id: string, { records }: OpenRun): Promise<void> {
    const { cluster, shared } = this.#options
    if (!cluster) return
    const draining = records?.drained()
    const release = async () => {
      await draining
      // Opened again meanwhile.
      if (draining && (this.#open.has(id) || this.#closing.has(id))) return
      shared?.made?.closed(id)
      await cluster.member.release(id)
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
      // Nobody waits for this; if closing fails, recovery handles it when the run is next opened.
      void this.close(id).catch(() => {})
      return
    }
  }
}

/** Leases a run to this process. Throws NOT_FOUND if it is of another principal, RUN_ELSEWHERE if another process has it. */
async function leaseRun(
  id: string,
  { folder, heads, shared, cluster }: RunsOptions & { readonly cluster: ClusterRuns },
  owner: RunOwner | undefined,
): Promise<LeasedRun> {
  const { member, states } = cluster
  assertRunId(id)
  const known = folder === false ? undefined : runOwner(folder, id)
  if (owner && known) assertOwner(id, known.principal, owner.principal)
  const state = await member.lease(id, owner?.principal ?? known?.principal)
  const lease = member.leaseOf(id)
  try {
    if (owner) assertOwner(id, state.principal, owner.principal)
    if (state.owner !== member.id || !lease) throw member.elsewhere(state)
    const sharing = shared && folder !== false ? await (await shared.get()).prepare(folder, id, lease) : undefined
    // Others may have taken the run while its record was brought here.
    member.assertHolds(id)
    const isHeld = () => !member.isCut && member.leaseOf(id) === lease
    return {
      lease,
      state,
      taint: {
        save: async (sources) => {
          if (!(await states.taint(id, sources, lease))) member.lose(id)
          member.assertHolds(id)
        },
      },
      records: {
        // The head of a run that another process continues would contradict its record.
        heads: heads && { put: (head, continues) => (isHeld() ? heads.put(head, continues) : undefined) },
        sharing,
      },
    }
  } catch (error) {
    await member.giveBack(id)
    throw error
  }
}

/** Returns a new run id, which contains the time and sorts by it. */
export function newRunId(clock: Clock, kind = 'run'): string {
  const stamp = new Date(clock.now()).toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-')
  return `${kind}-${stamp}-${randomBytes(4).toString('hex')}`
}

/** An open run, whose records hold file descriptors until they are released. */
export interface ReleasableRun {
  readonly inFlight: number
  /** Whether the run was used since the last check. */
  isActive: boolean
  isReleased: boolean
  /** Closes the descriptors of its records; the next event opens them again. */
  release(): void
}

/** A run is released after one to two of these intervals without a call. */
const CHECK_MS = 30_000
/** The number of runs that may always be open with their records. */
const MIN_HELD = 16
/** File descriptors per run. Records use at most a quarter of all descriptors, workspaces and deliverables an eighth. */
const FILES_OF_RECORDS = 3
const FOLDERS_OF_RUN = 2
const MAX_OPEN = 256

/** Releases the records of idle runs after about a minute, or sooner if too many are open. */
export class IdleRuns {
  readonly #clock: Clock
  /** In order of last use. */
  readonly #runs: () => Iterable<ReleasableRun>
  readonly #descriptors: () => number
  #limits: { readonly held: number; readonly open: number } | undefined
  #cancel: (() => void) | undefined

  constructor(clock: Clock, runs: () => Iterable<ReleasableRun>, descriptors = descriptorLimit) {
    this.#clock = clock
    this.#runs = runs
    this.#descriptors = descriptors
  }

  /** Returns whether a hub with this many open runs should close one before it opens another. */
  isFull(open: number): boolean {
    return open >= MIN_HELD && open >= this.#max.open
  }

  /** Called when a run has been opened, or is used again after it was released. */
  add(run: ReleasableRun): void {
    run.isActive = true
    run.isReleased = false
    this.#makeRoom(run)
    this.#cancel ??= this.#checkLater()
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

  /** Computed only if there are many runs: most hubs have one. */
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
