import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  realpathSync,
  type Stats,
  unlinkSync,
} from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { type FilesLevel, ToolError } from '@tool-hub/core'
import { errnoOf } from '@tool-hub/core/lib'
import { quotePath } from '../file-error.ts'
import { linkEntry, makeEntry, removeEntry, renameEntry, type SteadyEntry, unlinkEntry } from './steady-changes.ts'
import { checkQuiet, checkSteady, exchanged, isSameEntry, type SteadyFolder, type SystemPath } from './steady-folder.ts'

/** A name below an open folder; `path` is a result of `at` or `atBytes`. */
export interface FolderEntry {
  readonly folder: number
  readonly path: SystemPath
}

/**
 * Accesses names below open folders. A folder is identified by its descriptor, which the code that opened it closes. Every
 * `path` is a result of `at` or `atBytes` for the same folder.
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
  /** The part before the name in the paths of all entries of a folder. */
  prefix(folder: number): string
  /** Opens a folder; fails on a link. */
  openFolder(folder: number, path: SystemPath): number
  /** Opens a file; `flags` without those about links, which are never followed. */
  open(folder: number, path: SystemPath, flags: number, mode?: number): number
  /** The same, for work that waits for the disk. */
  openHandle(folder: number, path: SystemPath, flags: number, mode?: number): Promise<FileHandle>
  /** The stats of an entry; links are not followed. Undefined if it does not exist. */
  stat(folder: number, path: SystemPath): Stats | undefined
  statBig(folder: number, path: SystemPath): BigIntStats | undefined
  /** Runs a step that only reads; `isSame` compares the results of two runs. */
  look<T>(folder: number, use: () => T, isSame: (a: T, b: T) => boolean): T
  /** Runs one step that changes something in a folder, for changes without a method below. */
  change<T>(folder: number, use: () => T): T
  rename(from: FolderEntry, to: FolderEntry): void
  /** Gives a file a second name. */
  link(from: FolderEntry, to: FolderEntry): void
  unlink(entry: FolderEntry): void
  makeFolder(entry: FolderEntry, mode?: number): void
  /** Removes an empty folder. */
  removeFolder(entry: FolderEntry): void
}

/** macOS refuses a link anywhere in the path with this flag, which Node does not export. */
const O_NOFOLLOW_ANY = 0x20000000
const NO_LINKS = process.platform === 'darwin' ? O_NOFOLLOW_ANY : constants.O_NOFOLLOW
const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | NO_LINKS
/** How often the removal of a file that was created elsewhere is tried. */
const MAX_REMOVALS = 10_000

/** The open folders by descriptor; a reused number gets a new entry. */
const folders = new Map<number, SteadyFolder>()

/**
 * Without /proc, such as on macOS: every step uses the whole path, which another process may redirect at that moment.
 * The result of a step is therefore compared with the path afterwards, and a change is made only after its path was steady.
 */
export const pathAccess: FileAccess = {
  level: 'paths',
  openBase(path) {
    const real = realpathSync.native(path)
    const descriptor = openSync(real, FOLDER)
    try {
      const found = fstatSync(descriptor, { bigint: true })
      if (!isAt(real, found)) throw exchanged(bytesOf(real))
      folders.set(descriptor, { path: bytesOf(real), dev: found.dev, ino: found.ino })
      return descriptor
    } catch (error) {
      closeSync(descriptor)
      throw error
    }
  },
  path: (folder) => textOf(folderOf(folder).path),
  at: (folder, name) => join(textOf(folderOf(folder).path), name),
  atBytes: (folder, name) => Buffer.from(join(folderOf(folder).path, name), 'latin1'),
  prefix: (folder) => join(textOf(folderOf(folder).path), ''),
  openFolder(folder, path) {
    const above = folderOf(folder)
    const descriptor = openChecked(above, path, FOLDER)
    const { dev, ino } = fstatSync(descriptor, { bigint: true })
    const bytes = bytesOf(path)
    folders.set(descriptor, bytes === above.path ? above : { path: bytes, dev, ino, above })
    return descriptor
  },
  open(folder, path, flags, mode) {
    const above = folderOf(folder)
    if (isMaking(flags)) checkQuiet(above)
    return openChecked(above, path, flags | NO_LINKS, mode)
  },
  async openHandle(folder, path, flags, mode) {
    if (!isMaking(flags)) return openHandle(folderOf(folder), path, flags)
    // Created right after its path was checked, and opened for the work once it is known to be there.
    const made = pathAccess.open(folder, path, flags, mode)
    try {
      const again = flags & ~(constants.O_CREAT | constants.O_EXCL)
      return await openHandle(folderOf(folder), path, again, fstatSync(made, { bigint: true }))
    } finally {
      closeSync(made)
    }
  },
  stat(folder, path) {
    const look = () => lstatSync(path, { throwIfNoEntry: false })
    return asSpelled(path, pathAccess.look(folder, look, isSameStat))
  },
  statBig(folder, path) {
    const look = () => lstatSync(path, { bigint: true, throwIfNoEntry: false })
    return asSpelled(path, pathAccess.look(folder, look, isSameStat))
  },
  look(folder, use, isSame) {
    const sinceMs = Date.now()
    const first = attempt(use)
    checkSteady(folderOf(folder), sinceMs, () => {
      const next = attempt(use)
      if ('error' in first || 'error' in next) return errnoOf(first.error) === errnoOf(next.error)
      return isSame(first.value, next.value)
    })
    if ('error' in first) throw first.error
    return first.value
  },
  change(folder, use) {
    checkQuiet(folderOf(folder))
    return use()
  },
  rename: (from, to) => renameEntry(steady(from), steady(to)),
  link: (from, to) => linkEntry(steady(from), steady(to)),
  unlink: (entry) => unlinkEntry(steady(entry)),
  makeFolder: (entry, mode) => makeEntry(steady(entry), mode),
  removeFolder: (entry) => removeEntry(steady(entry)),
}

