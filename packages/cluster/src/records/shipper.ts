import { type Clock, messageOf, ToolError } from '@tool-hub/core'
import type { RecordShipment, SharedFiles, ShippedFile, ShippedRecord } from '@tool-hub/runtime/records/log'
import type { NewSegment, RunLease, SegmentStore } from '../store/types.ts'
import { findLine, MAX_SEGMENT_BYTES, nextSegment, type SharedPosition } from './next-segment.ts'

/** How records are shared. */
export interface ShipperOptions {
  readonly segments: Pick<SegmentStore, 'append' | 'heads'>
  readonly clock: Clock
  /** Called once for a run that this process has lost to another: nothing more may be executed for it. */
  readonly onMoved?: (run: string, problem: ToolError) => void
  /** Called with the number of bytes that a run has shared. */
  readonly onShared?: (run: string, bytes: number) => void
  /** Called when the store begins to refuse records. */
  readonly onProblem?: (error: ToolError) => void
}

/** Lines that nobody waits for are shared after this time, or earlier if they fill a segment. */
const BEHIND_MS = 1_000
/** The limits of one insert; the rest is in the next one. */
const MAX_BATCH_BYTES = 4 * 1024 * 1024
const MAX_BATCH_RUNS = 250
/** How long a call waits for its intent to be shared. After that it is refused, and nothing was executed. */
const INTENT_MS = 10_000
/** How long a call that was executed waits for its end to be shared. */
const END_MS = 30_000
const MIN_RETRY_MS = 100
const MAX_RETRY_MS = 2_000

interface Waiter {
  /** Resolves when the file is shared up to here. */
  readonly bytes: number
  /** Whether to continue waiting while the store refuses records. */
  readonly isPatient: boolean
  settle(error?: ToolError): void
}

/** How a record is shared. */
interface ShipmentOptions {
  /** The lease on the run that this process has. */
  readonly held: RunLease
  /** Up to where the store has the record; see `continueRecord`. */
  readonly position: SharedPosition
  /** Where artifacts and undo data are shared. Default: they are not. */
  readonly content?: SharedFiles
}

/** A record, and from where on it is shared. */
interface ShippingStart {
  readonly run: string
  readonly held: RunLease
  readonly file: ShippedFile
  readonly position: SharedPosition
}

/** The record of one run on its way to the store. */
export class ShippedRun implements ShippedRecord {
  readonly run: string
  readonly held: RunLease
  readonly file: ShippedFile
  /** Up to where the store has it. */
  position: SharedPosition
  /** Why nothing of it is shared any more. */
  problem: ToolError | undefined
  readonly waiting = new Set<Waiter>()
  readonly #shipper: Shipper
  #draining: Promise<void> | undefined

  constructor(shipper: Shipper, start: ShippingStart) {
    this.#shipper = shipper
    this.run = start.run
    this.held = start.held
    this.file = start.file
    this.position = start.position
  }

  get unsharedBytes(): number {
    return this.file.bytes - this.position.bytes
  }

  note(): void {
    this.#shipper.note(this)
  }

  shared({ isPatient = false } = {}): Promise<void> {
    if (this.problem) return Promise.reject(this.problem)
    if (this.unsharedBytes <= 0) return Promise.resolve()
    return this.#shipper.wait(this, isPatient ? END_MS : INTENT_MS)
  }

  close(): Promise<void> | undefined {
    if (this.problem || this.unsharedBytes <= 0) return undefined
    this.#draining ??= this.#shipper.wait(this, Number.POSITIVE_INFINITY).catch(() => {})
    return this.#draining
  }
}

/** How far a process is with sharing its records. */
export interface ShippingState {
  /** Segments that the store has taken since the process started. */
  readonly segments: number
  /** Bytes of records that the store does not have yet. */
  readonly waitingBytes: number
  /** How old the oldest of them is. */
  readonly lagMs: number
  /** Whether the store refused them when it was last tried; it is tried again within two seconds. */
  readonly isRefused: boolean
}

/**
 * Shares the records of all runs of a process: one insert per tick for all of them, at most one under way; what is
 * appended meanwhile is in the next.
 */
