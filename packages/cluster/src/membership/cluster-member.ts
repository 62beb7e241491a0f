import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import { type Clock, messageOf, type Store, type StoredRun, systemClock, ToolError } from '@tool-hub/core'
import { VERSION } from '@tool-hub/core/lib'
import { addProcessDirectory, type ProcessDirectory } from '@tool-hub/sandbox/system'
import type { NewProcess, RunLease, StoredProcess } from '../store/types.ts'

const BEAT_MS = 2_000
/** Where a run is, if another process has it. */
export interface RunPlace {
  /** Id of the process. */
  readonly process: string
  /** The URL at which other processes reach it; absent if they cannot. */
  readonly address?: string
  /** Counts the owners of the run. */
  readonly epoch: number
}

/** Other processes take over the runs of a process 10 s after its last heartbeat, so it stops 2 s earlier. */
const CUT_MS = 8_000
const MAX_UNKNOWN = 10_000
/** The owner of a run that nobody may have, in place of the process that has left it. */
const UNKNOWN = 'unknown'

/** What a member of a cluster needs. */
export interface ClusterMemberOptions {
  /** The shared store. */
  readonly store: Pick<Store, 'processes' | 'runStates'>
  /** When heartbeats are due. */
  readonly clock: Clock
  /** How many calls this process executes now. */
  readonly running: () => number
}

/**
 * This process among those that share its store. Its heartbeats keep the leases of its runs. If they fail for 8 s, it is
 * cut off and must not start anything, because others may take over its runs 2 s later.
 */
export class ClusterMember implements ProcessDirectory {
  /** Id of this process, unique over machines and restarts. */
  readonly id = `p-${randomBytes(9).toString('hex')}`
  readonly #options: ClusterMemberOptions
  readonly #leases = new Map<string, RunLease>()
  /** The processes that have left runs open which this one has leased since. */
  readonly #takenFrom = new Map<string, string>()
  /** Runs that the store may still lease to this process, which does not use them, and whom it leaves them to. */
  readonly #unreleased = new Map<string, string | undefined>()
  readonly #releasing = new Map<string, Promise<void>>()
  readonly #cutListeners = new Set<() => void>()
  readonly #movedListeners = new Set<(run: string) => void>()
  readonly #leaveDirectory: () => void
  #process: NewProcess
  #known: ReadonlyMap<string, StoredProcess> = new Map()
  /** Counts the lists of processes that were read. */
  #lists = 0
  /** Processes that were not in the list when somebody asked for them, and how many lists had been read then. */
  readonly #unknown = new Map<string, number>()
  /** When the last successful heartbeat was sent; `undefined` before the first one. */
  #sentAt: Moment | undefined
  #beating: Promise<void> = Promise.resolve()
  #isStarted = false
  #isClosed = false
  #isCutTold = false
  /** Why this process must not use the store any more, whatever happens later. */
  #excluded: ToolError | undefined
  #cancelBeat: (() => void) | undefined
  #cancelCut: (() => void) | undefined