function steady({ folder, path }: FolderEntry): SteadyEntry {
  return { folder: folderOf(folder), path }
}

function openChecked(above: SteadyFolder, path: SystemPath, flags: number, mode?: number): number {
  const sinceMs = Date.now()
  const opened = attempt(() => openSync(path, flags, mode))
  if ('error' in opened) {
    checkSteady(above, sinceMs, () => true)
    throw opened.error
  }
  const descriptor = opened.value
  const found = fstatSync(descriptor, { bigint: true })
  try {
    if (!isAt(path, found)) throw exchanged(bytesOf(path))
    checkSteady(above, sinceMs, () => isAt(path, found))
    return asSpelled(path, descriptor)
  } catch (error) {
    if (isMaking(flags)) removeMade(descriptor, path)
    closeSync(descriptor)
    throw error
  }
}

async function openHandle(
  above: SteadyFolder,
  path: SystemPath,
  flags: number,
  expected?: BigIntStats,
): Promise<FileHandle> {
  const sinceMs = Date.now()
  const handle = await open(path, flags | NO_LINKS)
  try {
    const found = await handle.stat({ bigint: true })
    if (!isSameEntry(found, expected ?? found) || !isAt(path, found)) throw exchanged(bytesOf(path))
    checkSteady(above, sinceMs, () => isAt(path, found))
    return handle
  } catch (error) {
    await handle.close()
    throw error
  }
}

/** Whether a path leads to an open entry, without a link at its end. */
function isAt(path: SystemPath, found: BigIntStats): boolean {
  const now = attempt(() => lstatSync(path, { bigint: true }))
  return now.value !== undefined && isSameEntry(now.value, found)
}

function isMaking(flags: number): boolean {
  return (flags & constants.O_CREAT) !== 0
}

/** A file that was created elsewhere is empty and has a unique name: it is removed as soon as its path leads there again. */
function removeMade(descriptor: number, path: SystemPath): void {
  for (let tries = 0; tries < MAX_REMOVALS && fstatSync(descriptor).nlink > 0; tries += 1) {
    if (isAt(path, fstatSync(descriptor, { bigint: true }))) attempt(() => unlinkSync(path))
  }
}

/**
 * File systems that ignore case or Unicode forms find a name by other spellings, which rules do not match: only the
 * spelling on disk is accepted.
 */
function asSpelled<T>(path: SystemPath, found: T): T {
  if (found === undefined || typeof path !== 'string' || isLink(found)) return found
  const real = attempt(() => realpathSync.native(path))
  if ('error' in real || real.value === path) return found
  if (fold(real.value) !== fold(path)) throw exchanged(bytesOf(path))
  throw new ToolError('PATH_DENIED', `${quotePath(path)} is spelled ${quotePath(real.value)} on disk.`, {
    hint: `Use the spelling on disk: ${real.value}`,
  })
}

function isLink(found: unknown): boolean {
  return typeof found === 'object' && found !== null && (found as Stats).isSymbolicLink()
}

function fold(path: string): string {
  return path.normalize('NFKD').toLowerCase().normalize('NFKD')
}

function isSameStat(a: Stats | BigIntStats | undefined, b: Stats | BigIntStats | undefined): boolean {
  return a?.ino === b?.ino && a?.dev === b?.dev
}

type Attempt<T> = { readonly value: T; readonly error?: never } | { readonly error: unknown; readonly value?: never }

function attempt<T>(use: () => T): Attempt<T> {
  try {
    return { value: use() }
  } catch (error) {
    return { error }
  }
}

function folderOf(descriptor: number): SteadyFolder {
  const folder = folders.get(descriptor)
  if (folder) return folder
  throw new ToolError('SANDBOX_UNAVAILABLE', 'A folder was used that is not open.')
}

function join(folder: string, name: string): string {
  if (name === '.') return folder
  return folder === '/' ? `/${name}` : `${folder}/${name}`
}

function bytesOf(path: SystemPath): string {
  return Buffer.from(path as string).toString('latin1')
}

function textOf(bytes: string): string {
  return Buffer.from(bytes, 'latin1').toString()
}
