import { join } from 'node:path'
import type { BucketOptions, Clock, Store, ToolError } from '@tool-hub/core'
import type { RecordShipment } from '@tool-hub/runtime/records/log'
import type { RunLease } from '../store/types.ts'
import { ObjectBucket } from './bucket.ts'
import { continueRecord } from './continue-record.ts'
import { readSealed, Sealer } from './sealer.ts'
import { SharedContent } from './shared-content.ts'
import type { SharedSource } from './shared-lines.ts'
import { Shipper, type ShippingState } from './shipper.ts'

/** What the shared records of a hub need. */
export interface SharedRecordsOptions {
  readonly store: Pick<Store, 'segments' | 'blobs'>
  readonly clock: Clock
  /** Where sealed segments and large content are. Default: in the store. */
  readonly bucket?: BucketOptions
  /** Called for a run that this process has lost to another. */
  readonly onMoved?: (run: string, problem: ToolError) => void
  /** Called when the store or the bucket begins to refuse records. */
  readonly onProblem?: (error: unknown) => void
}

/** Content that no run uses is removed after a day: a process may be about to use it. */
const UNUSED_MS = 86_400_000
const MAX_REMOVED = 500
const SWEEP_EVERY_MS = 3_600_000

/** What a service does with the records that all processes share. */
export interface SharedRecordAccess {
  /** Where they are read from. */
  readonly source: SharedSource
  /** Removes the shared record of a run that is removed; its content goes when no other run uses it. */
  remove(run: string): Promise<void>
}

/** The records, artifacts and undo data of runs, as all processes that share a store have them. */
export class SharedRecords implements SharedRecordAccess {
  readonly content: SharedContent
  readonly source: SharedSource
  readonly #options: SharedRecordsOptions
  readonly #bucket: ObjectBucket | undefined
  readonly #shipper: Shipper
  readonly #sealer: Sealer | undefined
  #cancelSweep: () => void

  constructor(options: SharedRecordsOptions) {
    const { store, clock, onMoved, onProblem } = options
    const bucket = options.bucket && new ObjectBucket(options.bucket, clock)
    const { segments, blobs } = store
    this.#options = options
    this.#bucket = bucket
    this.content = new SharedContent({ blobs, bucket, clock, onProblem })
    this.source = { segments, ...(bucket && { readObject: (name) => readSealed(bucket, name) }) }
    this.#sealer = bucket && new Sealer({ segments, bucket, clock, onProblem })
    this.#shipper = new Shipper({
      segments,
      clock,
      onMoved,
      onProblem,
      onShared: this.#sealer && ((run, bytes) => this.#sealer?.note(run, bytes)),
    })
    this.#cancelSweep = this.#sweepLater()
  }

  /** How far this process is with sharing its records. */
  state(): ShippingState {
    return this.#shipper.state()
  }

  #sweepLater(): () => void {
    const sweep = () => {
      this.#cancelSweep = this.#sweepLater()
      this.sweep().catch((error) => this.#options.onProblem?.(error))
    }
    return this.#options.clock.after(SWEEP_EVERY_MS, sweep, { background: true })
  }

  /** Makes the record of a run on this machine continue the shared one, before the run is opened. */
  async prepare(runsFolder: string, run: string, held: RunLease): Promise<RecordShipment> {
    const position = await continueRecord(join(runsFolder, run), run, this.source)
    return this.#shipper.shipment(run, { held, position, content: this.content })
  }

  /** Call this when a closed run is shared completely. */
  closed(run: string): void {
    this.#sealer?.request(run, { isClosed: true })
  }

  /** Removes the shared record of a run that is removed; its content goes when no other run uses it. */
  async remove(run: string): Promise<void> {
    const { segments, blobs } = this.#options.store
    await blobs.release(run)
    await this.#removeObjects(await segments.remove(run))
  }

  /** Removes content that no run has used for a day; every hour. */
  async sweep(): Promise<void> {
    const { store, clock } = this.#options
    await this.#removeObjects(await store.blobs.removeUnused({ before: clock.now() - UNUSED_MS, limit: MAX_REMOVED }))
  }

  /** Shares what is left, as far as the store takes it now. Close the runs first. */
  async close(): Promise<void> {
    this.#cancelSweep()
    await this.#shipper.close()
    await this.#sealer?.close()
    this.#bucket?.close()
  }

  /** An object that cannot be removed stays in the bucket, where nothing names it. */
  async #removeObjects(names: readonly string[]): Promise<void> {
    for (const name of names) await this.#bucket?.remove(name).catch((error) => this.#options.onProblem?.(error))
  }
}