  constructor(options: ClusterMemberOptions) {
    this.#options = options
    this.#process = {
      id: this.id,
      kind: 'library',
      host: hostname(),
      pid: process.pid,
      version: VERSION,
      labels: [],
      running: 0,
      isDraining: false,
      startedAt: options.clock.now(),
    }
    this.#leaveDirectory = addProcessDirectory(this)
  }

  /** Changes how this process describes itself, with the next heartbeat; `beat` sends it now. */
  describe(change: Partial<Omit<NewProcess, 'id'>>): void {
    this.#process = { ...this.#process, ...change }
  }

  /** Sends a heartbeat now, and others from then on. Rejects if the store does not take it. */
  beat(): Promise<void> {
    const beating = this.#beating.then(() => this.#beat())
    this.#beating = beating.catch(() => {})
    return beating
  }

  /** The processes that share the store, as of the last heartbeat. */
  processes(): readonly StoredProcess[] {
    return [...this.#known.values()]
  }

  /** The URL of a process; `undefined` if it has none or is not known. */
  addressOf(process: string): string | undefined {
    return this.#known.get(process)?.address
  }

  /** Whether a process is alive. One that has just been started may not be in the list yet, so it counts as alive at first. */
  isProcessAlive(process: string): boolean {
    if (process === this.id) return !this.#isClosed
    const known = this.#known.get(process)
    if (known) return known.isAlive
    const asked = this.#unknown.get(process)
    if (asked === undefined) {
      if (this.#unknown.size >= MAX_UNKNOWN) this.#unknown.clear()
      this.#unknown.set(process, this.#lists)
    }
    // Only a list that was requested after the question proves that the process is gone.
    return asked === undefined || this.#lists < asked + 2
  }

  /** Where a run is, if another live process has leased it; `undefined` if it is ours or free. */
  placeOf(run: string): Promise<RunPlace | undefined> | undefined {
    return this.#leases.has(run) ? undefined : this.#find(run)
  }

  async #find(run: string): Promise<RunPlace | undefined> {
    const { owner, epoch } = (await this.#options.store.runStates.find(run)) ?? {}
    if (owner === undefined || epoch === undefined || owner === this.id) return undefined
    if (!this.#known.has(owner)) await this.#list()
    const known = this.#known.get(owner)
    return known?.isAlive ? { process: owner, address: known.address, epoch } : undefined
  }

  /** The lease that this process holds on a run; `undefined` without one. */
  leaseOf(run: string): RunLease | undefined {
    return this.#leases.get(run)
  }

  /**
   * Leases a run to this process, after its first heartbeat. Returns the state of the run; if another process has it,
   * `owner` says which.
   */
  async lease(run: string, principal: string | undefined): Promise<StoredRun> {
    if (this.#sentAt === undefined) await this.beat()
    // It would end the new lease.
    for (let ending = this.#releasing.get(run); ending; ending = this.#releasing.get(run)) await ending
    this.#assertConnected()
    const left = this.#unreleased.get(run)
    this.#unreleased.delete(run)
    try {
      const { takenFrom, ...state } = await this.#options.store.runStates.lease(run, { owner: this.id, principal })
      if (state.owner !== this.id) return state
      this.#leases.set(run, { owner: this.id, epoch: state.epoch })
      const before = takenFrom === this.id ? left : takenFrom
      if (before === undefined) this.#takenFrom.delete(run)
      else this.#takenFrom.set(run, before)
      return state
    } catch (error) {
      // The answer may be lost: whether the run was leased is not known, and not whether its record is closed.
      if (!this.#leases.has(run)) this.#unreleased.set(run, left ?? UNKNOWN)
      throw error
    }
  }

  /**
   * Ends the lease of a run whose record is closed, so that it may move. Never rejects: what the store does not take, it gets
   * with a heartbeat.
   */
  release(run: string): Promise<void> {
    return this.#end(run, undefined)
  }

  /** Ends the lease of a run that could not be opened. One that was left open stays known as such. Never rejects. */
  giveBack(run: string): Promise<void> {
    return this.#end(run, this.#takenFrom.get(run))
  }

  async #end(run: string, to: string | undefined): Promise<void> {
    const held = this.#leases.get(run)
    if (!held) return
    this.#leases.delete(run)
    this.#takenFrom.delete(run)
    await this.#release(run, to, held)
  }

  #release(run: string, to: string | undefined, held?: RunLease): Promise<void> {
    const releasing = this.#tryToRelease(run, to, held).finally(() => this.#releasing.delete(run))
    this.#releasing.set(run, releasing)
    return releasing
  }

  async #tryToRelease(run: string, to: string | undefined, known: RunLease | undefined): Promise<void> {
    const { runStates } = this.#options.store
    try {
      const { owner, epoch } = known ?? (await runStates.find(run)) ?? {}
      if (owner === this.id && epoch !== undefined) await runStates.release(run, { owner, epoch }, to)
      this.#unreleased.delete(run)
    } catch {
      this.#unreleased.set(run, to)
    }
  }

  /** One after the other, until one fails: the store is away, or has much to do after it was. */
  async #releaseUnused(): Promise<void> {
    for (const [run, to] of this.#unreleased) {
      if (!this.#releasing.has(run)) await this.#release(run, to)
      if (this.#unreleased.has(run)) return
    }
  }

  /** The error for a run that another process has. */
  elsewhere({ run, owner = '' }: StoredRun): ToolError {
    const address = this.addressOf(owner)
    const place = address === undefined ? `process ${owner}` : `process ${owner} at ${address}`
    return new ToolError('RUN_ELSEWHERE', `Run ${run} is open in ${place}.`, {
      details: { process: owner, address },
    })
  }

  /** The error for a run that another process has taken. */
  moved(run: string): ToolError {
    return new ToolError('RUN_MOVED', `Run ${run} was taken over by another process.`)
  }

  /** The error while this process is cut off. */
  cutOff(): ToolError {
    if (this.#excluded) return new ToolError('PROCESS_CUT_OFF', this.#excluded.message, { fix: this.#excluded.fix })
    const seconds = CUT_MS / 1_000
    return new ToolError('PROCESS_CUT_OFF', `Process ${this.id} has not reached the shared store for ${seconds} s.`)
  }

  /** The time by the clock of this process. */
  now(): number {
    return this.#options.clock.now()
  }

  /** Whether heartbeats have failed too long to start anything. Compares clocks: a suspended process runs no timer. */
  get isCut(): boolean {
    const isRecent = this.#sentAt !== undefined && this.#elapsed(this.#sentAt) <= CUT_MS
    if (isRecent && !this.#excluded) return false
    if (this.#sentAt !== undefined) this.#tellCut()
    return true
  }

  /** Calls the listener each time this process is cut off. Returns a function that removes it. */
  onCut(listener: () => void): () => void {
    this.#cutListeners.add(listener)
    return () => this.#cutListeners.delete(listener)
  }

  /** Calls the listener when a run that this process had leased was taken by another. Returns a function that removes it. */
  onMoved(listener: (run: string) => void): () => void {
    this.#movedListeners.add(listener)
    return () => this.#movedListeners.delete(listener)
  }

  /** Throws if this process is cut off, or does not hold the lease of the run. */
  assertHolds(run: string): void {
    this.#assertConnected()
    if (!this.#leases.has(run)) throw this.moved(run)
  }

  /** Like `assertHolds`, and asks the store as well. Call it before a side effect. */
  async confirm(run: string): Promise<void> {
    this.assertHolds(run)
    const held = this.#leases.get(run)
    const state = await this.#options.store.runStates.find(run)
    const isHeld = state?.owner === held?.owner && state?.epoch === held?.epoch
    if (!isHeld && this.#leases.get(run) === held) this.lose(run)
    // The process may have been suspended while it waited.
    this.assertHolds(run)
  }

  /** Called when a write has shown that the run was taken by another process. */
  lose(run: string): void {
    if (!this.#leases.delete(run)) return
    this.#takenFrom.delete(run)
    for (const listener of [...this.#movedListeners]) listener(run)
  }

  /** Stops the heartbeats and removes this process. Close its runs first. */
  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#cancelBeat?.()
    this.#cancelCut?.()
    await this.#beating
    this.#leaveDirectory()
    if (!this.#isStarted) return
    try {
      await this.#options.store.processes.remove(this.id)
    } catch (error) {
      process.emitWarning(
        `Process ${this.id} was not removed from the shared store: ${messageOf(error)}`,
        'ToolHubWarning',
      )
    }
  }

  async #beat(): Promise<void> {
    if (this.#isClosed) return
    this.#cancelBeat?.()
    const { store, running } = this.#options
    const sent = this.#now()
    const wasCut = this.#sentAt !== undefined && this.isCut
    try {
      this.#process = { ...this.#process, running: running() }
      await this.#inTime(store.processes.beat(this.#process))
      this.#isStarted = true
      await this.#inTime(this.#list())
      if (wasCut) await this.#inTime(this.#renewLeases())
      this.#sentAt = sent
      this.#isCutTold = false
      this.#cancelCut?.()
      this.#cancelCut = this.#options.clock.after(CUT_MS + 1, () => void this.isCut, { background: true })
      void this.#releaseUnused()
    } catch (error) {
      if (ToolError.is(error) && error.code === 'PROCESS_CUT_OFF') this.#exclude(error)
      throw error
    } finally {
      if (!this.#isClosed)
        this.#cancelBeat = this.#options.clock.after(BEAT_MS, () => void this.beat().catch(() => {}), {
          background: true,
        })
    }
  }

  /** The store itself has cut this process off: its tables are of another version now. */
  #exclude(error: ToolError): void {
    if (this.#excluded) return
    this.#excluded = error
    process.emitWarning(`${error.message} ${error.fix.hint}`, 'ToolHubWarning')
    this.#tellCut()
  }

  async #list(): Promise<void> {
    const processes = await this.#options.store.processes.list()
    const earlier = this.#known.keys()
    this.#known = new Map(processes.map((process) => [process.id, process]))
    this.#lists++
    for (const id of earlier) if (!this.#known.has(id)) this.#unknown.set(id, Number.NEGATIVE_INFINITY)
    for (const id of this.#known.keys()) this.#unknown.delete(id)
  }

  /** After a cut: loses the runs that other processes have taken, and renews the leases of the rest. */
  async #renewLeases(): Promise<void> {
    const { runStates } = this.#options.store
    await Promise.all(
      [...this.#leases].map(async ([run, held]) => {
        const isHeld = await runStates.renew(run, held)
        if (!isHeld && this.#leases.get(run) === held) this.lose(run)
      }),
    )
  }

  #assertConnected(): void {
    if (this.isCut) throw this.cutOff()
  }

  #tellCut(): void {
    if (this.#isCutTold || this.#isClosed) return
    this.#isCutTold = true
    for (const listener of [...this.#cutListeners]) listener()
  }

  #now(): Moment {
    const { clock } = this.#options
    const wall = clock.now()
    return { wall, monotonic: clock === systemClock ? performance.now() : wall }
  }

  /** Compares both clocks: only one of them may advance while the process or its machine is suspended. */
  #elapsed({ wall, monotonic }: Moment): number {
    const now = this.#now()
    return Math.max(now.wall - wall, now.monotonic - monotonic)
  }

  /** A connection that hangs must not keep later heartbeats from being sent. */
  async #inTime<T>(work: T | Promise<T>): Promise<T> {
    if (!(work instanceof Promise)) return work
    let cancel = () => {}
    const timeout = new Promise<never>((_, reject) => {
      cancel = this.#options.clock.after(
        CUT_MS,
        () => reject(new ToolError('TIMEOUT', `The shared store did not answer within ${CUT_MS} ms.`)),
        { background: true },
      )
    })
    return Promise.race([work, timeout]).finally(cancel)
  }
}

/** A time by the clock of the machine, which can be set, and by one that cannot. */
interface Moment {
  readonly wall: number
  readonly monotonic: number
}