export class Shipper {
  readonly #options: ShipperOptions
  /** Runs with lines that are not shared, of which somebody waits for the first kind. */
  readonly #urgent = new Set<ShippedRun>()
  readonly #behind = new Set<ShippedRun>()
  #cancelTimer: (() => void) | undefined
  #working: Promise<void> | undefined
  #wake: (() => void) | undefined
  #retryMs = 0
  #isClosed = false
  #segments = 0
  /** Runs whose lines are being inserted. */
  #sending: readonly ShippedRun[] = []
  /** Since when there are lines that no batch has; before that, lines are in the batch that is under way. */
  #since: number | undefined
  #sendingSince: number | undefined

  constructor(options: ShipperOptions) {
    this.#options = options
  }

  /** How far this process is with sharing its records. */
  state(): ShippingState {
    const runs = new Set([...this.#urgent, ...this.#behind, ...this.#sending])
    const waitingBytes = [...runs].reduce((sum, { unsharedBytes }) => sum + unsharedBytes, 0)
    const since = this.#sendingSince ?? this.#since
    const lagMs = waitingBytes === 0 || since === undefined ? 0 : this.#options.clock.now() - since
    return { segments: this.#segments, waitingBytes, lagMs, isRefused: this.#retryMs > 0 }
  }

  /** What ships a record from a position on, and its content. */
  shipment(run: string, { held, position, content }: ShipmentOptions): RecordShipment {
    const { owner, epoch } = held
    return {
      process: owner,
      epoch,
      open: (file) => new ShippedRun(this, { run, held, file, position }),
      ...(content && { content }),
    }
  }

  /** Part of every call, so it only adds to a set and sets one timer. */
  note(run: ShippedRun): void {
    if (run.problem || this.#isClosed) return
    if (run.unsharedBytes >= MAX_SEGMENT_BYTES) {
      this.#want(run)
      return
    }
    this.#since ??= this.#options.clock.now()
    this.#behind.add(run)
    this.#cancelTimer ??= this.#options.clock.after(BEHIND_MS, this.#timer, { background: true })
  }

  /** Who waits longer than for an intent waits while the store refuses. */
  wait(run: ShippedRun, ms: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const isLimited = Number.isFinite(ms)
      const cancel = isLimited ? this.#options.clock.after(ms, () => waiter.settle(notInTime(run.run, ms))) : () => {}
      const waiter: Waiter = {
        bytes: run.file.bytes,
        isPatient: ms > INTENT_MS,
        settle(error) {
          cancel()
          run.waiting.delete(waiter)
          if (error) reject(error)
          else resolve()
        },
      }
      run.waiting.add(waiter)
      this.#want(run)
    })
  }

  /** Shares everything once more; what the store refuses stays in the files, and is shared when the run is opened again. */
  async close(): Promise<void> {
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    for (const run of this.#behind) this.#urgent.add(run)
    this.#behind.clear()
    this.#isClosed = true
    this.#wake?.()
    await this.#working
    if (this.#urgent.size > 0) await this.#work()
  }

  readonly #timer = (): void => {
    this.#cancelTimer = undefined
    for (const run of this.#behind) this.#want(run)
    this.#behind.clear()
  }

  #want(run: ShippedRun): void {
    this.#since ??= this.#options.clock.now()
    this.#urgent.add(run)
    this.#wake?.()
    this.#working ??= this.#work().finally(() => {
      this.#working = undefined
    })
  }

  async #work(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve))
    while (this.#urgent.size > 0) {
      const isTaken = await this.#shipBatch()
      if (isTaken) continue
      if (this.#isClosed) return
      await this.#pause()
    }
  }

  /** Ends early if somebody begins to wait: a call learns immediately whether the store is back. */
  #pause(): Promise<void> {
    this.#retryMs = Math.min(MAX_RETRY_MS, Math.max(MIN_RETRY_MS, this.#retryMs * 2))
    return new Promise((resolve) => {
      const cancel = this.#options.clock.after(this.#retryMs, () => wake(), { background: true })
      const wake = () => {
        cancel()
        this.#wake = undefined
        resolve()
      }
      this.#wake = wake
    })
  }

