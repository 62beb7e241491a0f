import { closeSync, constants, fstatSync, openSync, readSync, type Stats, statSync } from 'node:fs'

/** Called with each file or folder that an answer depends on. */
export type NoteSource = (path: string) => void

interface Known<T> {
  readonly value: T
  /** What the answer depends on, and its state then. */
  readonly sources: ReadonlyMap<string, string>
}

/** Remembers what was read from files, until one of them changes. */
export class FileMemo<T> {
  readonly #known = new Map<string, Known<T>>()

  get(key: string, read: (note: NoteSource) => T): T {
    const known = this.#known.get(key)
    if (known && [...known.sources].every(([path, state]) => stateAt(path) === state)) return known.value
    const sources = new Map<string, string>()
    const value = read((path) => sources.set(path, stateAt(path)))
    this.#known.set(key, { value, sources })
    return value
  }
}

/** Of what a link leads to: a config of the user is often one. */
function stateAt(path: string): string {
  try {
    const stats = statSync(path, { throwIfNoEntry: false })
    if (!stats) return ''
    // Never equal to itself: what changed just now may change again without a new time.
    return isSettled(stats) ? contentMark(stats) : `${contentMark(stats)} ${performance.now()}`
  } catch {
    return 'unreachable'
  }
}

const MAX_BYTES = 256 * 1024

/** The beginning of a regular file, without waiting for anybody; undefined if there is none. */
export function readBounded(path: string, maxBytes = MAX_BYTES): string | undefined {
  let descriptor: number | undefined
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
    const stats = fstatSync(descriptor)
    if (!stats.isFile()) return undefined
    const bytes = Buffer.alloc(Math.min(stats.size, maxBytes))
    const text = bytes.toString('utf8', 0, readSync(descriptor, bytes, 0, bytes.length, 0))
    return text.includes('\0') ? undefined : text
  } catch {
    // Gone, or not readable for this user.
    return undefined
  } finally {
    if (descriptor !== undefined) closeSync(descriptor)
  }
}

/** Clocks of file systems are coarse: the change time of the next change may be the same for this long. */
const COARSE_MS = 50
/** Some file systems count whole seconds, or every second one. */
const VERY_COARSE_MS = 2_050

/** When a change gets another change time than this one, at the latest. */
export function settlesAt({ ctimeMs }: Pick<Stats, 'ctimeMs'>): number {
  return ctimeMs + (ctimeMs % 1000 === 0 ? VERY_COARSE_MS : COARSE_MS)
}

/** Whether every change from now on gets another change time: only then may what was read be remembered by it. */
export function isSettled(stats: Pick<Stats, 'ctimeMs'>): boolean {
  return Date.now() > settlesAt(stats)
}

/**
 * Identifies the content of a file or a folder: no command can set these. The time alone does not: of two that were
 * changed at the same time, one can take the place of the other when a folder around it is renamed.
 */
export function contentMark({ ino, ctimeMs, size }: Pick<Stats, 'ino' | 'ctimeMs' | 'size'>): string {
  return `${ino} ${ctimeMs} ${size}`
}
