import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { type CallIndex, type Clock, type IndexedCall, systemClock } from '@tool-hub/core'
import { GroupCommit } from '@tool-hub/sandbox/system'
import type { Hub } from '../hub.ts'
import { LiveLines, type LiveRun } from './live-lines.ts'
import { indexRecord, latestOf, look, runsBelow } from './read-records.ts'

/** Options of a `RunIndexer`. */
export interface RunIndexerOptions {
  readonly calls: CallIndex
  readonly runsFolder: string
  readonly clock?: Clock
}

/** How many runs and calls were new to the index. */
export interface CatchUpReport {
  readonly runs: number
  readonly calls: number
}

const SOON_MS = 50
/** The most calls per write of the index, which blocks everything else. */
const CALLS_A_WRITE = 200
/** The ratio of idle time to work while nobody reads the index, so that calls have priority. */
const RESTS = 19
const MAX_REST_MS = 1_000
const RESTS_OF_READING = 9
/** The longest time that a reader of the index waits for it to catch up. */
const MAX_FLUSH_MS = 2_000
const LOOK_AROUND_MS = 2_000
const MAX_WAIT_MS = 30_000
/** How long background work runs before it pauses. */
const WORK_MS = 20

/**
 * Keeps the index of run records up to date, from the lines that this process appends and from the records of other
 * processes. Only lines that are in the record file are indexed, so after a crash the index can only lag behind.
 */
export class RunIndexer {
  readonly #calls: CallIndex
  readonly #folder: string
  readonly #clock: Clock
  readonly #live = new LiveLines()
  readonly #listeners = new Set<(call: IndexedCall) => void>()
  readonly #commit = new GroupCommit(() => this.#write())
  /** Sizes of the indexed records, up to their last complete line. */
  readonly #sizes = new Map<string, number>()
  readonly #closing = new AbortController()
  #cancelWrite: (() => void) | undefined
  #cancelLook: (() => void) | undefined
  #stopHearing: (() => void) | undefined
  #catching: Promise<CatchUpReport> | undefined
  #waitMs = SOON_MS
  /** The number of readers that wait for `flush`. */
  #hurried = 0
  #stopResting = () => {}
  #hasLookedAround = false

  constructor({ calls, runsFolder, clock = systemClock }: RunIndexerOptions) {
    this.#calls = calls
    this.#folder = runsFolder
    this.#clock = clock
  }

