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
import { ToolError } from '../../../core/index.ts'
import { errnoOf } from '../../../lib/index.ts'
import { quotePath } from '../file-error.ts'
import type { FileAccess, FolderEntry, SystemPath } from './file-access.ts'
import { linkEntry, makeEntry, removeEntry, renameEntry, type SteadyEntry, unlinkEntry } from './steady-changes.ts'
import { checkQuiet, checkSteady, exchanged, isSameEntry, type SteadyFolder } from './steady-folder.ts'

/** macOS refuses a link anywhere in the path with this flag, which Node does not export. */
const O_NOFOLLOW_ANY = 0x20000000
const NO_LINKS = process.platform === 'darwin' ? O_NOFOLLOW_ANY : constants.O_NOFOLLOW
const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | NO_LINKS
/** How often a file is looked for that was made somewhere else, to remove it. */
const MAX_REMOVALS = 10_000

/** The folders that are open, by descriptor: a number that is used again gets another entry. */
const folders = new Map<number, SteadyFolder>()

/**
 * Without /proc, such as on macOS: every step names the whole path, which another process may redirect at that moment.
 * What a step found is therefore compared with the path afterwards, and a change comes only after its way was steady.
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
    // Made right after the look at its way, and opened for the work when it is known to be there.
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

/** Whether a path leads to what is open, and not over a link at its end. */
function isAt(path: SystemPath, found: BigIntStats): boolean {
  const now = attempt(() => lstatSync(path, { bigint: true }))
  return now.value !== undefined && isSameEntry(now.value, found)
}

function isMaking(flags: number): boolean {
  return (flags & constants.O_CREAT) !== 0
}

/** What was made elsewhere is empty and has a name that nothing else has: it goes as soon as its path leads there again. */
function removeMade(descriptor: number, path: SystemPath): void {
  for (let tries = 0; tries < MAX_REMOVALS && fstatSync(descriptor).nlink > 0; tries += 1) {
    if (isAt(path, fstatSync(descriptor, { bigint: true }))) attempt(() => unlinkSync(path))
  }
}

/**
 * File systems that ignore case or forms of characters find a name by other spellings, which rules do not know: only the
 * spelling on disk is used.
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
