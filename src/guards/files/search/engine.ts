import type { Target } from '../open-roots.ts'
import type { FileChoice, SearchJob } from './search-job.ts'

/** The folder that is searched, held open; or one file in it. */
export interface Place {
  /** The folder, also when one file of it is searched. */
  readonly folder: Target
  readonly descriptor: number
  /** Only this file of the folder. */
  readonly file?: string
  /** What .gitignore files above the folder say about what is below it. */
  readonly rulesAbove: string
}

/** A line of a file; `file` is known from around it. */
export interface MatchedLine {
  readonly line: number
  readonly text: string
  readonly isMatch: boolean
}

/** What was found in one file. */
export interface FileMatches {
  readonly file: string
  readonly matches: number
  /** In order; empty unless lines are asked for. */
  readonly lines: readonly MatchedLine[]
}

/** Takes what an engine finds and judges it: nothing of a file is given out before. */
export interface Sink {
  /** False when nothing of this file may be given out; it is counted as skipped. */
  admits(file: string): boolean
  /** Takes the matches of a file that was admitted; false means: enough, stop. */
  take(found: FileMatches): boolean
  /** Counts files that could not be looked into. */
  skip(count: number): void
}

/** A way to search: ripgrep, or our own. Both give the same answers. */
export interface Engine {
  readonly name: 'ripgrep' | 'built-in'
  search(place: Place, job: SearchJob, sink: Sink, signal: AbortSignal): Promise<void>
  /** Gives each file as one without matches. */
  find(place: Place, choice: FileChoice, sink: Sink, signal: AbortSignal): Promise<void>
}
