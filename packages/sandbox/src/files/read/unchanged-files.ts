import { type BigIntStats, fstatSync } from 'node:fs'
import { LRUCache } from 'lru-cache'

const MAX_FILES = 32

/** A file changed less than this before it was read may change again without its times showing it. */
const SETTLING_MS = 100

/**
 * Remembers something about the content of files, as long as they stay as they were when it was learned. By device and
 * inode, for the whole process: guards come and go with runs.
 */
export class UnchangedFiles<T extends object> {
  readonly #known = new LRUCache<string, { readonly stats: BigIntStats; readonly value: T }>({ max: MAX_FILES })

  /** What is known of a file with these stats; undefined if nothing is, or if it was changed since. */
  get(stats: BigIntStats): T | undefined {
    const found = this.#known.get(keyOf(stats))
    return found && isSame(found.stats, stats) ? found.value : undefined
  }

  /** Returns what `read` finds out about the first `size` bytes of an open file; remembered if it was the whole file, and unchanged meanwhile. */
  async learn(descriptor: number, size: number, read: () => Promise<T>): Promise<T> {
    const startedMs = Date.now()
    const stats = fstatSync(descriptor, { bigint: true })
    const value = await read()
    const isSettled = Number(stats.size) === size && startedMs - Number(stats.ctimeMs) > SETTLING_MS
    if (isSettled && isSame(stats, fstatSync(descriptor, { bigint: true }))) {
      this.#known.set(keyOf(stats), { stats, value })
    }
    return value
  }
}

function isSame(a: BigIntStats, b: BigIntStats): boolean {
  return a.size === b.size && a.mtimeNs === b.mtimeNs && a.ctimeNs === b.ctimeNs && a.ino === b.ino && a.dev === b.dev
}

function keyOf({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`
}
