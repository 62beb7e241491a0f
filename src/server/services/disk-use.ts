import { stat, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../../core/index.ts'
import { sizeOfFolder } from '../../hub/index.ts'
import { errnoOf } from '../../lib/index.ts'
import type { Health } from '../../protocol/index.ts'

type Disk = NonNullable<Health['disk']>

const STORE_FILES = ['store.db', 'store.db-wal']
/** The records are many files: they are measured in the background, and seldom. */
const MEASURE_EVERY_MS = 300_000

/** How much room store and records take, and how much is left on their disks. */
export class DiskUse {
  readonly #folders: { readonly data: string; readonly runs: string }
  readonly #clock: Clock
  readonly #closing = new AbortController()
  #recordsBytes: number | undefined
  #measuredAt: number | undefined
  #measuring: Promise<void> | undefined

  constructor({
    folders,
    clock,
  }: { readonly folders: { readonly data: string; readonly runs: string }; readonly clock: Clock }) {
    this.#folders = folders
    this.#clock = clock
  }

  /** What is known now; the size of the records is left out until they were measured. */
  async describe(): Promise<Disk> {
    this.#measureSoon()
    const [storeBytes, disks] = await Promise.all([sizeOfStore(this.#folders.data), disksOf(this.#folders)])
    return { storeBytes, ...(this.#recordsBytes !== undefined && { recordsBytes: this.#recordsBytes }), disks }
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#measuring
  }

  #measureSoon(): void {
    const age = this.#clock.now() - (this.#measuredAt ?? Number.NEGATIVE_INFINITY)
    if (this.#measuring || age < MEASURE_EVERY_MS || this.#closing.signal.aborted) return
    this.#measuring = this.#measure().finally(() => {
      this.#measuring = undefined
    })
  }

  async #measure(): Promise<void> {
    try {
      this.#recordsBytes = await sizeOfFolder(this.#folders.runs, this.#closing.signal)
    } catch {
      // Closed meanwhile, or a disk that fails: that is said where records are written.
    }
    this.#measuredAt = this.#clock.now()
  }
}

async function sizeOfStore(folder: string): Promise<number> {
  const sizes = STORE_FILES.map(async (name) => (await stat(join(folder, name))).size)
  return (await Promise.allSettled(sizes)).reduce(
    (sum, each) => sum + (each.status === 'fulfilled' ? each.value : 0),
    0,
  )
}

async function disksOf(folders: { readonly data: string; readonly runs: string }): Promise<Disk['disks']> {
  const disks: Disk['disks'] = []
  for (const folder of ['data', 'runs'] as const) {
    try {
      const { bavail, blocks, bsize } = await statfs(folders[folder])
      disks.push({ folder, freeBytes: bavail * bsize, sizeBytes: blocks * bsize })
    } catch (error) {
      // Not there yet: it has no disk to speak of.
      if (errnoOf(error) === undefined) throw error
    }
  }
  return disks
}
