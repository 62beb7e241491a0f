import { dirname } from 'node:path'
import { type FoundLine, ToolError } from '@tool-hub/core'
import { quotePath } from '../file-error.ts'
import type { FilesCall } from '../files-call.ts'
import type { FilesRoot } from '../files-root.ts'
import type { FileTarget, Roots } from '../roots.ts'
import { inParent, statAt } from '../walk.ts'

/** The opened folder to search, or one file in it. */
export interface SearchFolder {
  /** The folder, even if only one file in it is searched. */
  readonly folder: FileTarget
  readonly descriptor: number
  /** If set, only this file of the folder is searched. */
  readonly file?: string
  /** The rules of .gitignore files above the folder, rewritten to be relative to it. */
  readonly rulesAbove: string
  /** The target of a file below the folder. */
  readonly targetOf: (file: string) => FileTarget
}

/** A matching line of a file, or a line around one. */
export interface MatchedLine {
  readonly line: number
  readonly text: string
  readonly isMatch: boolean
}

/** The matches in one file. */
export interface FileMatches {
  readonly file: string
  readonly matches: number
  /** In order; empty unless the caller asked for lines. */
  readonly lines: readonly MatchedLine[]
}

/** Collects the matches of a search. Nothing of a file is collected before `accepts` has returned true for it. */
export interface MatchCollector {
  /** False if nothing of this file may be returned. */
  accepts(file: string): boolean
  /** Adds the matches of an accepted file; false ends the search. */
  add(found: FileMatches): boolean
  /** Counts files that could not be searched. */
  skip(count: number): void
}

/** The limits at which a search ends early. */
export interface FoundLimits {
  readonly maxFiles: number
  /** Of matching lines; only if the caller asked for lines. */
  readonly maxMatches?: number
  readonly contextLines?: number
}

const MAX_CHARACTERS = 8_000_000
/** Characters that sort otherwise than their bytes. */
export const AFTER_SURROGATES = /[\ud800-\uffff]/

/** Collects matches in files that may be read, up to the limits. */
export class FoundFiles implements MatchCollector {
  skipped = 0
  isComplete = true
  private readonly found: FileMatches[] = []
  private matches = 0
  private characters = 0
  private readonly check: (file: string) => void
  private readonly limits: FoundLimits
  private readonly isWanted: (file: string) => boolean

  constructor(check: (file: string) => void, limits: FoundLimits, isWanted: (file: string) => boolean = () => true) {
    this.check = check
    this.limits = limits
    this.isWanted = isWanted
  }

  accepts(file: string): boolean {
    if (!this.isWanted(file)) return false
    try {
      this.check(file)
      return true
    } catch (error) {
      if (!ToolError.is(error)) throw error
      if (error.code === 'FILE_TOO_LARGE') this.skip(1)
      // The search continues without this file. It is not counted either: only files that match get here, so the count
      // would reveal their content.
      return false
    }
  }

  add(found: FileMatches): boolean {
    const { maxFiles, maxMatches = Number.POSITIVE_INFINITY } = this.limits
    const left = maxMatches - this.matches
    if (this.found.length === maxFiles || left === 0 || this.characters > MAX_CHARACTERS) return this.end()
    const kept = found.matches > left ? this.cut(found, left) : found
    this.found.push(kept)
    this.matches += kept.matches
    for (const { text } of kept.lines) this.characters += text.length
    return kept === found || this.end()
  }

  skip(count: number): void {
    this.skipped += count
  }

  /** Sorted by the bytes of the paths. */
  sorted(): FileMatches[] {
    // Up to the surrogates the characters of a text sort like its bytes, without a copy of each path.
    if (!this.found.some(({ file }) => AFTER_SURROGATES.test(file))) {
      return this.found.toSorted((a, b) => (a.file < b.file ? -1 : a.file === b.file ? 0 : 1))
    }
    const keyed = this.found.map((found) => ({ found, key: Buffer.from(found.file) }))
    return keyed.sort((a, b) => Buffer.compare(a.key, b.key)).map(({ found }) => found)
  }

  private end(): false {
    this.isComplete = false
    return false
  }

  /** The first matches of a file, with only the lines around those. */
  private cut({ file, lines }: FileMatches, matches: number): FileMatches {
    const matching = lines.filter((line) => line.isMatch)
    const last = matching[matches - 1]?.line ?? 0
    const next = matching[matches]?.line ?? Number.POSITIVE_INFINITY
    const end = Math.min(next, last + (this.limits.contextLines ?? 0) + 1)
    return { file, matches, lines: lines.filter(({ line }) => line < end) }
  }
}

/** A check that throws unless a file below the searched folder may be read. */
export function fileCheck(
  filesRoot: FilesRoot,
  call: FilesCall,
  targetOf: (file: string) => FileTarget,
): (file: string) => void {
  const shown = new Set(['.'])
  return (file) => {
    const target = targetOf(file)
    filesRoot.pass(target, 'read', call)
    if (call.maxFileBytes !== undefined) refuseTooLarge(target, call.maxFileBytes)
    // The path that is returned also shows the names of the folders on the way.
    for (let folder = dirname(file); !shown.has(folder); folder = dirname(folder)) {
      shown.add(folder)
      const { path } = targetOf(folder)
      if (call.isUntrusted?.(path)) call.onUntrusted?.(path)
    }
  }
}

function refuseTooLarge(target: FileTarget, limit: number): void {
  const stats = inParent(target, statAt)
  if (stats && 'size' in stats && stats.size <= limit) return
  throw new ToolError('FILE_TOO_LARGE', `${quotePath(target.path)} is larger than ${limit} bytes.`)
}

/** The targets of files below the searched folder, which ripgrep reports folder by folder: each folder is located once. */
export function fileTargets(roots: Roots, folder: FileTarget): (file: string) => FileTarget {
  let lastFile: string | undefined
  let lastFolder: string | undefined
  let last = folder
  let above = folder
  return (file) => {
    if (file === lastFile) return last
    const slash = file.lastIndexOf('/')
    const name = file.slice(slash + 1)
    if (slash === -1 || name === '' || name === '.' || name === '..') return fileTarget(roots, folder, file)
    if (
      lastFolder === undefined ||
      file.length - name.length - 1 !== lastFolder.length ||
      !file.startsWith(lastFolder)
    ) {
      above = fileTarget(roots, folder, file.slice(0, slash))
      lastFolder = file.slice(0, slash)
    }
    last = { ...above, names: [...above.names, name], path: `${above.path}/${name}` }
    lastFile = file
    return last
  }
}

/** The target of a file below the searched folder, in the deepest root that contains it. */
function fileTarget(roots: Roots, folder: FileTarget, file: string): FileTarget {
  if (file.split('/').some((name) => name === '' || name === '.' || name === '..'))
    throw new ToolError('PATH_DENIED', `${quotePath(file)} is not a plain path below the searched folder.`)
  return roots.locateLink(`${folder.path === '/' ? '' : folder.path}/${file}`, folder)
}

/** The lines of files with their names. */
export function linesOf(files: readonly FileMatches[]): FoundLine[] {
  return files.flatMap(({ file, lines }) => lines.map((line) => ({ file, ...line })))
}
