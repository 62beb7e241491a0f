import { closeSync, constants, type Dirent, fstatSync, readdirSync, readSync } from 'node:fs'
import type { FileAccess } from '../../access/file-access.ts'
import { isSameList } from '../../at-descriptor.ts'
import { FILE_TYPES } from '../file-types.ts'
import { compileGlob } from '../glob.ts'
import { compileIgnoreRules, type IgnoreRules } from '../ignore-rules.ts'
import { isLeftOut } from '../left-out.ts'
import type { FileChoice } from '../search-job.ts'

/** A file that the walk came to: its path below the searched folder, and where to open it. */
export interface WalkedFile {
  readonly path: string
  readonly folder: number
  readonly name: string
}

/** Where the walk starts. */
export interface WalkStart {
  readonly access: FileAccess
  readonly descriptor: number
  readonly rulesAbove: string
}

/** Rules that hold below a folder; paths are relative to it. */
interface Level {
  readonly prefix: string
  readonly rules: IgnoreRules
}

const READ = constants.O_RDONLY | constants.O_NONBLOCK
const MAX_RULES_BYTES = 1_000_000

/** Walks the chosen files below an open folder, never through a link, in the order of their names. */
export function* walkFiles(start: WalkStart, choice: FileChoice, onUnreadable: () => void): Generator<WalkedFile> {
  const { access } = start
  const isOfType = typeTest(choice.type)
  const above = choice.includeIgnored ? '' : start.rulesAbove
  const first = [choice.globRules, above].filter((text) => text !== '')
  const levels = first.map((text): Level => ({ prefix: '', rules: compileIgnoreRules(text) }))
  yield* walk(start.descriptor, '', levels.reverse())

  /** `levels` are strongest first. */
  function* walk(folder: number, prefix: string, outer: readonly Level[]): Generator<WalkedFile> {
    const entries = readEntries(access, folder)
    if (!entries) return onUnreadable()
    const own = choice.includeIgnored ? undefined : readRules(access, folder, entries)
    const levels = own === undefined ? outer : [{ prefix, rules: compileIgnoreRules(own) }, ...outer]
    for (const entry of entries) {
      const path = prefix + entry.name
      if (!isChosen(entry, path, levels)) continue
      if (entry.isDirectory()) yield* enter(folder, entry.name, `${path}/`, levels)
      else yield { path, folder, name: entry.name }
    }
  }

  function* enter(parent: number, name: string, prefix: string, levels: readonly Level[]): Generator<WalkedFile> {
    const folder = tryOpen(access, parent, name)
    if (folder === undefined) return onUnreadable()
    try {
      yield* walk(folder, prefix, levels)
    } finally {
      closeSync(folder)
    }
  }

  function isChosen(entry: Dirent, path: string, levels: readonly Level[]): boolean {
    const isFolder = entry.isDirectory()
    if (!isFolder && !entry.isFile()) return false
    if (isLeftOut(entry.name) || (!choice.includeHidden && entry.name.startsWith('.'))) return false
    if (!isFolder && !isOfType(entry.name)) return false
    for (const { prefix, rules } of levels) {
      const verdict = rules(path.slice(prefix.length), isFolder)
      if (verdict) return verdict === 'keep'
    }
    return true
  }
}

function typeTest(type: string | undefined): (name: string) => boolean {
  if (type === undefined) return () => true
  const tests = (FILE_TYPES.get(type) ?? []).map(compileGlob)
  return (name) => tests.some((test) => test(name))
}

function readEntries(access: FileAccess, folder: number): Dirent[] | undefined {
  const path = access.at(folder, '.')
  try {
    const entries = access.look(folder, () => readdirSync(path, { withFileTypes: true }), hasSameNames)
    return entries.sort((a, b) => (a.name < b.name ? -1 : 1))
  } catch {
    // Gone or not readable: the caller counts it.
    return undefined
  }
}

function hasSameNames(a: readonly Dirent[], b: readonly Dirent[]): boolean {
  return isSameList(a.map(nameOf), b.map(nameOf))
}

function nameOf({ name }: Dirent): string {
  return name
}

function tryOpen(access: FileAccess, parent: number, name: string): number | undefined {
  try {
    return access.openFolder(parent, access.at(parent, name))
  } catch {
    return undefined
  }
}

function readRules(access: FileAccess, folder: number, entries: readonly Dirent[]): string | undefined {
  if (!entries.some((entry) => entry.name === '.gitignore' && entry.isFile())) return undefined
  let descriptor: number | undefined
  try {
    descriptor = access.open(folder, access.at(folder, '.gitignore'), READ)
    const bytes = Buffer.alloc(Math.min(fstatSync(descriptor).size, MAX_RULES_BYTES))
    return bytes.toString('utf8', 0, readSync(descriptor, bytes, 0, bytes.length, 0))
  } catch {
    // Rules that cannot be read leave nothing out, as in ripgrep.
    return undefined
  } finally {
    if (descriptor !== undefined) closeSync(descriptor)
  }
}
