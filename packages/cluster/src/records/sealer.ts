import type { Clock } from '@tool-hub/core'
import { sha256 } from '@tool-hub/core/lib'
import type { SegmentStore, StoredSegment } from '../store/types.ts'
import { hashInName, type ObjectBucket } from './bucket.ts'

/** What a sealer needs. */
export interface SealerOptions {
  readonly segments: Pick<SegmentStore, 'read' | 'move'>
  readonly bucket: ObjectBucket
  readonly clock: Clock
  /** Called if the bucket does not take segments; they stay in the store. */
  readonly onProblem?: (error: unknown) => void
}

/** Segments of an open run are sealed when they are this large, so that the newest stay in the store. */
const MIN_OBJECT_BYTES = 1024 * 1024
const MAX_OBJECT_BYTES = 4 * 1024 * 1024
/** A segment of a megabyte may follow four. */
const MAX_READ_BYTES = 32 * 1024 * 1024
const RETRY_MS = 60_000
const PAGE = 8

/** Moves segments from the store to objects in a bucket, one run after the other. */
export class Sealer {
  readonly #options: SealerOptions
  readonly #waiting = new Map<string, { isClosed: boolean }>()
  readonly #unsealed = new Map<string, number>()
  #working: Promise<void> | undefined
  #cancelRetry: (() => void) | undefined
  #isClosed = false

  constructor(options: SealerOptions) {
    this.#options = options
  }

  /** Notes that a run has shared so many bytes. */
  note(run: string, bytes: number): void {
    const unsealed = (this.#unsealed.get(run) ?? 0) + bytes
    this.#unsealed.set(run, unsealed)
    if (unsealed >= MIN_OBJECT_BYTES) this.request(run)
  }

  /** Seals what is large enough, and everything of a closed run. */
  request(run: string, { isClosed = false } = {}): void {
    if (this.#isClosed) return
    this.#unsealed.delete(run)
    this.#waiting.set(run, { isClosed: isClosed || this.#waiting.get(run)?.isClosed === true })
    this.#working ??= this.#work().finally(() => {
      this.#working = undefined
    })
  }

  /** Ends after the object that is being stored. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#cancelRetry?.()
    await this.#working
  }

  /** Seals a run now. Returns how many objects were made. */
  async seal(run: string, { isClosed }: { readonly isClosed: boolean }): Promise<number> {
    let objects = 0
    let from = 1
    for (;;) {
      const next = await this.#nextGroup(run, from, isClosed)
      if (!next) return objects
      await this.#store(run, next)
      from = next.at(-1)!.last + 1
      objects++
    }
  }

  async #work(): Promise<void> {
    for (const [run, { isClosed }] of this.#waiting) {
      if (this.#isClosed) return
      this.#waiting.delete(run)
      try {
        await this.seal(run, { isClosed })
      } catch (error) {
        this.#options.onProblem?.(error)
        this.#waiting.set(run, { isClosed })
        this.#retryLater()
        return
      }
    }
  }

  #retryLater(): void {
    this.#cancelRetry ??= this.#options.clock.after(
      RETRY_MS,
      () => {
        this.#cancelRetry = undefined
        const [run] = this.#waiting.keys()
        if (run !== undefined) this.request(run)
      },
      { background: true },
    )
  }

  /** The next segments with lines, as many as make an object. */
  async #nextGroup(run: string, from: number, isClosed: boolean): Promise<StoredSegment[] | undefined> {
    const group: StoredSegment[] = []
    let bytes = 0
    for (let next = from; ; ) {
      const page = await this.#options.segments.read(run, { from: next, limit: PAGE })
      for (const segment of page) {
        if (segment.lines === undefined) {
          if (group.length > 0) return group
          continue
        }
        group.push(segment)
        bytes += Buffer.byteLength(segment.lines)
        if (bytes >= MAX_OBJECT_BYTES) return group
      }
      const last = page.at(-1)
      if (!last || page.length < PAGE) break
      next = last.last + 1
    }
    return group.length > 0 && (isClosed || bytes >= MIN_OBJECT_BYTES) ? group : undefined
  }

  /** The lines leave the store only after they were read back from the bucket. */
  async #store(run: string, group: readonly StoredSegment[]): Promise<void> {
    const { bucket, segments } = this.#options
    const content = Buffer.from(group.map(({ lines }) => lines).join(''))
    const hash = sha256(content)
    const [first, last] = [group[0]!.first, group.at(-1)!.last]
    const object = `segments/${run}/${first}-${last}-${hash}.jsonl`
    await bucket.put(object, content, hash)
    await bucket.get(object, { hash, maxBytes: content.byteLength })
    await segments.move(run, { first, last, object })
  }
}

/** Reads a sealed object, whose name says its hash. */
export function readSealed(bucket: ObjectBucket, name: string): Promise<Uint8Array> {
  return bucket.get(name, { hash: hashInName(name), maxBytes: MAX_READ_BYTES })
}
