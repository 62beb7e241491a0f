import { lstatSync, opendirSync, readdirSync, readlinkSync, type Stats, statSync } from 'node:fs'
import { stat, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import type { Clock } from '@tool-hub/core'

/** What a command may add to the disks that it can write to. */
export interface DiskLimits {
  readonly diskBytes: number
  readonly newFiles: number
}

/** Why a command is ended: the limit that it exceeded, or the reserve that is kept free. */
export interface DiskOveruse {
  readonly key?: 'limits.commands.disk' | 'limits.commands.newFiles'
  readonly message: string
}

/** A command to watch. */
export interface WatchedCommand {
  /** The process id outside of its sandbox; undefined if it is not known. */
  readonly pid: number | undefined
  readonly stop: (why: DiskOveruse) => void
}

/** Reads the state of a folder's disk; replaced in tests. */
export type ReadDisk = (folder: string) => Promise<DiskState | undefined>

/** The current state of a file system. */
export interface DiskState {
  /** The same for all folders on one file system. */
  readonly device: number
  readonly usedBytes: number
  readonly freeBytes: number
  readonly totalBytes: number
  readonly usedFiles: number
  readonly freeFiles: number
  readonly totalFiles: number
}

/** By device. */
export type DiskStates = ReadonlyMap<number, DiskState>

interface Entry {
  readonly command: WatchedCommand
  /** The time of the machine, as in the times of its files. */
  readonly startedMs: number
  readonly before: DiskStates
  /** The growth from which on the command's own share is measured. */
  next: DiskGrowth
  isMeasuring: boolean
}

const POLL_MS = 250
/** Times of files are a few milliseconds behind the clock. */
const SLACK_MS = 1_000
/** A measurement that takes longer counts as over the limit. */
const MAX_MEASURE_MS = 5_000
const MAX_RESERVE_BYTES = 1_000_000_000
const MAX_RESERVE_FILES = 10_000

/**
 * Ends commands that fill the disk. The growth of the file systems of the writable folders is checked four times a
 * second; once it exceeds a limit, the files that were created or changed since the command started are counted.
 * Commands that run in the same folders at the same time are not distinguished: each that started before is ended.
 */
export class DiskWatch {
  readonly #folders: readonly string[]
  readonly #limits: DiskLimits
  readonly #clock: Clock
  readonly #read: ReadDisk
  readonly #entries = new Set<Entry>()
  #cancel: (() => void) | undefined

  constructor(folders: readonly string[], limits: DiskLimits, clock: Clock, read: ReadDisk = readDisk) {
    this.#folders = folders
    this.#limits = limits
    this.#clock = clock
    this.#read = read
  }

  /** The state before a command starts. */
  async before(): Promise<DiskStates> {
    const states = await Promise.all(this.#folders.map(this.#read))
    return new Map(states.flatMap((state) => (state ? [[state.device, state] as const] : [])))
  }

  /** Watches a command from now on; returns a function that ends the watch. */
  watch(command: WatchedCommand, before: DiskStates, startedMs: number = Date.now()): () => void {
    const next = { bytes: this.#limits.diskBytes, files: this.#limits.newFiles }
    const entry: Entry = { command, startedMs: startedMs - SLACK_MS, before, next, isMeasuring: false }
    this.#entries.add(entry)
    this.#schedule()
    return () => this.#entries.delete(entry)
  }

  #schedule(): void {
    if (this.#cancel || this.#entries.size === 0) return
    const check = () => {
      // If the disk cannot be read now, it is read again later; a command that writes to it fails by itself.
      this.#check()
        .catch(() => undefined)
        .finally(() => {
          this.#cancel = undefined
          this.#schedule()
        })
    }
    this.#cancel = this.#clock.after(POLL_MS, check, { background: true })
  }

  async #check(): Promise<void> {
    const now = await this.before()
    for (const entry of this.#entries) {
      const reserve = [...now.values()].find((state) => isReserveUsed(entry.before.get(state.device), state))
      if (reserve) this.#stop(entry, { message: reserveMessage(reserve) })
      const grown = growth(entry.before, now)
      const isOver = grown.bytes > entry.next.bytes || grown.files > entry.next.files
      if (isOver && !entry.isMeasuring && this.#entries.has(entry)) void this.#measure(entry, grown)
    }
  }

  async #measure(entry: Entry, grown: DiskGrowth): Promise<void> {
    entry.isMeasuring = true
    const { diskBytes, newFiles } = this.#limits
    const query = { folders: this.#folders, sinceMs: entry.startedMs, pid: entry.command.pid }
    const until = { bytes: diskBytes, files: newFiles, deadlineMs: Date.now() + MAX_MEASURE_MS }
    const found = await measureGrowth(query, until)
    // Only if the disk has grown as much: files that were merely rewritten take no more space.
    if (grown.bytes > diskBytes && (found === undefined || found.bytes > diskBytes)) {
      this.#stop(entry, { key: 'limits.commands.disk', message: bytesMessage(diskBytes) })
    } else if (grown.files > newFiles && (found === undefined || found.files > newFiles)) {
      this.#stop(entry, { key: 'limits.commands.newFiles', message: filesMessage(newFiles) })
    } else {
      // Others caused the growth: measured again when about as much as the command may still use has been added.
      entry.next = {
        bytes: grown.bytes + Math.max(diskBytes / 20, (diskBytes - found!.bytes) / 2),
        files: grown.files + Math.max(newFiles / 20, (newFiles - found!.files) / 2),
      }
    }
    entry.isMeasuring = false
  }

  #stop(entry: Entry, why: DiskOveruse): void {
    if (this.#entries.delete(entry)) entry.command.stop(why)
  }
}

function growth(before: DiskStates, now: DiskStates): DiskGrowth {
  const sum = (read: (state: DiskState) => number) =>
    [...now.values()].reduce((total, state) => {
      const old = before.get(state.device)
      return total + (old ? Math.max(0, read(state) - read(old)) : 0)
    }, 0)
  return { bytes: sum(({ usedBytes }) => usedBytes), files: sum(({ usedFiles }) => usedFiles) }
}

/** The disk is nearly full, and much of that was added while the command ran. It takes too long to find out by whom. */
function isReserveUsed(before: DiskState | undefined, now: DiskState): boolean {
  if (!before) return false
  const bytes = Math.min(MAX_RESERVE_BYTES, now.totalBytes / 20)
  const files = Math.min(MAX_RESERVE_FILES, now.totalFiles / 20)
  const isFull = now.freeBytes < bytes && now.usedBytes - before.usedBytes > bytes / 2
  return isFull || (now.freeFiles < files && now.usedFiles - before.usedFiles > files / 2)
}

function bytesMessage(bytes: number): string {
  return `The command was stopped: it used more than ${bytes.toLocaleString('en')} bytes of disk space.`
}

function filesMessage(files: number): string {
  return `The command was stopped: it created more than ${files.toLocaleString('en')} files and folders.`
}

function reserveMessage({ freeBytes, freeFiles }: DiskState): string {
  return `The command was stopped: the disk was nearly full, with ${freeBytes.toLocaleString('en')} bytes and ${freeFiles.toLocaleString('en')} files left.`
}

/** Undefined for a folder that does not exist. */
async function readDisk(folder: string): Promise<DiskState | undefined> {
  const [stats, disk] = await Promise.all([stat(folder), statfs(folder)]).catch(() => [undefined, undefined])
  if (!stats || !disk) return undefined
  const { bsize, blocks, bfree, bavail, files, ffree } = disk
  return {
    device: stats.dev,
    usedBytes: (blocks - bfree) * bsize,
    freeBytes: bavail * bsize,
    totalBytes: blocks * bsize,
    usedFiles: files - ffree,
    freeFiles: ffree,
    totalFiles: files,
  }
}

/** How much was added to a disk. */
interface DiskGrowth {
  readonly bytes: number
  readonly files: number
}

/** What is measured. */
interface GrowthQuery {
  readonly folders: readonly string[]
  readonly sinceMs: number
  /** A process of the command: unnamed files that its processes hold open are counted too. */
  readonly pid: number | undefined
}

/** The limit at which the measurement ends, and the time at which it gives up. */
interface GrowthBound extends DiskGrowth {
  readonly deadlineMs: number
}

/** How long the event loop is blocked at a time. */
const SLICE_MS = 4
const BLOCK_BYTES = 512

/**
 * Counts the space of the files that were created or changed since then, and how many were created, until a limit is
 * exceeded. Returns undefined if that took too long. The kernel sets change times; no command can forge them.
 */
export async function measureGrowth(query: GrowthQuery, bound: GrowthBound): Promise<DiskGrowth | undefined> {
  const counted = new Set<string>()
  const found = { bytes: 0, files: 0 }
  const isEnough = () => found.bytes > bound.bytes || found.files > bound.files
  const add = (stats: Stats) => {
    if (stats.nlink > 1 && !stats.isDirectory()) {
      const id = `${stats.dev}:${stats.ino}`
      if (counted.has(id)) return
      counted.add(id)
    }
    if (stats.ctimeMs >= query.sinceMs) found.bytes += stats.blocks * BLOCK_BYTES
    if ((stats.birthtimeMs || stats.ctimeMs) >= query.sinceMs) found.files += 1
  }
  for (const stats of unnamedFiles(query.pid)) found.bytes += stats.blocks * BLOCK_BYTES
  const waiting = [...query.folders]
  let sliceEnd = Date.now() + SLICE_MS
  for (let folder = waiting.pop(); folder !== undefined && !isEnough(); folder = waiting.pop()) {
    for (const name of namesIn(folder)) {
      const path = join(folder, name)
      const stats = statsOf(path)
      if (!stats) continue
      add(stats)
      if (stats.isDirectory()) waiting.push(path)
      if (isEnough()) break
      if (Date.now() < sliceEnd) continue
      if (Date.now() > bound.deadlineMs) return undefined
      await setImmediate()
      sliceEnd = Date.now() + SLICE_MS
    }
  }
  return found
}

/** One by one: a folder may contain far more names than are needed for the answer. */
function* namesIn(folder: string): Generator<string> {
  let opened: ReturnType<typeof opendirSync>
  try {
    opened = opendirSync(folder, { bufferSize: 256 })
  } catch {
    // It is gone, or closed to the hub: then it is not counted.
    return
  }
  try {
    for (let entry = opened.readSync(); entry; entry = opened.readSync()) yield entry.name
  } finally {
    opened.closeSync()
  }
}

/** Files that were deleted and are still open in the process namespace of the command. */
function unnamedFiles(pid: number | undefined): Stats[] {
  const found = new Map<string, Stats>()
  for (const member of pid === undefined ? [] : membersOf(pid)) {
    for (const fd of list(`/proc/${member}/fd`)) {
      const stats = statsOf(`/proc/${member}/fd/${fd}`, statSync)
      if (stats?.isFile() && stats.nlink === 0) found.set(`${stats.dev}:${stats.ino}`, stats)
    }
  }
  return [...found.values()]
}

/** The processes in the same namespace as another one; none if that is the hub's own namespace. */
function membersOf(pid: number): string[] {
  const namespace = namespaceOf(pid)
  if (namespace === undefined || namespace === namespaceOf('self')) return []
  return list('/proc').filter((name) => /^\d+$/.test(name) && namespaceOf(name) === namespace)
}

function namespaceOf(pid: number | string): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/ns/pid`)
  } catch {
    // It has exited, or belongs to another user.
    return undefined
  }
}

function list(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

function statsOf(path: string, read: (path: string) => Stats = lstatSync): Stats | undefined {
  try {
    return read(path)
  } catch {
    // It is gone.
    return undefined
  }
}
