import type { IndexedCall } from '@tool-hub/core'
import type { RecordedLine } from '../../records/log/index.ts'
import { indexLine, needsStart } from './index-line.ts'

/** The index entry of a call, and where its line ends in the record. */
interface QueuedCall {
  readonly seq: number
  readonly bytes: number
  readonly at: string
  readonly call: IndexedCall
}

/** A run that this process writes, with the lines that are not in the index yet. */
export interface LiveRun {
  readonly run: string
  /** Sequence number of the last line. */
  seq: number
  bytes: number
  at: string
  /** The position up to which the record is in the index. */
  indexedBytes: number
  calls: QueuedCall[]
  /** Lines up to this sequence number were missed or dropped, so the record has to be read up to here first. */
  missingTo: number
  isClosed: boolean
}

/** The most concurrent calls whose start is kept in memory; the start of other calls is read from the record. */
const MAX_OPEN_CALLS = 50_000
/** The most calls that wait for the index, about 10 MB. */
const MAX_QUEUED = 20_000

/** The record lines that this process appends, in compact form, until they are written to the index. */
export class LiveLines {
  readonly #runs = new Map<string, LiveRun>()
  readonly #open = new Map<string, IndexedCall>()
  #queued = 0

  /** The number of calls that are not in the index yet. */
  get queued(): number {
    return this.#queued
  }

  has(run: string): boolean {
    return this.#runs.has(run)
  }

  /** Returns the runs that are not completely in the index. */
  behind(): LiveRun[] {
    return [...this.#runs.values()].filter(({ bytes, indexedBytes }) => indexedBytes < bytes)
  }

  /**
   * Adds a line. Returns the entry of its call, if it is about one. Runs in every call, so it must take under a
   * microsecond.
   */
  add(line: RecordedLine): IndexedCall | undefined {
    const { event } = line
    const run = this.#runOf(line)
    if (line.seq !== run.seq + 1) run.missingTo = line.seq - 1
    run.seq = line.seq
    run.bytes = line.bytes
    run.at = line.time
    run.isClosed = event.type === 'run-closed'
    const started = 'callId' in event && event.callId !== undefined ? this.#open.get(event.callId) : undefined
    const call = indexLine(line, started)
    if (!call) return undefined
    if (event.type === 'call-started') this.#remember(call)
    else if (started) this.#open.delete(call.callId)
    // The start will be found when the record is read.
    if (started === undefined && needsStart(event)) run.missingTo = line.seq
    else this.#queue(run, { seq: line.seq, bytes: line.bytes, at: line.time, call })
    return call
  }

  /** Notes that the index has a run up to this position. */
  settle(run: LiveRun, { bytes, seq }: { readonly bytes: number; readonly seq: number }): void {
    const left = run.calls.filter((queued) => queued.seq > seq)
    this.#queued -= run.calls.length - left.length
    run.calls = left
    run.indexedBytes = bytes
    if (seq >= run.missingTo) run.missingTo = 0
    if (run.isClosed && run.indexedBytes >= run.bytes) this.#runs.delete(run.run)
  }

  /** Drops all waiting lines. They are read from the records when the index works again. */
  drop(): void {
    for (const run of this.#runs.values()) {
      run.calls = []
      run.missingTo = run.seq
    }
    this.#queued = 0
  }

  /** Called when the index was cleared, so that everything is read again. */
  forget(): void {
    for (const run of this.#runs.values()) run.indexedBytes = 0
    this.drop()
  }

  #runOf({ run, seq, time }: RecordedLine): LiveRun {
    const known = this.#runs.get(run)
    if (known) return known
    const live: LiveRun = {
      run,
      seq: seq === 1 ? 0 : -1,
      bytes: 0,
      at: time,
      indexedBytes: 0,
      calls: [],
      missingTo: 0,
      isClosed: false,
    }
    this.#runs.set(run, live)
    return live
  }

  #remember(call: IndexedCall): void {
    this.#open.set(call.callId, call)
    if (this.#open.size <= MAX_OPEN_CALLS) return
    const [oldest] = this.#open.keys()
    this.#open.delete(oldest!)
  }

  #queue(run: LiveRun, queued: QueuedCall): void {
    if (this.#queued >= MAX_QUEUED) this.drop()
    if (run.missingTo >= queued.seq) return
    run.calls.push(queued)
    this.#queued++
  }
}
