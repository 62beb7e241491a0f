import type { FoundLine } from '../../../contracts/handles.ts'
import { ToolError } from '../../../errors.ts'
import type { FilesCall, FilesDoor } from '../files-door.ts'
import type { Roots, Target } from '../open-roots.ts'
import { quotePath } from '../quote-path.ts'
import type { FileMatches, Sink } from './engine.ts'

/** Where a search ends early. */
export interface FoundLimits {
  readonly maxFiles: number
  /** Of matching lines; only where lines are given out. */
  readonly maxMatches?: number
  readonly contextLines?: number
}

const MAX_CHARACTERS = 8_000_000

/** Judges and keeps what an engine finds, up to the limits. */
export class FoundFiles implements Sink {
  skipped = 0
  isComplete = true
  private readonly found: FileMatches[] = []
  private matches = 0
  private characters = 0
  private readonly judge: (file: string) => void
  private readonly limits: FoundLimits
  private readonly isWanted: (file: string) => boolean

  constructor(judge: (file: string) => void, limits: FoundLimits, isWanted: (file: string) => boolean = () => true) {
    this.judge = judge
    this.limits = limits
    this.isWanted = isWanted
  }

  admits(file: string): boolean {
    if (!this.isWanted(file)) return false
    try {
      this.judge(file)
      return true
    } catch (error) {
      if (!ToolError.is(error)) throw error
      // A file that may not be read is no reason to give up on the others. Nor is it counted: engines only ask about files
      // that match, so the count would tell what is in them.
      return false
    }
  }

  take(found: FileMatches): boolean {
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
    const keyed = this.found.map((found) => ({ found, key: Buffer.from(found.file) }))
    return keyed.sort((a, b) => Buffer.compare(a.key, b.key)).map(({ found }) => found)
  }

  private end(): false {
    this.isComplete = false
    return false
  }

  /** The first matches of a file, with the lines around those only. */
  private cut({ file, lines }: FileMatches, matches: number): FileMatches {
    const matching = lines.filter((line) => line.isMatch)
    const last = matching[matches - 1]?.line ?? 0
    const next = matching[matches]?.line ?? Number.POSITIVE_INFINITY
    const end = Math.min(next, last + (this.limits.contextLines ?? 0) + 1)
    return { file, matches, lines: lines.filter(({ line }) => line < end) }
  }
}

/** Asks the door about a file below the searched folder. */
export function judgeFiles(door: FilesDoor, call: FilesCall, folder: Target): (file: string) => void {
  return (file) => door.pass(fileTarget(door.roots, folder, file), 'read', call)
}

/** The target of a file below the searched folder; the deepest root that holds it decides. */
export function fileTarget(roots: Roots, folder: Target, file: string): Target {
  if (file.split('/').some((name) => name === '' || name === '.' || name === '..'))
    throw new ToolError('PATH_DENIED', `${quotePath(file)} is not a plain path below the searched folder.`)
  return roots.locateLink(`${folder.path === '/' ? '' : folder.path}/${file}`, folder)
}

/** The lines of files with their names. */
export function linesOf(files: readonly FileMatches[]): FoundLine[] {
  return files.flatMap(({ file, lines }) => lines.map((line) => ({ file, ...line })))
}
