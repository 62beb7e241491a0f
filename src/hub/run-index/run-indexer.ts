import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { type CallIndex, type Clock, type IndexedCall, systemClock } from '../../core/index.ts'
import { GroupCommit } from '../../system/index.ts'
import type { Hub } from '../hub.ts'
import { LiveLines, type LiveRun } from './live-lines.ts'
import { indexRecord, latestOf, look, runsBelow } from './read-records.ts'

/** What an indexer works with. */
export interface RunIndexerOptions {
  readonly calls: CallIndex
  readonly runsFolder: string
  readonly clock?: Clock
}

/** How much of the records was new to the index. */
export interface CatchUpReport {
  readonly runs: number
  readonly calls: number
}

const SOON_MS = 50
/** One write of the index stays short: everything else waits for it. */
const CALLS_A_WRITE = 200
/** Calls come first: while nobody looks at the index, it works for one part of its time and rests for so many. */
const RESTS = 19
const MAX_REST_MS = 1_000
const RESTS_OF_READING = 9
/** Whoever looks at the index waits for what is behind, but not longer. */
const MAX_FLUSH_MS = 2_000
const LOOK_AROUND_MS = 2_000
const MAX_WAIT_MS = 30_000
/** Work in the background, then a pause. */
const WORK_MS = 20

/**
 * Keeps the index over run records up to date: with the lines of this process as they are appended, with those of others
 * by reading their records. Only what a record's file has is indexed, so that after a crash the index is at most behind.
 */
export class RunIndexer {
  readonly #calls: CallIndex
  readonly #folder: string
  readonly #clock: Clock
  readonly #live = new LiveLines()
  readonly #listeners = new Set<(call: IndexedCall) => void>()
  readonly #commit = new GroupCommit(() => this.#write())
  /** Sizes of the records that are in the index, as far as whole lines go. */
  readonly #sizes = new Map<string, number>()
  readonly #closing = new AbortController()
  #cancelWrite: (() => void) | undefined
  #cancelLook: (() => void) | undefined
  #stopHearing: (() => void) | undefined
  #catching: Promise<CatchUpReport> | undefined
  #waitMs = SOON_MS
  /** Those who wait for it. */
  #hurried = 0
  #stopResting = () => {}
  #hasLookedAround = false

  constructor({ calls, runsFolder, clock = systemClock }: RunIndexerOptions) {
    this.#calls = calls
    this.#folder = runsFolder
    this.#clock = clock
  }

  /** Follows the calls of a hub, and looks now and then for what other processes have recorded. */
  follow(hub: Pick<Hub, 'onRecord'>): void {
    this.#stopHearing = hub.onRecord((line) => {
      const call = this.#live.hear(line)
      if (call) this.#tell(call)
      this.#cancelWrite ??= this.#schedule(this.#waitMs)
    })
    this.#lookAround(0)
  }

  /** Hears of calls as they start and end, before the index has them. Returns how to stop. */
  onCall(listener: (call: IndexedCall) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Resolves when what was recorded before is in the index; when that cannot be in time, the index is left behind for now. */
  async flush(): Promise<void> {
    if (this.#live.behind().length === 0) return
    this.#hurried++
    this.#stopResting()
    let cancel = () => {}
    const late = new Promise<void>((resolve) => {
      cancel = this.#clock.after(MAX_FLUSH_MS, resolve)
    })
    // A failure is told by whoever reads the index, and by the health of the service: this one goes on when the store does.
    await Promise.race([this.#commit.wait().catch(() => {}), late])
    cancel()
    this.#hurried--
  }

  /** Reads what the index lacks of all records. Whoever asks while it is done waits for the same one. */
  catchUp(how: { readonly isGentle?: boolean; readonly isFromStart?: boolean } = {}): Promise<CatchUpReport> {
    this.#catching ??= this.#catchUp(how).finally(() => {
      this.#catching = undefined
    })
    return this.#catching
  }

  /** Builds the index anew. */
  async reindex(): Promise<CatchUpReport> {
    await this.#catching?.catch(() => {})
    await this.#clear()
    // From the start, whatever the index says by then: another process may go on writing its newest lines meanwhile.
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

  #tell(call: IndexedCall): void {
    for (const listener of this.#listeners) listener(call)
  }

  #schedule(ms: number): () => void {
    return this.#clock.after(
      ms,
      () => {
        this.#cancelWrite = undefined
        // Told and tried again by `#write` itself.
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

  /** What was heard and is in the file by now. */
  async #writeLive(run: LiveRun): Promise<void> {
    const { seq, bytes, at } = run
    // Somebody may have emptied the index to build it anew: what was in it before is to be read again.
    if ((await this.#calls.position(run.run)) < run.indexedBytes) {
      run.missingTo = seq
      return this.#readLive(run)
    }
    const size = (await look(this.#folder, run.run))?.bytes ?? 0
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

  /** A run of which not every line was heard. */
  async #readLive(run: LiveRun): Promise<void> {
    const { bytes, seq } = run
    const read = await this.#read(run.run, { isGentle: this.#hurried === 0 })
    if (read === 'misplaced') return this.#clear()
    // Somebody else may have read it: then the index has all of it, whatever the last line was.
    if (read.bytes >= bytes) this.#live.settle(run, { bytes: read.bytes, seq: Math.max(read.seq, seq) })
    else if (read.seq > 0) this.#live.settle(run, read)
  }

  #lookAround(afterMs: number): void {
    const look = async () => {
      try {
        await this.catchUp({ isGentle: true })
        this.#hasLookedAround = true
      } catch {
        // A store or a disk that fails is told by whoever asks it; here it is only tried again.
      }
      if (!this.#closing.signal.aborted) this.#lookAround(LOOK_AROUND_MS)
    }
    this.#cancelLook = this.#clock.after(afterMs, () => void look(), { background: true })
  }

  async #catchUp({ isGentle = false, isFromStart = false }, isSecond = false): Promise<CatchUpReport> {
    const report = { runs: 0, calls: 0 }
    const pause = pauses(isGentle, this.#closing.signal)
    for (const { run, bytes } of await runsBelow(this.#folder)) {
      // What this process writes is written by `#write`.
      if (this.#live.has(run) || this.#sizes.get(run) === bytes) continue
      const read = await this.#read(run, { isTold: !this.#hasLookedAround, isGentle, isFromStart })
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

  /** Reads on in a record from where the index is. */
  #read(run: string, { isTold = true, isGentle = false, isFromStart = false }) {
    return indexRecord(this.#calls, this.#folder, run, {
      isFromStart,
      onCall: isTold ? () => {} : (call) => this.#tell(call),
      pause: pauses(isGentle, this.#closing.signal),
    })
  }

  async #clear(): Promise<void> {
    await this.#calls.clear()
    this.#sizes.clear()
    this.#live.forget()
  }
}

/** Lets others have their turn; whoever is gentle rests most of the time. False when it is time to stop. */
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
