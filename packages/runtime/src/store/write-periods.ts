import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  lstatSync,
  lutimesSync,
  openSync,
  readdirSync,
  type Stats,
} from 'node:fs'
import { join } from 'node:path'
import { messageOf, ToolError } from '@tool-hub/core'
import { errnoOf } from '@tool-hub/core/lib'
import { statsIfThere } from '@tool-hub/sandbox/system'
import { z } from 'zod'

/** The time in which a command ran that had, or could have had, untrusted content; in milliseconds of file times. */
export interface WritePeriod {
  readonly since: number
  readonly until: number
  /** The folders that it could write to, as real paths. */
  readonly folders: readonly string[]
  /** The hub that runs it. */
  readonly by: string
}

/** Only the ctime counts: unlike the other times of a file, no program can set it. */
interface FileTimes {
  readonly ctimeMs: number
}

export const periodLine = z.union([
  z.object({ writing: z.string(), since: z.number(), folders: z.array(z.string()), by: z.string() }),
  z.object({ written: z.string(), until: z.number() }),
  z.object({ unused: z.array(z.string()) }),
])

const MAX_PERIODS = 1_000
/** Creates a file without a name, which disappears when it is closed. */
const O_TMPFILE = 0o20000000 | constants.O_DIRECTORY

/** File times may lag behind the clock by a tick, and on a network file system they come from another machine. */
const MARGIN_MS = 1_000

/** The periods in which such commands ran: a file that was changed in one of them is untrusted. */
export class WritePeriods {
  readonly #periods = new Map<string, WritePeriod>()
  /** All periods by their ids. */
  readonly all: ReadonlyMap<string, WritePeriod> = this.#periods

  apply(line: z.infer<typeof periodLine>): void {
    if ('unused' in line) {
      for (const id of line.unused) this.#periods.delete(id)
      return
    }
    if ('writing' in line) {
      const { writing, since, folders, by } = line
      this.#periods.set(writing, { since, folders, by, until: Number.POSITIVE_INFINITY })
      return
    }
    const period = this.#periods.get(line.written)
    if (!period) return
    // If the clock was set back meanwhile, files have earlier times.
    const since = Math.min(period.since, line.until)
    this.#periods.set(line.written, { ...period, since, until: line.until })
    this.#bound()
  }

