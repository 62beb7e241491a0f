import type { Risk } from './risk.ts'

/** A command line as policy judges it: every simple command that it could run, in the order they stand. */
export interface CommandReading {
  readonly parts: readonly CommandPart[]
  /** What holds for the line as a whole: it does not parse, two parsers disagree, it hides characters. */
  readonly doubts: readonly Doubt[]
}

/** One simple command, wherever it stands: in a list, a pipe, a substitution, behind a wrapper. */
export interface CommandPart {
  /** After quote removal; `undefined` if the word is only known at run time. */
  readonly words: readonly (string | undefined)[]
  /** As it is written. */
  readonly text: string
  /** Where it stands, when not at the top: "inside `$(…)` of the second argument". */
  readonly where?: string
  /** The wrappers it was taken out of, outermost first: `env`, `xargs`. */
  readonly through: readonly string[]
  /** Files that it names, as absolute paths. */
  readonly paths: readonly string[]
  /** It makes, changes or deletes the files that it names. */
  readonly isWriting?: boolean
  /** Globs for files that it reads from a repository, where no sandbox hides them. */
  readonly globs?: readonly string[]
  /** What keeps an allow from covering it. */
  readonly doubts: readonly Doubt[]
  /** What people should know of it; absent where nothing is known to be dangerous. */
  readonly risks?: readonly Risk[]
  /** Commands among its words that it would run if it were a wrapper: nothing is known of the program. */
  readonly carried?: readonly CarriedCommand[]
  /**
   * Its words, with `<files>` in place of operands that are plain files and `<text>` in place of a message: commands of one
   * shape differ in nothing else. Absent if a word is only known at run time.
   */
  readonly shape?: string
  /** Where the code may be that it runs; absent if its words say all. */
  readonly code?: CodePlaces
}

/** Files that decide what a command does, as far as its words show. */
export interface CodePlaces {
  /** Absolute paths in the roots of what may be files: scripts, programs, configurations. */
  readonly files: readonly string[]
  /** Names of files with rules or scripts of the project. */
  readonly projectFiles: readonly string[]
  /** Where those are looked for. */
  readonly folders: readonly string[]
  /** Words that name what runs, each with the files it may be: if none of these exists, nobody knows where that is. */
  readonly hidden: ReadonlyArray<{ readonly word: string; readonly files: readonly string[] }>
  /** It runs what is in places that the words do not name, or in too many. */
  readonly isElsewhere: boolean
}

/** Words of an unknown program that are a command by themselves. */
export interface CarriedCommand {
  /** Index of the word that it begins at, or that holds it. */
  readonly at: number
  readonly part: CommandPart
}

/**
 * Why an allow does not cover a command.
 * unread: the text could not be read with certainty. refused: it can never run. hidden: what runs is only known when it
 * runs (a dynamic name, a script in another language). reach: it does more than its words say (writes, leaves the roots,
 * changes its environment, an option that runs a program).
 */
export interface Doubt {
  readonly kind: 'unread' | 'refused' | 'hidden' | 'reach'
  readonly reason: string
  /** Index of the word that brings it: a rule that spells this word out means it. */
  readonly at?: number
}

/** Where a command would run. */
export interface CommandPlace {
  /** Real path. */
  readonly cwd: string
  /** Real paths of the folders it may touch. */
  readonly roots: readonly string[]
  /** `~`; words that begin with it are doubtful without. */
  readonly home?: string
  /** Names of the variables that the call adds to the environment. */
  readonly env?: readonly string[]
  /** The call gives it text on its standard input. */
  readonly stdin?: boolean
}

/** What the second parser found: the text of every simple command, or that it could not parse. */
export interface SecondOpinion {
  readonly hasError: boolean
  /** For each simple command: where its name begins and ends in the text, in UTF-16 units. */
  readonly names: ReadonlyArray<{ readonly from: number; readonly to: number }>
}

/** Parses a line with the second parser; absent while or because it cannot be loaded. */
export type AskSecondParser = (text: string) => SecondOpinion

/** Where one command may end and another begin, as far as this can be known without a parser. */
const SEPARATORS = /[;&|<>`$(){}'"\\\n\r]+/

/** Reads a line without a parser: splits it at what separates commands, so that a deny can match. The reading is never certain. */
export function readRoughly(text: string): CommandReading {
  if (text.includes('\0'))
    return { parts: [], doubts: [{ kind: 'refused', reason: 'it has a NUL character, where the line would end' }] }
  const pieces = text.split(SEPARATORS).map((piece) => piece.split(/[ \t]+/).filter(Boolean))
  const parts = pieces.filter((words, index) => index === 0 || words.length > 0)
  return {
    parts: parts.map((words) => ({ words, text: words.join(' '), through: [], paths: [], doubts: [] })),
    doubts: [{ kind: 'unread', reason: 'no parser has read it' }],
  }
}

/** A doubt: it does more than its words say. */
export function reach(reason: string): Doubt {
  return { kind: 'reach', reason }
}

/** A doubt: what runs is only known at run time. */
export function hidden(reason: string): Doubt {
  return { kind: 'hidden', reason }
}