  /** Follows the calls of a hub, and checks periodically for records of other processes. */
  follow(hub: Pick<Hub, 'onRecord'>): void {
    this.#stopHearing = hub.onRecord((line) => {
      const call = this.#live.add(line)
      if (call) this.#notify(call)
      this.#cancelWrite ??= this.#schedule(this.#waitMs)
    })
    this.#lookAround(0)
  }

  /**
   * Calls the listener when calls start and end, before they are in the index. Returns a function that removes the
   * listener.
   */
  onCall(listener: (call: IndexedCall) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Resolves when everything recorded so far is in the index, or after 2 s, when the index may still lag behind. */
  async flush(): Promise<void> {
    if (this.#live.behind().length === 0) return
    this.#hurried++
    this.#stopResting()
    let cancel = () => {}
    const late = new Promise<void>((resolve) => {
      cancel = this.#clock.after(MAX_FLUSH_MS, resolve)
    })
    // Reading the index and the health check report a failing store; indexing continues when the store works again.
    await Promise.race([this.#commit.wait().catch(() => {}), late])
    cancel()
    this.#hurried--
  }

  /** Reads everything that is missing in the index from all records. Concurrent callers share one run of it. */
  catchUp(how: { readonly isGentle?: boolean; readonly isFromStart?: boolean } = {}): Promise<CatchUpReport> {
    this.#catching ??= this.#catchUp(how).finally(() => {
      this.#catching = undefined
    })
    return this.#catching
  }

  /** Clears the index and builds it again. */
  async reindex(): Promise<CatchUpReport> {
    await this.#catching?.catch(() => {})
    await this.#clear()
    // From the start, whatever the index contains by then: another process may write its newest lines in the meantime.
    return this.catchUp({ isFromStart: true })
  }

  async close(): Promise<void> {
    this.#closing.abort()
    this.#stopHearing?.()
    this.#cancelLook?.()
    await this.#catching?.catch(() => {})
    await this.flush()
    this.#cancelWrite?.()
  }

  #notify(call: IndexedCall): void {
    for (const listener of this.#listeners) listener(call)
  }

  #schedule(ms: number): () => void {
    return this.#clock.after(
      ms,
      () => {
        this.#cancelWrite = undefined
        // `#write` itself handles the failure and tries again.
        this.#commit.wait().catch(() => {})
      },
      { background: true },
    )
  }

  async #write(): Promise<void> {
    try {
      for (const run of this.#live.behind()) {
        if (run.missingTo > 0) await this.#readLive(run)
        else await this.#writeLive(run)
      }
      this.#waitMs = SOON_MS
    } catch (error) {
      this.#live.drop()
      this.#waitMs = Math.min(Math.max(this.#waitMs, 500) * 2, MAX_WAIT_MS)
      throw error
    } finally {
      const isBehind = this.#live.behind().length > 0
      if (isBehind && !this.#closing.signal.aborted) this.#cancelWrite ??= this.#schedule(this.#waitMs)
    }
  }

  /** Writes the lines of a run that are in its file by now. */
  async #writeLive(run: LiveRun): Promise<void> {
    const { seq, bytes, at } = run
    // If another process has cleared the index to rebuild it, everything is read again.
    if ((await this.#calls.position(run.run)) < run.indexedBytes) {
      run.missingTo = seq
      return this.#readLive(run)
    }
    const size = look(this.#folder, run.run)?.bytes ?? 0
    const ready = run.calls.filter((queued) => queued.bytes <= size && queued.seq <= seq)
    const last = bytes <= size ? { seq, bytes, at } : ready.at(-1)
    if (!last) return
    for (let index = 0; index + CALLS_A_WRITE < ready.length; index += CALLS_A_WRITE) {
      const part = ready.slice(index, index + CALLS_A_WRITE)
      await this.#put(
        run,
        part.map(({ call }) => call),
        part.at(-1)!,
      )
    }
    const rest = ready.slice(Math.floor(Math.max(0, ready.length - 1) / CALLS_A_WRITE) * CALLS_A_WRITE)
    await this.#put(
      run,
      rest.map(({ call }) => call),
      last,
    )
  }

  async #put(
    run: LiveRun,
    calls: readonly IndexedCall[],
    last: { readonly seq: number; readonly bytes: number; readonly at: string },
  ): Promise<void> {
    const at = Date.parse(last.at)
    const since = performance.now()
    await this.#calls.put({ calls: latestOf(calls), runs: [{ run: run.run, bytes: last.bytes, at }] })
    this.#live.settle(run, last)
    await this.#rest(performance.now() - since)
  }

  async #rest(workedMs: number): Promise<void> {
    if (this.#hurried > 0 || this.#closing.signal.aborted) return nextTurn()
    await new Promise<void>((resolve) => {
      const cancel = this.#clock.after(Math.min(workedMs * RESTS, MAX_REST_MS), resolve, { background: true })
      this.#stopResting = () => {
        cancel()
        resolve()
      }
    })
  }

  /** Indexes a run of which some lines were missed, by reading its record. */
  async #readLive(run: LiveRun): Promise<void> {
    const { bytes, seq } = run
    const read = await this.#read(run.run, { isGentle: this.#hurried === 0 })
    if (read === 'misplaced') return this.#clear()
    // If another process has indexed it, the index is complete, whatever the last line was.
    if (read.bytes >= bytes) this.#live.settle(run, { bytes: read.bytes, seq: Math.max(read.seq, seq) })
    else if (read.seq > 0) this.#live.settle(run, read)
  }

  #lookAround(afterMs: number): void {
    const look = async () => {
      try {
        await this.catchUp({ isGentle: true })
        this.#hasLookedAround = true
      } catch {
        // Other operations report a failing store or disk; here the work is only tried again.
      }
      if (!this.#closing.signal.aborted) this.#lookAround(LOOK_AROUND_MS)
    }
    this.#cancelLook = this.#clock.after(afterMs, () => void look(), { background: true })
  }

  async #catchUp({ isGentle = false, isFromStart = false }, isSecond = false): Promise<CatchUpReport> {
    const report = { runs: 0, calls: 0 }
    const pause = pauses(isGentle, this.#closing.signal)
    for (const { run, bytes } of await runsBelow(this.#folder)) {
      // `#write` indexes the runs of this process.
      if (this.#live.has(run) || this.#sizes.get(run) === bytes) continue
      const read = await this.#read(run, { isQuiet: !this.#hasLookedAround, isGentle, isFromStart })
      if (read === 'misplaced') {
        if (isSecond) continue
        await this.#clear()
        return this.#catchUp({ isGentle }, true)
      }
      this.#sizes.set(run, bytes)
      if (read.seq > 0) report.runs++
      report.calls += read.calls
      if (!(await pause())) break
    }
    return report
  }

  /** Reads a record from the indexed position on. `isQuiet` notifies no listeners. */
  #read(run: string, { isQuiet = true, isGentle = false, isFromStart = false }) {
    return indexRecord(this.#calls, this.#folder, run, {
      isFromStart,
      onCall: isQuiet ? () => {} : (call) => this.#notify(call),
      pause: pauses(isGentle, this.#closing.signal),
    })
  }

  async #clear(): Promise<void> {
    await this.#calls.clear()
    this.#sizes.clear()
    this.#live.forget()
  }
}

/**
 * Returns a function that yields to other work, with long pauses if `isGentle`. It resolves to `false` when it is time
 * to stop.
 */
function pauses(isGentle: boolean, signal: AbortSignal): () => Promise<boolean> {
  let since = performance.now()
  return async () => {
    const worked = performance.now() - since
    if (!isGentle || worked < WORK_MS) await nextTurn()
    // Closing ends the pause.
    else await sleep(Math.min(worked * RESTS_OF_READING, MAX_REST_MS), undefined, { signal }).catch(() => {})
    if (worked >= WORK_MS) since = performance.now()
    return !(isGentle && signal.aborted)
  }
}