  /** The periods whose command is running, according to the journal. */
  *open(): Iterable<[id: string, period: WritePeriod]> {
    for (const entry of this.#periods) if (entry[1].until === Number.POSITIVE_INFINITY) yield entry
  }

  *ended(): Iterable<[id: string, period: WritePeriod]> {
    for (const entry of this.#periods) if (entry[1].until < Number.POSITIVE_INFINITY) yield entry
  }

  /** Whether a file was changed, or a folder's entries were, in one of the periods. */
  cover(path: string, { ctimeMs }: FileTimes): boolean {
    for (const { since, until, folders } of this.#periods.values())
      if (since <= ctimeMs && ctimeMs <= until && folders.some((folder) => isAtOrBelow(path, folder))) return true
    return false
  }

  /** Whether it is a folder that existed before the command, which wrote below it. */
  isOf(path: string): boolean {
    for (const { folders } of this.#periods.values()) if (folders.includes(path)) return true
    return false
  }

  /** The folders that were written to and that are, contain or are below one of these. */
  foldersAmong(folders: readonly string[]): string[] {
    const found = new Set<string>()
    for (const period of this.#periods.values())
      for (const written of period.folders)
        for (const folder of folders) {
          if (isAtOrBelow(written, folder)) found.add(written)
          else if (isAtOrBelow(folder, written)) found.add(folder)
        }
    const all = [...found]
    return all.filter((folder) => !all.some((other) => other !== folder && isAtOrBelow(folder, other)))
  }

  /** Joins the two oldest periods and the time between them: more files count as untrusted, and none is missed. */
  #bound(): void {
    const ended = [...this.ended()]
    if (ended.length <= MAX_PERIODS) return
    const [first, second] = ended as [[string, WritePeriod], [string, WritePeriod]]
    this.#periods.delete(first[0])
    this.#periods.set(second[0], {
      since: Math.min(first[1].since, second[1].since),
      until: Math.max(first[1].until, second[1].until),
      folders: [...new Set([...first[1].folders, ...second[1].folders])],
      by: second[1].by,
    })
  }
}

/** Whether a real path is the folder itself or below it. Faster than `isWithin`: real paths are normalized. */
export function isAtOrBelow(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder === '/' ? '/' : `${folder}/`)
}

/** A time that is not after the ctime of any file that is changed in these folders from now on. */
export function timeBefore(folders: readonly string[]): number {
  return Math.min(...timesIn(folders, -MARGIN_MS), Date.now())
}

/** A time that is not before the ctime of any file that was changed in these folders until now. */
export function timeAfter(folders: readonly string[]): number {
  return Math.max(...timesIn(folders, MARGIN_MS))
}

/** The time of the file system of each folder; where it cannot be read, the clock with a margin. */
function timesIn(folders: readonly string[], margin: number): number[] {
  const times = folders.map((folder) => timeIn(folder) ?? Date.now() + margin)
  return times.length > 0 ? times : [Date.now() + margin]
}

function timeIn(folder: string): number | undefined {
  if (process.platform !== 'linux') return undefined
  try {
    const descriptor = openSync(folder, O_TMPFILE | constants.O_RDWR, 0o600)
    try {
      return fstatSync(descriptor).ctimeMs
    } finally {
      closeSync(descriptor)
    }
  } catch {
    // Not every file system supports it, and not every folder is ours.
    return undefined
  }
}

/** A file or folder with its stats; those of a link are its own. */
export interface PathEntry {
  readonly path: string
  readonly stats: Stats
  /** It is a folder that cannot be listed. */
  readonly isClosed: boolean
}

const NO_NAMES: readonly string[] = []

/** A path and everything below it that exists. `enters` decides whether to read a folder. */
export function* entriesBelow(path: string, enters: (path: string) => boolean = () => true): Generator<PathEntry> {
  const left = [path]
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const stats = statsIfThere(next)
    if (!stats) continue
    const names = stats.isDirectory() && enters(next) ? namesIn(next) : NO_NAMES
    yield { path: next, stats, isClosed: names === undefined }
    for (const name of names ?? []) left.push(join(next, name))
  }
}

function namesIn(folder: string): string[] | undefined {
  try {
    return readdirSync(folder)
  } catch (error) {
    // It was removed or replaced meanwhile.
    if (['ENOENT', 'ENOTDIR'].includes(errnoOf(error))) return []
    if (['EACCES', 'EPERM'].includes(errnoOf(error)) && lstatSync(folder, { throwIfNoEntry: false })) return undefined
    throw error
  }
}

/** Sets the ctime to now and changes nothing else. */
export function renewTime(path: string, stats: Stats): void {
  try {
    if (stats.isFile() || stats.isDirectory()) setOwnMode(path)
    else lutimesSync(path, stats.atimeMs / 1000, stats.mtimeMs / 1000)
  } catch (error) {
    // A missing file, or one on a read-only file system, cannot be moved either.
    if (['ENOENT', 'ENOTDIR', 'ELOOP', 'EROFS'].includes(errnoOf(error))) return
    throw new ToolError('PATH_DENIED', `The label of ${path} cannot be changed: ${messageOf(error)}`, {
      hint: 'The user that runs the hub must own the file.',
      cause: error,
    })
  }
}

/** By descriptor: if a running command swaps the file for a link, the target keeps its own mode. */
function setOwnMode(path: string): void {
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    fchmodSync(descriptor, fstatSync(descriptor).mode & 0o7777)
  } finally {
    closeSync(descriptor)
  }
}
