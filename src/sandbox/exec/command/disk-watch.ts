import { stat, statfs } from 'node:fs/promises'
import type { Clock } from '../../../core/index.ts'
import { type DiskGrowth, measureGrowth } from './disk-growth.ts'

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

/** The disk is nearly full, and much of that was added while the command ran. There is no time to find out by whom. */
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
