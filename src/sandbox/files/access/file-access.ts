import type { BigIntStats, Stats } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import type { FilesLevel } from '../../../core/index.ts'

/** A path as the system takes it: text, or bytes for names that are not UTF-8. */
export type SystemPath = string | Buffer

/** A name below an open folder; `path` is one that `at` or `atBytes` gave for it. */
export interface FolderEntry {
  readonly folder: number
  readonly path: SystemPath
}

/**
 * Reaches one name below an open folder. A folder is known by its descriptor, which the code that opened it closes. Every
 * `path` is one that `at` or `atBytes` gave for the same folder.
 */
export interface FileAccess {
  readonly level: FilesLevel
  /** Opens a folder by its absolute path, where a walk begins: a root, or a folder of the hub itself. */
  openBase(path: string): number
  /** The path of an open folder, also of one that may not be entered. */
  path(folder: number): string
  /** The path of a name below an open folder, `.` for the folder itself. */
  at(folder: number, name: string): string
  /** The same for a name that is known by its bytes, one character each. */
  atBytes(folder: number, name: string): Buffer
  /** What comes before the names in the paths of many entries of one folder. */
  prefix(folder: number): string
  /** Opens a folder; fails on a link. */
  openFolder(folder: number, path: SystemPath): number
  /** Opens a file; `flags` without those about links, which are never followed. */
  open(folder: number, path: SystemPath, flags: number, mode?: number): number
  /** The same, for work that waits for the disk. */
  openHandle(folder: number, path: SystemPath, flags: number, mode?: number): Promise<FileHandle>
  /** What a name is, never what a link leads to; undefined when there is nothing. */
  stat(folder: number, path: SystemPath): Stats | undefined
  statBig(folder: number, path: SystemPath): BigIntStats | undefined
  /** Runs a step that only looks; `isSame` says whether looking again gave the same. */
  look<T>(folder: number, use: () => T, isSame: (a: T, b: T) => boolean): T
  /** Runs one step that changes something in a folder; for what the methods below do not do. */
  change<T>(folder: number, use: () => T): T
  rename(from: FolderEntry, to: FolderEntry): void
  /** Gives a file a second name. */
  link(from: FolderEntry, to: FolderEntry): void
  unlink(entry: FolderEntry): void
  makeFolder(entry: FolderEntry, mode?: number): void
  /** Removes an empty folder. */
  removeFolder(entry: FolderEntry): void
}
