import { randomBytes } from 'node:crypto'
import { appendFileSync, closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { messageOf, ToolError } from '../core/index.ts'
import { errnoOf, parseJson } from '../lib/index.ts'
import {
  GroupCommit,
  isOwnerAlive,
  newOwner,
  prepareMissingDataFolder,
  statsIfThere,
  syncFolder,
} from '../system/index.ts'
import {
  entriesBelow,
  isAtOrBelow,
  type PathEntry,
  periodLine,
  renewTime,
  timeAfter,
  timeBefore,
  WritePeriods,
} from './write-periods.ts'

/** The files that a command can see, as real paths. */
export interface VisiblePaths {
  readonly sees: readonly string[]
  /** Files and folders below them that it cannot see. */
  readonly hidden: readonly string[]
}

const MAX_LABELS = 100_000
const NEWLINE = 0x0a
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
    return this.#isUntrusted(path)
  }

  /** Whether one of several files is untrusted. Costs one `stat` if there is no label at all, however many they are. */
  hasAny(folder: string, names: readonly string[]): boolean {
    this.#open()
    if (this.#labels.size === 0 && this.#periods.all.size === 0) return false
    return names.some((name) => this.#isUntrusted(folder === '/' ? `/${name}` : `${folder}/${name}`))
  }

  /** The same for everything below a folder. */
  holds(path: string): boolean {
    this.#open()
    if (this.#isLabelled(path)) return true
    for (const label of this.#labels) if (isAtOrBelow(label, path)) return true
    if (this.#periods.all.size === 0) return false
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
    if (this.#labels.size === 0 && this.#periods.all.size === 0) return undefined
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
  #isWritten(path: string, { stats, isClosed }: PathEntry): boolean {
    if (!this.#periods.cover(path, stats)) return false
    return (
      !stats.isDirectory() ||
      isClosed ||
      (!this.#periods.isOf(path) && this.#periods.cover(path, { ctimeMs: stats.birthtimeMs }))
    )
  }

  #isUntrusted(path: string): boolean {
    if (this.#isLabelled(path)) return true
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

  #renewTimes(label: string): void {
    for (const { path, stats } of entriesBelow(label)) if (!this.#periods.cover(path, stats)) renewTime(path, stats)
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

/** A file of JSON lines that several processes append to, and each of them follows. */
class LabelJournal {
  readonly #file: string
  readonly #apply: (line: unknown) => void
  readonly #group = new GroupCommit(() => this.#sync())
  /** Bytes whose lines were applied. */
  #offset = 0
  #appended = 0
  #synced = 0

  constructor(file: string, apply: (line: unknown) => void) {
    this.#file = file
    this.#apply = apply
  }

  /** Applies the lines that any process has added since the last call. Costs one `stat` if there are none. */
  read(): void {
    const size = statSync(this.#file, { throwIfNoEntry: false })?.size ?? 0
    if (size === this.#offset) return
    // The file was removed: the labels that are known stay.
    if (size < this.#offset) this.#offset = 0
    const text = this.#readFrom(this.#offset)
    const end = text.lastIndexOf(NEWLINE) + 1
    this.#offset += end
    for (const line of text.subarray(0, end).toString('utf8').split('\n')) if (line !== '') this.#apply(parseJson(line))
  }

  append(line: unknown): void {
    prepareMissingDataFolder(dirname(this.#file))
    this.read()
    // A crash may have left a line without an end, which must not spoil this one.
    const isCut = (statSync(this.#file, { throwIfNoEntry: false })?.size ?? 0) > this.#offset
    appendFileSync(this.#file, `${isCut ? '\n' : ''}${JSON.stringify(line)}\n`, { mode: 0o600 })
    this.#appended++
    this.read()
  }

  /** Resolves when all appended lines survive a loss of power; `undefined` when they already do. */
  synced(): Promise<void> | undefined {
    return this.#synced === this.#appended ? undefined : this.#group.wait()
  }

  #readFrom(offset: number): Buffer {
    let descriptor: number
    try {
      descriptor = openSync(this.#file, 'r')
    } catch (error) {
      if (errnoOf(error) === 'ENOENT') return Buffer.alloc(0)
      throw error
    }
    try {
      const bytes = Buffer.alloc(Math.max(0, fstatSync(descriptor).size - offset))
      return bytes.subarray(0, readSync(descriptor, bytes, 0, bytes.length, offset))
    } finally {
      closeSync(descriptor)
    }
  }

  async #sync(): Promise<void> {
    const appended = this.#appended
    try {
      const file = await open(this.#file, 'r+')
      await file.sync().finally(() => file.close())
      if (this.#synced === 0) await syncFolder(dirname(this.#file))
    } catch (cause) {
      throw new ToolError(
        'RECORDS_UNAVAILABLE',
        `Which files are from outside cannot be written down in ${this.#file}: ${messageOf(cause)}`,
        { cause },
      )
    }
    this.#synced = appended
  }
}
