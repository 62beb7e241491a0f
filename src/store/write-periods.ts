import { z } from 'zod'

/** From when to when a command wrote that had, or could have had, content from outside; in milliseconds of file times. */
export interface WritePeriod {
  readonly since: number
  readonly until: number
  /** Real paths that it could write below. */
  readonly folders: readonly string[]
  /** The hub that runs it. */
  readonly by: string
}

/** The ctime is what counts: no program can set it, as it can the other times of a file. */
interface FileTimes {
  readonly ctimeMs: number
}

export const periodLine = z.union([
  z.object({ writing: z.string(), since: z.number(), folders: z.array(z.string()), by: z.string() }),
  z.object({ written: z.string(), until: z.number() }),
  z.object({ unused: z.array(z.string()) }),
])

const MAX_PERIODS = 1_000

/** The periods in which such commands wrote: a file that was changed in one of them is from outside. */
export class WritePeriods {
  readonly #periods = new Map<string, WritePeriod>()

  get size(): number {
    return this.#periods.size
  }

  /** Those whose command is running, as far as the journal says. */
  *open(): Iterable<[id: string, period: WritePeriod]> {
    for (const entry of this.#periods) if (entry[1].until === Number.POSITIVE_INFINITY) yield entry
  }

  *ended(): Iterable<[id: string, period: WritePeriod]> {
    for (const entry of this.#periods) if (entry[1].until < Number.POSITIVE_INFINITY) yield entry
  }

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
    // A clock that was set back meanwhile has given files earlier times.
    const since = Math.min(period.since, line.until)
    this.#periods.set(line.written, { ...period, since, until: line.until })
    this.#bound()
  }

  /** Whether a file was changed, or a folder's entries were, in one of the periods. */
  cover(path: string, { ctimeMs }: FileTimes): boolean {
    for (const { since, until, folders } of this.#periods.values())
      if (since <= ctimeMs && ctimeMs <= until && folders.some((folder) => isWithin(path, folder))) return true
    return false
  }

  /** It is a folder that was there before the command: what was made is below it. */
  isOf(path: string): boolean {
    for (const { folders } of this.#periods.values()) if (folders.includes(path)) return true
    return false
  }

  /** Folders that were written to, and are or hold or are below one of these. */
  foldersAmong(folders: readonly string[]): string[] {
    const found = new Set<string>()
    for (const period of this.#periods.values())
      for (const written of period.folders)
        for (const folder of folders) {
          if (isWithin(written, folder)) found.add(written)
          else if (isWithin(folder, written)) found.add(folder)
        }
    const all = [...found]
    return all.filter((folder) => !all.some((other) => other !== folder && isWithin(folder, other)))
  }

  /** The two oldest become one with the time between them: more files count as from outside, and none is forgotten. */
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

/** True for the folder itself and for what is below it. */
export function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder === '/' ? '/' : `${folder}/`)
}
