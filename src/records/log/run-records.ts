import { dirname, join, resolve } from 'node:path'
import {
  type Artifact,
  assertRunId,
  type Clock,
  type Durability,
  type HeadStore,
  messageOf,
  ToolError,
} from '../../core/index.ts'
import { syncFolder } from '../../system/index.ts'
import type { ArtifactWriter } from '../artifacts/artifact-writer.ts'
import { Artifacts } from '../artifacts/artifacts.ts'
import { type AppendFile, type Disk, WriteSchedule } from './append-file.ts'
import type { CallLog } from './call-log.ts'
import { diskError } from './disk-error.ts'
import { type ChainLink, encodeEvent, linkLine } from './event-line.ts'
import type { EventBody } from './events.ts'
import { type Head, readHeadSync, readLastHeadSync, writeHead, writeLastHead } from './head.ts'
import { closeRunFiles, openRunFiles, type RunFiles, recover } from './open-run.ts'

/** A line of a record, as it is appended. */
export interface RecordedLine {
  /** The run whose record it belongs to. */
  readonly run: string
  /** Number of the line in its run, counted up. */
  readonly seq: number
  /** When it was written, as ISO 8601. */
  readonly time: string
  /** What happened, with secrets removed. */
  readonly event: EventBody
  /** Size of the run's record including this line. */
  readonly bytes: number
}

/** How a run is recorded. */
export interface RunRecordsOptions {
  readonly durability: Durability
  readonly clock: Clock
  /** Called with every line that is appended. */
  readonly onAppend?: (line: RecordedLine) => void
  /** Called when the disk begins to refuse writes, and when events are lost. */
  readonly onProblem?: (error: ToolError) => void
  /** Where the head of the run is kept outside of its folder. */
  readonly heads?: Pick<HeadStore, 'put'>
  /** For tests of a failing disk. */
  readonly disk?: Disk
}

/**
 * The record of one run, in its folder: events.jsonl is the source of truth, a chain of lines each with a hash that
 * covers the one before; the logs are derived from it.
 */
export class RunRecords {
  readonly run: string
  readonly folder: string
  readonly workspace: string
  /** Finished results of the run, kept with its record. */
  readonly deliverables: string
  readonly #options: RunRecordsOptions
  readonly #files: RunFiles
  readonly #events: AppendFile
  readonly #log: CallLog
  readonly #artifacts: Artifacts
  readonly #schedule: WriteSchedule
  readonly #keeper: HeadKeeper | undefined
  readonly #started: string
  /** Whether no process has used the run before. */
  readonly isNew: boolean
  #last: ChainLink
  /** Size of the file once all waiting lines are written. */
  #bytes: number
  #now = Number.NaN
  #time = ''
  #lost = 0
  #foldersSynced: Promise<void> | undefined
  #closing: Promise<void> | undefined

  /** Opens a new or existing run. Throws if it cannot be recorded: a hub without its record must not start. */
  static open(root: string, run: string, options: RunRecordsOptions): RunRecords {
    assertRunId(run)
    const folder = join(resolve(root), run)
    try {
      const files = openRunFiles(folder, `Run ${run}`, options)
      try {
        return new RunRecords(folder, run, files, options)
      } catch (error) {
        closeRunFiles(files)
        throw error
      }
    } catch (error) {
      throw diskError(`Run ${run} cannot be recorded`, folder, error)
    }
  }

  private constructor(folder: string, run: string, files: RunFiles, options: RunRecordsOptions) {
    this.run = run
    this.folder = folder
    this.workspace = join(folder, 'workspace')
    this.deliverables = join(folder, 'deliverables')
    this.#options = options
    this.#files = files
    this.#events = files.events
    this.#log = files.log
    this.#artifacts = new Artifacts(join(folder, 'artifacts'), { isDurable: options.durability === 'full' })
    this.#schedule = new WriteSchedule(files.events, options)
    const recovery = recover(folder, files.events, files.log, readHeadSync(folder))
    this.#last = recovery.last
    this.isNew = recovery.last.seq === 0
    this.#bytes = files.events.bytes
    const lastHead = readLastHeadSync(dirname(folder))
    this.append({
      type: 'run-opened',
      run,
      pid: process.pid,
      durability: options.durability,
      ...(recovery.last.seq === 0 && { after: lastHead ?? null }),
      ...(options.heads && { heads: 'store' }),
    })
    this.#keeper =
      options.heads &&
      new HeadKeeper(options.heads, {
        run,
        opening: this.#last.hash,
        continues: recovery.last,
        clock: options.clock,
        synced: () => this.synced(),
        last: () => this.#last,
        onProblem: options.onProblem,
      })
    this.#keeper?.request()
    this.#started = recovery.started ?? this.#time
    if (recovery.torn) this.append({ type: 'line-torn', ...recovery.torn })
    // A run that was removed and started again has an older head of the same name: its first line names that one.
    const known = recovery.last.seq > 0 && lastHead?.run === run ? lastHead.seq : 0
    const missing = Math.max(recovery.missing, known - recovery.last.seq)
    if (missing > 0) this.append({ type: 'records-lost', events: missing })
    this.#interruptOpenCalls()
    const refused = this.#events.flush()
    if (!refused) return
    this.#keeper?.stop()
    throw refused
  }

