import { type Dirent, readdirSync } from 'node:fs'
import { ToolError } from '@tool-hub/core'
import { errnoOf } from '@tool-hub/core/lib'
import { isGitFolder } from '../git/index.ts'
import { foldName, isClosedToCommands, isHiddenFromCommands } from '../names/index.ts'

/** The replacement character for bytes that are not valid UTF-8. */
const REPLACEMENT = '\uFFFD'
/** It is checked again each time, so it must not be large. */
const MAX_ENTRIES = 20_000
const SLASH = Buffer.from('/')

/** An entry whose name is not valid UTF-8: no sandbox can close it. */
export interface Unnameable {
  readonly path: Buffer
  readonly isFolder: boolean
  /** Default: false. */
  readonly isLink?: boolean
  /** Whether it is in `node_modules`, where only git folders count. Default: false. */
  readonly isCode?: boolean
}

/** The entries of a folder with such a name; `names` are all names in it, as text. */
export function unnameableIn(folder: string, names: Iterable<string>): Unnameable[] {
  if (![...names].some((name) => name.includes(REPLACEMENT))) return []
  const path = Buffer.from(folder)
  return listBytes(path)
    .filter(({ name }) => !Buffer.from(name.toString()).equals(name))
    .map((entry) => ({ path: Buffer.concat([path, SLASH, entry.name]), ...kindOf(entry) }))
}

/** Throws if it, or something below it, is protected or looks like a secret. Returns the links among them. */
export function refuseProtected(found: Unnameable): Buffer[] {
  const links: Buffer[] = []
  let entriesLeft = MAX_ENTRIES
  const open = [found]
  for (let at = open.pop(); at; at = open.pop()) {
    const { path, isFolder, isCode } = at
    const [parent, name] = path.toString().split('/').slice(-2)
    if (isCode ? foldName(name!) === '.git' : isProtected(name!, parent, isFolder)) throw cannotClose(path)
    if (at.isLink) links.push(path)
    if (!isFolder) continue
    const entries = listBytes(path)
    entriesLeft -= entries.length
    if (isGitFolder(new Set(entries.map((entry) => entry.name.toString())))) throw cannotClose(path)
    if (entriesLeft < 0) throw tooLarge(found.path)
    for (const entry of entries)
      open.push({
        path: Buffer.concat([path, SLASH, entry.name]),
        ...kindOf(entry),
        isCode: isCode || name === 'node_modules',
      })
  }
  return links
}

function kindOf(entry: Dirent<Buffer>): Pick<Unnameable, 'isFolder' | 'isLink'> {
  return { isFolder: entry.isDirectory(), isLink: entry.isSymbolicLink() }
}

function isProtected(name: string, parent: string | undefined, isFolder: boolean): boolean {
  return isClosedToCommands(name, parent) || isHiddenFromCommands(name, isFolder, parent) || foldName(name) === '.git'
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
