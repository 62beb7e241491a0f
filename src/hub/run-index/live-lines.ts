import type { IndexedCall } from '../../core/index.ts'
import type { RecordedLine } from '../../records/log/index.ts'
import { indexLine, needsStart } from './index-line.ts'

/** A call as a line told it, and where that line ends in the record. */
interface QueuedCall {
  readonly seq: number
  readonly bytes: number
  readonly at: string
  readonly call: IndexedCall
}

/** A run that this process writes, and what was heard of it that the index does not have yet. */
export interface LiveRun {
  readonly run: string
  /** Of the last line that was heard. */
  seq: number
  bytes: number
  at: string
  /** How far of that is in the index. */
  indexedBytes: number
  calls: QueuedCall[]
  /** Lines up to this one were not heard, or were given up: the record has to be read to here first. */
  missingTo: number
  isClosed: boolean
}

/** Calls that are under way at once in practice; the start of any other one is looked up in the index. */
const MAX_OPEN_CALLS = 50_000
/** About 10 MB. */
const MAX_QUEUED = 20_000

/** The lines of this process' runs as they are appended, kept small until the index takes them. */
export class LiveLines {
  readonly #runs = new Map<string, LiveRun>()
  readonly #open = new Map<string, IndexedCall>()
  #queued = 0

  /** How many calls wait for the index. */
  get queued(): number {
    return this.#queued
  }

  has(run: string): boolean {
    return this.#runs.has(run)
  }

  /** The runs of which the index lacks something. */
  behind(): LiveRun[] {
    return [...this.#runs.values()].filter(({ bytes, indexedBytes }) => indexedBytes < bytes)
  }

  /** Takes up a line; gives back what it says of a call. This is in the way of every call: about half a microsecond. */
  hear(line: RecordedLine): IndexedCall | undefined {
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
    // Whoever reads the record finds its start.
    if (started === undefined && needsStart(event)) run.missingTo = line.seq
    else this.#queue(run, { seq: line.seq, bytes: line.bytes, at: line.time, call })
    return call
  }

  /** The index has a run up to here. */
  settle(run: LiveRun, { bytes, seq }: { readonly bytes: number; readonly seq: number }): void {
    const left = run.calls.filter((queued) => queued.seq > seq)
    this.#queued -= run.calls.length - left.length
    run.calls = left
    run.indexedBytes = bytes
    if (seq >= run.missingTo) run.missingTo = 0
    if (run.isClosed && run.indexedBytes >= run.bytes) this.#runs.delete(run.run)
  }

  /** Gives up what waits: the records have it, and are read when the index works again. */
  drop(): void {
    for (const run of this.#runs.values()) {
      run.calls = []
      run.missingTo = run.seq
    }
    this.#queued = 0
  }

  /** The index was emptied: everything is to be read again. */
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
