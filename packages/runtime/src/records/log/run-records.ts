import { dirname, join, resolve } from 'node:path'
import { type Artifact, assertRunId, ToolError } from '@tool-hub/core'
import { syncFolder } from '@tool-hub/sandbox/system'
import type { ArtifactWriter } from '../artifact-writer.ts'
import { Artifacts } from '../artifacts.ts'
import { type AppendFile, WriteSchedule } from './append-file.ts'
import type { CallLog } from './call-log.ts'
import { diskError } from './disk-error.ts'
import { type ChainLink, encodeEvent, linkLine } from './event-line.ts'
import type { EventBody } from './events.ts'
import { type Head, type RecordedTaint, readHeadSync, readLastHeadSync, writeHead, writeLastHead } from './head.ts'
import { HeadKeeper } from './head-keeper.ts'
import { closeRunFiles, openRunFiles, type RunFiles, type RunRecordsOptions, recover } from './open-run.ts'
import type { TaintCleared } from './run-events.ts'
import { hasMarks, readTaintMarks, removeMarks, withMarks } from './run-facts.ts'
import { KeptContent, type ShippedRecord, UnsharedEnd } from './shipment.ts'

export type { RecordedLine, RunRecordsOptions } from './open-run.ts'

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
  /** What undo needs, for other machines. */
  readonly kept: KeptContent
  readonly #schedule: WriteSchedule
  readonly #keeper: HeadKeeper | undefined
  readonly #shipped: ShippedRecord | undefined
  readonly #started: string
  /** Whether no process has used the run before. */
  readonly isNew: boolean
  /** Whether an earlier version has left its marks in the folder of the run. */
  readonly #hasMarks: boolean
  #taint: RecordedTaint
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
    const { content } = options.shipment ?? {}
    const sharing = { isWaitedFor: this.#isWaitedFor, shared: content && { content, run } }
    this.#artifacts = new Artifacts(join(folder, 'artifacts'), { isDurable: options.durability === 'full', ...sharing })
    this.kept = new KeptContent(join(folder, 'undo'), sharing)
    this.#schedule = new WriteSchedule(files.events, options)
    const recovery = recover(folder, files.events, files.log, readHeadSync(folder))
    this.#last = recovery.last
    this.isNew = recovery.last.seq === 0
    this.#hasMarks = !this.isNew && hasMarks(folder)
    this.#taint = recovery.taint
    this.#bytes = files.events.bytes
    this.#shipped = options.shipment?.open(files.events)
    const lastHead = readLastHeadSync(dirname(folder))
    this.append({
      type: 'run-opened',
      run,
      pid: process.pid,
      durability: options.durability,
      ...(options.shipment && { process: options.shipment.process, epoch: options.shipment.epoch }),
      ...(recovery.last.seq === 0 && { after: lastHead ?? null }),
      ...(options.heads && { heads: 'store' }),
      ...(options.principal !== undefined && { principal: options.principal }),
    })
    this.#keeper =
      options.heads &&
      new HeadKeeper(options.heads, {
        run,
        opening: this.#last.hash,
        continues: recovery.last,
        clock: options.clock,
        synced: () => this.#syncedAndShared(),
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
    if (this.#hasMarks) this.#adoptMarks()
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
    if (this.#shipped?.problem) return this.#shipped.problem
    // The disk may have space again: then nobody has to wait for the next try.
    return this.#events.problem && this.#events.flush()
  }

  /**
   * Tries to make durable what a sync that failed has left behind. Rejects with the problem if the disk still refuses;
   * returns `undefined` if the last sync succeeded.
   */
  retrySync(): Promise<void> | undefined {
    return this.#events.isSyncLost ? this.#synced() : undefined
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
    if (this.#keeper?.isRequested === false) this.#keeper.request()
    this.#shipped?.note()
    const { onAppend } = this.#options
    if (!onAppend) return
    this.#bytes += Buffer.byteLength(linked.line)
    onAppend({ run: this.run, seq: linked.seq, time: this.#time, event, bytes: this.#bytes })
  }

  /** What has tainted the run. */
  get taint(): RecordedTaint {
    return this.#taint
  }

  /**
   * Records what has tainted the run, so that it survives kill -9; `synced` waits until it survives a loss of power.
   * Returns the error if the disk refuses: the line is kept and tried again, unless the memory for lines is full.
   */
  appendTaint(sources: readonly string[]): ToolError | undefined {
    this.#taint = { ...this.#taint, sources }
    this.append({ type: 'run-tainted', sources })
    return this.#events.flush()
  }

  /** Records that the taint was cleared. If that cannot be made durable, the record says that the run is still tainted. */
  async clearTaint(cleared: Omit<TaintCleared, 'type'>): Promise<void> {
    this.append({ type: 'taint-cleared', ...cleared })
    const before = this.#taint
    this.#taint = { sources: [], wasCleared: true }
    try {
      await this.synced()
      if (this.#hasMarks) await removeMarks(this.folder)
    } catch (error) {
      this.appendTaint([...new Set([...before.sources, ...this.#taint.sources])])
      throw diskError(`The taint of run ${this.run} cannot be cleared`, this.folder, error)
    }
  }

  /** Continues with what an earlier version has left in the folder; it is removed when the head of the run says the same. */
  #adoptMarks(): void {
    const before = this.#taint.sources
    this.#taint = withMarks(this.#taint, readTaintMarks(this.folder))
    const { sources } = this.#taint
    if (sources.length > before.length) this.append({ type: 'run-tainted', sources })
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
   * Resolves when everything appended so far survives a loss of power, and with `shared` a loss of this machine. Rejects
   * with the problem if the disk or the store refuses.
   */
  synced(): Promise<void> {
    return this.#isWaitedFor ? this.#syncedAndShared() : this.#synced()
  }

  /**
   * The same for the end of a call that was executed: it waits while the store refuses. Rejects with `UnsharedEnd` if the
   * end cannot be shared.
   */
  ended(): Promise<void> {
    if (!this.#isWaitedFor) return this.#synced()
    return this.#synced().then(() => this.#shipped?.shared({ isPatient: true }).catch(UnsharedEnd.reject))
  }

  /**
   * Resolves when a closed record is shared completely, however long the store is away, or the run has moved. Returns
   * `undefined` if nothing waits to be shared.
   */
  drained(): Promise<void> | undefined {
    return this.#shipped?.close()
  }

  get #isWaitedFor(): boolean {
    return this.#options.durability === 'shared'
  }

  async #synced(): Promise<void> {
    this.#foldersSynced ??= this.#syncFolders()
    await Promise.all([this.#foldersSynced, this.#events.synced()])
  }

  async #syncedAndShared(): Promise<void> {
    await this.#synced()
    await this.#shipped?.shared()
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

  /** Copies an artifact that the run made on another machine to its folder. Returns false if there is none. */
  fetchArtifact(hash: string): Promise<boolean> {
    return this.#artifacts.fetch(hash)
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

  /**
   * Closes the files of a run that another process continues. Its record ends here as after a crash: nothing is added, and
   * nothing refers to its last lines.
   */
  abandon(): Promise<void> {
    this.#closing ??= this.#abandon()
    return this.#closing
  }

  async #abandon(): Promise<void> {
    this.#schedule.stop()
    this.#keeper?.stop()
    this.#events.flush()
    this.#log.flush()
    closeRunFiles(this.#files)
  }

  async #close(): Promise<void> {
    this.#interruptOpenCalls()
    const { calls, failures, runLater } = this.#log.lines
    const lastLineAt = this.#events.bytes
    this.append({ type: 'run-closed', calls, failures, ...(runLater.size > 0 && { runLater: [...runLater] }) })
    try {
      this.#schedule.stop()
      await this.#synced()
      this.#log.flush()
      // A record that another process continues ends here as after a crash: nothing may refer to its last lines.
      if (this.#shipped?.problem) return
      // First in the store: a reader of head.json may expect it there.
      await this.#keeper?.close()
      // As above: until everything is shared, another process may continue without the last lines.
      if (this.drained()) return
      await writeHead(this.folder, { ...this.#head(), ...(runLater.size > 0 && { lastLineAt }) })
      if (this.#hasMarks) await removeMarks(this.folder)
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
      taint: this.#taint,
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
