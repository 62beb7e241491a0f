import { randomBytes } from 'node:crypto'
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
import { dirname, join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { messageOf, ToolError } from '../core/index.ts'
import { errnoOf } from '../lib/index.ts'
import { isOwnerAlive, newOwner, statsIfThere } from '../system/index.ts'
import { LabelJournal } from './label-journal.ts'
import { isAtOrBelow, periodLine, timeAfter, timeBefore, WritePeriods } from './write-periods.ts'

/** The files that a command can see, as real paths. */
export interface VisiblePaths {
  readonly sees: readonly string[]
  /** Files and folders below them that it cannot see. */
  readonly hidden: readonly string[]
}

/** A file or folder with its stats; those of a link are its own. */
interface Entry {
  readonly path: string
  readonly stats: Stats
  /** It is a folder that cannot be listed. */
  readonly isClosed: boolean
}

const MAX_LABELS = 100_000
const NO_NAMES: readonly string[] = []
const ENTRIES_AT_ONCE = 500
/** Commands may survive a hub that was killed by this time. */
const LAST_WRITES_MS = 2_000
/** No command runs longer than a day. */
const MAX_COMMAND_MS = 25 * 3_600_000

/**
 * The files with untrusted content, remembered beyond the run that wrote them: a run that reads one is tainted. What file
 * tools write is labelled by its path; a label on a folder covers everything below it. What a command writes is found by
 * its ctime, which no program can set: each file that was changed while such a command ran is labelled.
 */
export class UntrustedFiles {
  readonly #file: string
  readonly #journal: LabelJournal
  readonly #labels = new Set<string>()
  readonly #periods = new WritePeriods()
  readonly #owner = newOwner()
  #lastFound: string | undefined
  #isOpened = false
  /** Called with each path that is labelled, before it is written to. */
  onLabel: ((path: string) => void) | undefined

  constructor(file: string) {
    this.#file = file
    this.#journal = new LabelJournal(file, (line) => this.#apply(line))
  }

  has(path: string): boolean {
    this.#open()
    if (this.#isLabelled(path)) return true
    if (this.#periods.size === 0) return false
    const stats = statsIfThere(path)
    return stats !== undefined && this.#periods.cover(path, stats)
  }

  /** The same for everything below a folder. */
  holds(path: string): boolean {
    this.#open()
    if (this.#isLabelled(path)) return true
    for (const label of this.#labels) if (isAtOrBelow(label, path)) return true
    if (this.#periods.size === 0) return false
    for (const entry of entriesBelow(path)) if (this.#isWritten(entry.path, entry)) return true
    return false
  }

  add(path: string): void {
    this.#open()
    if (!this.#isLabelled(path)) {
      if (this.#labels.size >= MAX_LABELS) throw tooMany()
      this.#journal.append(path)
    }
    this.onLabel?.(path)
  }

  /** Keeps the labels of a path that a file tool moves. */
  moved(from: string, to: string): void {
    this.#open()
    for (const label of [...this.#labels]) if (isAtOrBelow(label, from)) this.add(`${to}${label.slice(from.length)}`)
  }

  /** From now on until `end`, everything that is changed below these folders is labelled, even if this process is killed. */
  begin(folders: readonly string[], since: number = timeBefore(folders)): string {
    this.#open()
    const id = randomBytes(6).toString('hex')
    this.#journal.append({ writing: id, since, folders, by: this.#owner })
    // A command can move a folder, which does not change the files in it: they must carry their labels by then.
    for (const label of this.#labels) if (folders.some((folder) => isAtOrBelow(label, folder))) this.#renewTimes(label)
    return id
  }

  end(id: string, folders: readonly string[]): void {
    this.#journal.append({ written: id, until: timeAfter(folders) })
  }

  /**
   * Untrusted content that a command could read: a file, or a folder that a command is writing to. Reads nothing if there
   * is no label at all, and the stats of each file if commands have written some; remembers what it finds.
   */
  async find({ sees, hidden }: VisiblePaths): Promise<string | undefined> {
    this.#open()
    if (this.#labels.size === 0 && this.#periods.size === 0) return undefined
    this.#endOfDead()
    const writing = this.#openFolder(sees)
    if (writing !== undefined) return writing
    const unseen = new Set(hidden)
    const isSeen = (path: string) => sees.some((folder) => isAtOrBelow(path, folder)) && !isBelowAny(path, unseen)
    for (const label of this.#labels) if (isSeen(label) && statsIfThere(label)) return label
    const last = this.#lastFound
    if (last !== undefined && isSeen(last) && this.#isWrittenAt(last)) return last
    this.#lastFound = await this.#findWritten(sees, unseen)
    return this.#lastFound
  }

  /** The files that are labelled now, without those below hidden folders. */
  *list(hidden: readonly string[] = []): Generator<string> {
    this.#open()
    this.#endOfDead()
    for (const label of this.#labels) if (statsIfThere(label)) yield label
    for (const folder of this.#periods.foldersAmong(['/']))
      for (const entry of entriesBelow(folder, (path) => !hidden.includes(path)))
        if (!this.#isLabelled(entry.path) && this.#isWritten(entry.path, entry)) yield entry.path
  }

  /** Removes the labels of a file or folder whose present content the owner trusts. */
  clear(path: string): void {
    this.#open()
    this.#endOfDead()
    const writing = this.#openFolder([path])
    if (writing !== undefined) {
      throw new ToolError('CONFLICT', `A command of a tainted run is writing to ${writing}.`, {
        hint: 'Wait for its end, or end it, and clear the label then.',
      })
    }
    const above = this.#labelAbove(dirname(path))
    if (above !== undefined) {
      throw new ToolError('CONFLICT', `The folder ${above} is labelled as a whole.`, { hint: `Clear ${above}.` })
    }
    this.#journal.append({ cleared: path })
    for (const entry of entriesBelow(path))
      if (this.#periods.cover(entry.path, entry.stats)) renewTime(entry.path, entry.stats)
  }

  /** Resolves when all that was added so far survives a loss of power; `undefined` when it already does. */
  synced(): Promise<void> | undefined {
    return this.#journal.synced()
  }

  #open(): void {
    this.#journal.read()
    if (this.#isOpened) return
    this.#isOpened = true
    this.#endOfDead()
  }

  #apply(line: unknown): void {
    if (typeof line === 'string') {
      this.#labels.add(line)
      return
    }
    const period = periodLine.safeParse(line)
    if (period.success) this.#periods.apply(period.data)
    else if (isCleared(line)) {
      for (const label of this.#labels) if (isAtOrBelow(label, line.cleared)) this.#labels.delete(label)
    }
  }

  /** Ends the periods of hubs that were killed, as their commands ended with them; those of other machines or containers end in time. */
  #endOfDead(): void {
    for (const [id, { by, since, folders }] of [...this.#periods.open()]) {
      if (by === this.#owner) continue
      const last = since + MAX_COMMAND_MS
      const until = isOwnerAlive(by) ? last : timeAfter(folders) + LAST_WRITES_MS
      if (until < last || last < Date.now()) this.#journal.append({ written: id, until })
    }
  }

  /** A folder among these that a command is writing to at the moment. */
  #openFolder(folders: readonly string[]): string | undefined {
    for (const [, period] of this.#periods.open())
      for (const written of period.folders)
        if (folders.some((folder) => isAtOrBelow(written, folder) || isAtOrBelow(folder, written))) return written
    return undefined
  }

  async #findWritten(sees: readonly string[], hidden: ReadonlySet<string>): Promise<string | undefined> {
    const before = [...this.#periods.ended()]
    let hasHidden = false
    let count = 0
    for (const folder of this.#periods.foldersAmong(sees)) {
      if (isBelowAny(folder, hidden)) continue
      for (const entry of entriesBelow(folder, (path) => !hidden.has(path))) {
        if (++count % ENTRIES_AT_ONCE === 0) await setImmediate()
        const isWritten = this.#isWritten(entry.path, entry)
        if (!hidden.has(entry.path)) {
          if (isWritten) return entry.path
        } else if (entry.stats.isDirectory()) {
          // Other commands may see its content; only the hub's own folder is never visible.
          hasHidden ||= !isAtOrBelow(this.#file, entry.path)
        } else hasHidden ||= isWritten
      }
    }
    const unused = before.filter(([, { folders }]) => folders.every((folder) => isBelowAny(folder, new Set(sees))))
    // No file of these periods is left, so the next command need not look again.
    if (!hasHidden && unused.length > 0) this.#journal.append({ unused: unused.map(([id]) => id) })
    return undefined
  }

  #isWrittenAt(path: string): boolean {
    for (const entry of entriesBelow(path, () => false)) return this.#isWritten(path, entry)
    return false
  }

  /** A folder is not untrusted because of new entries, only if it was created then or cannot be listed. */
  #isWritten(path: string, { stats, isClosed }: Entry): boolean {
    if (!this.#periods.cover(path, stats)) return false
    return (
      !stats.isDirectory() ||
      isClosed ||
      (!this.#periods.isOf(path) && this.#periods.cover(path, { ctimeMs: stats.birthtimeMs }))
    )
  }

  #isLabelled(path: string): boolean {
    return this.#labels.size > 0 && this.#labelAbove(path) !== undefined
  }

  #labelAbove(path: string): string | undefined {
    for (let at = path; ; at = dirname(at)) {
      if (this.#labels.has(at)) return at
      if (at === dirname(at)) return undefined
    }
  }

  #renewTimes(label: string): void {
    for (const { path, stats } of entriesBelow(label)) if (!this.#periods.cover(path, stats)) renewTime(path, stats)
  }
}

/** Sets the ctime to now and changes nothing else. */
function renewTime(path: string, stats: Stats): void {
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

function isBelowAny(path: string, folders: ReadonlySet<string>): boolean {
  for (let at = path; ; at = dirname(at)) {
    if (folders.has(at)) return true
    if (at === dirname(at)) return false
  }
}

function isCleared(line: unknown): line is { readonly cleared: string } {
  return typeof line === 'object' && line !== null && 'cleared' in line && typeof line.cleared === 'string'
}

function tooMany(): ToolError {
  return new ToolError('RECORDS_UNAVAILABLE', `${MAX_LABELS} files are labelled as from outside, and no more can be.`, {
    hint: 'Look at them with tool-hub labels, and clear those that you trust.',
  })
}

/** A path and everything below it that exists. `enters` decides whether to read a folder. */
function* entriesBelow(path: string, enters: (path: string) => boolean = () => true): Generator<Entry> {
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