  /**
   * Why the disk refuses writes. Until it takes lines again, calls with side effects must be denied: there would be no
   * proof.
   */
  get problem(): ToolError | undefined {
    // The disk may have space again: then nobody has to wait for the next try.
    return this.#events.problem && this.#events.flush()
  }

  /** Adds an event to the chain, to be written soon. Never throws, whatever a tool has put into the event. */
  append(event: EventBody): void {
    if (this.#closing || this.#events.isFull) {
      this.#lose(event)
      return
    }
    if (this.#lost > 0) this.#tellLoss()
    const now = this.#options.clock.now()
    if (now !== this.#now) {
      this.#now = now
      this.#time = new Date(now).toISOString()
    }
    const body = encodeEvent(event)
    if (body === undefined) {
      this.append({ type: 'records-lost', events: 1 })
      return
    }
    const linked = linkLine(this.#last, this.#time, body)
    this.#last = linked
    this.#events.append(linked.line)
    this.#log.add(event, { seq: linked.seq, time: this.#time, body })
    this.#schedule.request()
    this.#keeper?.request()
    const { onAppend } = this.#options
    if (!onAppend) return
    this.#bytes += Buffer.byteLength(linked.line)
    onAppend({ run: this.run, seq: linked.seq, time: this.#time, event, bytes: this.#bytes })
  }

  /**
   * Resolves, or returns `undefined` immediately, when everything appended so far is in the file, where it survives
   * kill -9. Rejects with the problem if the disk refuses; the lines are kept and tried again.
   */
  written(callsInFlight = this.#log.lines.open.size): Promise<void> | undefined {
    if (this.#options.durability === 'full') return this.synced()
    return this.#schedule.written(callsInFlight)
  }

  /**
   * Resolves when everything appended so far survives a loss of power. Rejects with the problem if the disk refuses.
   */
  async synced(): Promise<void> {
    this.#foldersSynced ??= this.#syncFolders()
    await Promise.all([this.#foldersSynced, this.#events.synced()])
  }

  /** Stores large content under its hash. */
  putArtifact(
    content: string | Uint8Array,
    options?: { readonly name?: string; readonly mediaType?: string },
  ): Promise<Artifact> {
    return this.#artifacts.put(content, options)
  }

  /** Stores content of unknown size under its hash, piece by piece. Finish or discard the writer. */
  openArtifact(): ArtifactWriter {
    return this.#artifacts.open()
  }

  /** Returns the content of `artifact:<sha256>`. */
  readArtifact(ref: string): Promise<Uint8Array> {
    return this.#artifacts.read(ref)
  }

  /** Closes the descriptors of an unused run. The lock and the chain stay; the next event opens the files again. */
  release(): void {
    if (this.#closing || this.#log.lines.open.size > 0) return
    this.#log.release()
    this.#events.release()
  }

  /** Whether the record was removed after the run was released. */
  get isGone(): boolean {
    return this.#events.isGone
  }

  /** Closes the run in good order. Rejects if the disk did not take everything; the run is released anyway. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    this.#interruptOpenCalls()
    const { calls, failures } = this.#log.lines
    this.append({ type: 'run-closed', calls, failures })
    try {
      this.#schedule.stop()
      await this.synced()
      this.#log.flush()
      // First in the store: a reader of head.json may expect it there.
      await this.#keeper?.close()
      await writeHead(this.folder, this.#head())
      await writeLastHead(dirname(this.folder), { run: this.run, ...this.#last })
    } catch (error) {
      throw diskError(`Run ${this.run} cannot be closed`, this.folder, error)
    } finally {
      this.#keeper?.stop()
      closeRunFiles(this.#files)
    }
  }

  #head(): Head {
    const { tools, errors } = this.#log.bytes
    return {
      run: this.run,
      seq: this.#last.seq,
      hash: this.#last.hash,
      bytes: this.#events.bytes,
      toolsBytes: tools,
      errorsBytes: errors,
      calls: this.#log.lines.calls,
      failures: this.#log.lines.failures,
      started: this.#started,
      ended: this.#time,
    }
  }

  /** Once per run, and again only after the disk refused. */
  async #syncFolders(): Promise<void> {
    try {
      await Promise.all([syncFolder(this.folder), syncFolder(dirname(this.folder))])
    } catch (error) {
      this.#foldersSynced = undefined
      throw diskError(`Run ${this.run} cannot be made durable`, this.folder, error)
    }
  }

  #interruptOpenCalls(): void {
    for (const [callId, { tool }] of [...this.#log.lines.open]) {
      this.append({ type: 'call-interrupted', callId, tool, status: 'interrupted' })
    }
  }

  #lose(event: EventBody): void {
    if (event.type === 'call-ended') this.#log.lines.forget(event.callId)
    this.#lost++
    if (this.#lost > 1) return
    const why = this.#closing ? 'the run is closed' : 'the disk refuses, and the memory for waiting events is full'
    this.#options.onProblem?.(
      new ToolError('RECORDS_UNAVAILABLE', `Run ${this.run} cannot record ${event.type}: ${why}.`),
    )
  }

  #tellLoss(): void {
    const events = this.#lost
    this.#lost = 0
    this.append({ type: 'records-lost', events })
  }
}

/** The head of a growing run is in the store after this time at the latest. */
const KEEP_MS = 2_000

/** The run whose heads are kept. */
interface KeptRun {
  readonly run: string
  /** Hash of the line that opened it. */
  readonly opening: string
  /** The last line before that one. */
  readonly continues: ChainLink
  readonly clock: Clock
  /** Makes everything appended so far durable: the store must never know more than the record. */
  readonly synced: () => Promise<void>
  readonly last: () => ChainLink
  readonly onProblem?: (error: ToolError) => void
}

/** Writes the head of an open run to the store: two seconds after a line at the latest, and when the run is closed. */
export class HeadKeeper {
  readonly #heads: Pick<HeadStore, 'put'>
  readonly #run: KeptRun
  #cancel: (() => void) | undefined
  #keeping: Promise<void> | undefined
  #isClosed = false
  #keptSeq = 0
  #isProblemTold = false

  constructor(heads: Pick<HeadStore, 'put'>, run: KeptRun) {
    this.#heads = heads
    this.#run = run
  }

  /** Call this when the run has grown. It runs in every call, so it only sets a timer or does nothing. */
  request(): void {
    if (this.#cancel || this.#isClosed) return
    this.#cancel = this.#run.clock.after(KEEP_MS, this.#timer, { background: true })
  }

  /** Writes the head of a run that is closed. Never rejects: the record itself is complete. */
  async close(): Promise<void> {
    this.stop()
    await this.#keeping
    await this.#keep()
  }

  /** Cancels the timer. */
  stop(): void {
    this.#isClosed = true
    this.#cancel?.()
  }

  readonly #timer = (): void => {
    this.#keeping = this.#keep().finally(() => {
      this.#keeping = undefined
      this.#cancel = undefined
      if (this.#run.last().seq > this.#keptSeq) this.request()
    })
  }

  async #keep(): Promise<void> {
    const { run, opening, continues, clock, synced, last } = this.#run
    const { seq, hash } = last()
    try {
      await synced()
      await this.#heads.put({ run, opening, seq, hash, at: clock.now() }, continues)
      this.#keptSeq = seq
      this.#isProblemTold = false
    } catch (error) {
      if (!this.#isProblemTold) this.#run.onProblem?.(problem(run, error))
      this.#isProblemTold = true
    }
  }
}

function problem(run: string, cause: unknown): ToolError {
  return new ToolError(
    'RECORDS_UNAVAILABLE',
    `The store does not take the head of run ${run}, so that its end cannot be proven: ${messageOf(cause)}`,
    { hint: 'See tool-hub doctor for the state of the store.', cause },
  )
}
