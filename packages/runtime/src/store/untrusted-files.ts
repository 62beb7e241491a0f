import { randomBytes } from 'node:crypto'
import { dirname } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { ToolError } from '@tool-hub/core'
import { isOwnerAlive, newOwner, statsIfThere } from '@tool-hub/sandbox/system'
import { LabelJournal } from './label-journal.ts'
import {
  entriesBelow,
  isAtOrBelow,
  type PathEntry,
  periodLine,
  renewTime,
  timeAfter,
  timeBefore,
  type WritePeriod,
  WritePeriods,
} from './write-periods.ts'

/** The files that a command can see, as real paths. */
export interface VisiblePaths {
  readonly sees: readonly string[]
  /** Files and folders below them that it cannot see. */
  readonly hidden: readonly string[]
}

/** What is labelled: a file or folder by its path, the name of a folder, or what was written below folders in a time. */
export type FileLabel = string | { readonly named: string } | Pick<WritePeriod, 'since' | 'until' | 'folders'>

const MAX_LABELS = 100_000
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
  /** Folders whose names are untrusted, whatever is in them. */
  readonly #names = new Set<string>()
  readonly #periods = new WritePeriods()
  readonly #owner = newOwner()
  #lastFound: string | undefined
  #isOpened = false
  /** Called with each path that is labelled, before it is written to; for those of other processes, when they are read. */
  onLabel: ((path: string) => void) | undefined

  constructor(file: string) {
    this.#file = file
    this.#journal = new LabelJournal(file, (line) => this.#apply(line))
  }

  has(path: string): boolean {
    this.#open()
    return this.#isUntrusted(path)
  }

  /** Whether one of several entries of a folder is untrusted. Costs one `stat` if nothing is labelled, however many they are. */
  hasAny(folder: string, names: readonly string[]): boolean {
    this.#open()
    if (this.#isEmpty) return false
    return (
      this.#isLabelled(folder) ||
      names.some((name) => this.#isEntryUntrusted(folder === '/' ? `/${name}` : `${folder}/${name}`))
    )
  }

  /** Whether the content of a file, or of anything below a folder, is untrusted. */
  holds(path: string): boolean {
    this.#open()
    if (this.#isLabelled(path)) return true
    for (const label of this.#labels) if (isAtOrBelow(label, path)) return true
    if (this.#periods.all.size === 0) return false
    for (const entry of entriesBelow(path)) if (this.#isWritten(entry.path, entry)) return true
    return false
  }

  /** Applies what other processes have labelled since. Costs one `stat` if there is nothing. */
  follow(): void {
    this.#open()
  }

  add(path: string): void {
    this.#open()
    const known = this.#labelAbove(path)
    // Commands of other processes may have started while a file with this label did not exist.
    if (known !== undefined && statsIfThere(path)) this.onLabel?.(path)
    else this.#append(known ?? path)
  }

  /** Labels the name of a folder, and nothing that is in it. */
  addName(path: string): void {
    this.#open()
    if ((this.#names.has(path) || this.#isLabelled(path)) && statsIfThere(path)) this.onLabel?.(path)
    else this.#append({ named: path })
  }

  /** Adds labels of another machine, which may use the same disk. */
  addAll(labels: readonly FileLabel[]): void {
    for (const label of labels) {
      if (typeof label === 'string') this.add(label)
      else if ('named' in label) this.addName(label.named)
      else {
        const id = this.begin(label.folders, label.since)
        this.#journal.append({ written: id, until: label.until })
        this.#emit(label.folders)
      }
    }
  }

  /** The labels that a path needs when a file tool moves what is at another one. */
  movedTo(from: string, to: string): FileLabel[] {
    this.#open()
    const moved = (labels: ReadonlySet<string>) =>
      [...labels].filter((label) => isAtOrBelow(label, from)).map((label) => `${to}${label.slice(from.length)}`)
    return [...moved(this.#labels), ...moved(this.#names).map((named) => ({ named }))]
  }

  /** From now on until `end`, everything that is changed below these folders is labelled, even if this process is killed. */
  begin(folders: readonly string[], since: number = timeBefore(folders)): string {
    const id = this.#startPeriod(folders, since)
    for (const _ of this.#renewals(folders));
    return id
  }

  /** The same before a command starts, for any number of labels: other work continues meanwhile. */
  async beginFirst(folders: readonly string[]): Promise<string> {
    const id = this.#startPeriod(folders, timeBefore(folders))
    let count = 0
    for (const _ of this.#renewals(folders)) if (++count % ENTRIES_AT_ONCE === 0) await setImmediate()
    return id
  }

  /** Returns what is labelled by it. */
  end(id: string, folders: readonly string[]): FileLabel {
    const until = timeAfter(folders)
    this.#journal.append({ written: id, until })
    return { since: this.#periods.all.get(id)?.since ?? until, until, folders }
  }

  /**
   * Untrusted content that a command could read: a file, or a folder that a command is writing to. Reads nothing if nothing
   * is labelled, and only the stats of each file if commands have written some; remembers what it finds.
   */
  async find({ sees, hidden }: VisiblePaths): Promise<string | undefined> {
    this.#open()
    if (this.#isEmpty) return undefined
    this.#endOfDead()
    const writing = this.#openFolder(sees)
    if (writing !== undefined) return writing
    const unseen = new Set(hidden)
    const isSeen = (path: string) => sees.some((folder) => isAtOrBelow(path, folder)) && !isBelowAny(path, unseen)
    let count = 0
    for (const labels of [this.#labels, this.#names])
      for (const label of [...labels]) {
        if (isSeen(label) && statsIfThere(label)) return label
        if (++count % ENTRIES_AT_ONCE === 0) await setImmediate()
      }
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
    for (const name of this.#names) if (statsIfThere(name) && !this.#isLabelled(name)) yield name
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
      this.#emit([line])
      return
    }
    const period = periodLine.safeParse(line)
    if (period.success) {
      this.#periods.apply(period.data)
      if ('writing' in period.data && period.data.by !== this.#owner) this.#emit(period.data.folders)
    } else if (hasPath(line, 'named')) {
      this.#names.add(line.named)
      this.#emit([line.named])
    } else if (hasPath(line, 'cleared')) {
      for (const labels of [this.#labels, this.#names])
        for (const label of labels) if (isAtOrBelow(label, line.cleared)) labels.delete(label)
    }
  }

  /** What was labelled before this process first looked is found by `find`. */
  #emit(paths: readonly string[]): void {
    if (this.#isOpened) for (const path of paths) this.onLabel?.(path)
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
  #isWritten(path: string, { stats, isClosed }: PathEntry): boolean {
    if (!this.#periods.cover(path, stats)) return false
    return (
      !stats.isDirectory() ||
      isClosed ||
      (!this.#periods.isOf(path) && this.#periods.cover(path, { ctimeMs: stats.birthtimeMs }))
    )
  }

  get #isEmpty(): boolean {
    return this.#labels.size === 0 && this.#names.size === 0 && this.#periods.all.size === 0
  }

  #append(label: string | { readonly named: string }): void {
    const isKnown = typeof label === 'string' ? this.#labels.has(label) : this.#names.has(label.named)
    if (!isKnown && this.#labels.size + this.#names.size >= MAX_LABELS) throw tooMany()
    this.#journal.append(label)
  }

  #isUntrusted(path: string): boolean {
    return this.#isLabelled(path) || this.#isEntryUntrusted(path)
  }

  /** Without the labels of the folders above. */
  #isEntryUntrusted(path: string): boolean {
    if (this.#labels.has(path) || this.#names.has(path)) return true
    if (this.#periods.all.size === 0) return false
    const stats = statsIfThere(path)
    return stats !== undefined && this.#periods.cover(path, stats)
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

  #startPeriod(folders: readonly string[], since: number): string {
    this.#open()
    const id = randomBytes(6).toString('hex')
    this.#journal.append({ writing: id, since, folders, by: this.#owner })
    return id
  }

  /** A command can move a folder, which does not change the files in it: they must carry their labels by then. */
  *#renewals(folders: readonly string[]): Generator<void> {
    for (const label of [...this.#labels]) {
      yield
      if (!folders.some((folder) => isAtOrBelow(label, folder))) continue
      for (const { path, stats } of entriesBelow(label)) {
        if (!this.#periods.cover(path, stats)) renewTime(path, stats)
        yield
      }
    }
  }
}

function isBelowAny(path: string, folders: ReadonlySet<string>): boolean {
  for (let at = path; ; at = dirname(at)) {
    if (folders.has(at)) return true
    if (at === dirname(at)) return false
  }
}

function hasPath<K extends string>(line: unknown, key: K): line is { readonly [key in K]: string } {
  return typeof line === 'object' && line !== null && typeof (line as Record<string, unknown>)[key] === 'string'
}

function tooMany(): ToolError {
  return new ToolError('RECORDS_UNAVAILABLE', `${MAX_LABELS} files are labelled as from outside, and no more can be.`, {
    hint: 'Look at them with tool-hub labels, and clear those that you trust.',
  })
}