  /** Returns false if the store refused. */
  async #shipBatch(): Promise<boolean> {
    const batch = this.#collect()
    if (batch.length === 0) return true
    this.#sending = batch.map(({ run }) => run)
    this.#sendingSince = this.#since
    this.#since = undefined
    try {
      const outcomes = await this.#options.segments.append(batch.map(({ segment }) => segment))
      this.#retryMs = 0
      for (const [index, { run, end }] of batch.entries()) {
        const outcome = outcomes[index]
        if (outcome === 'added') {
          this.#segments++
          this.#advance(run, end)
        } else if (outcome === 'moved') this.#lose(run, moved(run.run))
        else await this.#findPosition(run)
      }
      return true
    } catch (error) {
      const problem = refused(error)
      if (this.#retryMs === 0) this.#options.onProblem?.(problem)
      for (const { run } of batch) {
        for (const waiter of [...run.waiting]) if (!waiter.isPatient) waiter.settle(problem)
        this.#urgent.add(run)
      }
      this.#since = this.#sendingSince
      return false
    } finally {
      this.#sending = []
      this.#sendingSince = undefined
    }
  }

  #collect(): { readonly run: ShippedRun; readonly segment: NewSegment; readonly end: SharedPosition }[] {
    const batch: { run: ShippedRun; segment: NewSegment; end: SharedPosition }[] = []
    let bytes = 0
    for (const run of this.#urgent) {
      if (batch.length >= MAX_BATCH_RUNS || bytes >= MAX_BATCH_BYTES) break
      this.#urgent.delete(run)
      try {
        const next = nextSegment(run, this.#options.clock.now())
        if (!next) continue
        batch.push({ run, ...next })
        bytes += next.end.bytes - run.position.bytes
      } catch (error) {
        this.#lose(run, unreadable(run.run, error))
      }
    }
    return batch
  }

  #advance(run: ShippedRun, end: SharedPosition): void {
    const bytes = end.bytes - run.position.bytes
    run.position = end
    for (const waiter of [...run.waiting]) if (waiter.bytes <= end.bytes) waiter.settle()
    if (run.waiting.size > 0 || run.unsharedBytes >= MAX_SEGMENT_BYTES) this.#urgent.add(run)
    else if (run.unsharedBytes > 0) this.note(run)
    this.#options.onShared?.(run.run, bytes)
  }

  /** If only the answer was lost, the lines are in the store; otherwise the records differ, and sharing ends here. */
  async #findPosition(run: ShippedRun): Promise<void> {
    const [head] = await this.#options.segments.heads({ run: run.run })
    const found = head && findLine(run, head.seq)
    if (!found || found.hash !== head.hash) {
      this.#lose(run, differs(run.run))
      return
    }
    this.#advance(run, found)
    if (run.unsharedBytes > 0) this.#urgent.add(run)
  }

  #lose(run: ShippedRun, problem: ToolError): void {
    run.problem = problem
    this.#urgent.delete(run)
    this.#behind.delete(run)
    for (const waiter of [...run.waiting]) waiter.settle(problem)
    this.#options.onMoved?.(run.run, problem)
  }
}

function refused(cause: unknown): ToolError {
  return new ToolError('RECORDS_UNAVAILABLE', `The store does not take the record: ${messageOf(cause)}`, {
    hint: 'Try again when the store is reachable; tool-hub doctor says what is wrong with it.',
    retryable: true,
    cause,
  })
}

function notInTime(run: string, ms: number): ToolError {
  return new ToolError(
    'RECORDS_UNAVAILABLE',
    `The store did not take the record of run ${run} within ${ms / 1_000} s.`,
    {
      hint: 'Try again when the store is reachable; tool-hub doctor says what is wrong with it.',
      retryable: true,
    },
  )
}

function moved(run: string): ToolError {
  return new ToolError('RUN_MOVED', `Run ${run} was taken over by another process.`)
}

function differs(run: string): ToolError {
  return new ToolError('RUN_MOVED', `The record of run ${run} on this machine is not the one that is shared.`, {
    hint: 'Call again: the run is then opened from its shared record. Compare both with tool-hub audit verify --shared.',
  })
}

function unreadable(run: string, cause: unknown): ToolError {
  return new ToolError('RECORDS_UNAVAILABLE', `The record of run ${run} cannot be shared: ${messageOf(cause)}.`, {
    hint: 'Run tool-hub audit verify, and use another run id.',
    retryable: false,
    cause,
  })
}
