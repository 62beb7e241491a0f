import { type Dirent, readdirSync } from 'node:fs'
import { ToolError } from '../../core/index.ts'
import { errnoOf } from '../../lib/index.ts'
import { isGitFolder } from './git-folder.ts'
import { foldName, isClosedToCommands, isHiddenFromCommands } from './protected-names.ts'

/** What stands in a text for bytes that are no text. */
const REPLACEMENT = '\uFFFD'
/** It is looked at anew each time, so it must not be large. */
const MAX_ENTRIES = 20_000
const SLASH = Buffer.from('/')

/** Something whose name is not valid UTF-8: no sandbox can be told to close it. */
export interface Unnameable {
  readonly path: Buffer
  readonly isFolder: boolean
}

/** What has such a name in a folder, given the names in it as texts. */
export function unnameableIn(folder: string, names: Iterable<string>): Unnameable[] {
  if (![...names].some((name) => name.includes(REPLACEMENT))) return []
  const path = Buffer.from(folder)
  return listBytes(path)
    .filter(({ name }) => !Buffer.from(name.toString()).equals(name))
    .map((entry) => ({ path: Buffer.concat([path, SLASH, entry.name]), isFolder: entry.isDirectory() }))
}

/** Throws if it, or something below it, is protected or looks like a secret. */
export function refuseProtected(found: Unnameable): void {
  let entriesLeft = MAX_ENTRIES
  const open = [found]
  for (let at = open.pop(); at; at = open.pop()) {
    const { path, isFolder } = at
    const [parent, name] = path.toString().split('/').slice(-2)
    if (isProtected(name!, parent, isFolder)) throw cannotClose(path)
    if (!isFolder || name === 'node_modules') continue
    const entries = listBytes(path)
    entriesLeft -= entries.length
    if (isGitFolder(new Set(entries.map((entry) => entry.name.toString())))) throw cannotClose(path)
    if (entriesLeft < 0) throw tooLarge(found.path)
    for (const entry of entries)
      open.push({ path: Buffer.concat([path, SLASH, entry.name]), isFolder: entry.isDirectory() })
  }
}

function isProtected(name: string, parent: string | undefined, isFolder: boolean): boolean {
  return isClosedToCommands(name, parent) || isHiddenFromCommands(name, isFolder) || foldName(name) === '.git'
}

function listBytes(folder: Buffer): Dirent<Buffer>[] {
  try {
    return readdirSync(folder, { withFileTypes: true, encoding: 'buffer' })
  } catch (error) {
    // A command has removed it meanwhile, or put a file in its place.
    if (errnoOf(error) === 'ENOENT' || errnoOf(error) === 'ENOTDIR') return []
    throw error
  }
}

function cannotClose(path: Buffer): ToolError {
  return new ToolError(
    'SANDBOX_UNAVAILABLE',
    `${path} must be closed to commands and cannot be, because its path is not valid UTF-8.`,
    { hint: 'Rename the file or the folder, or move it out of the sandbox roots.' },
  )
}

function tooLarge(path: Buffer): ToolError {
  return new ToolError(
    'SANDBOX_UNAVAILABLE',
    `The name of ${path} is not valid UTF-8, and it holds more than ${MAX_ENTRIES} files: they are not looked through for secrets.`,
    { hint: 'Rename the folder, or move it out of the sandbox roots.' },
  )
}
