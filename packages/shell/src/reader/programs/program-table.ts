import type { Risk } from '../../risk.ts'

/** What is known of one program, or of one command of it such as `git diff`: data for people to review. */
export interface ProgramTable {
  /** The names it goes by, separated by blanks. */
  readonly names: string
  /** A version may follow the name: `python3.11`. */
  readonly isVersioned?: boolean
  /**
   * How it reads options. gnu: clusters, `--name=value`, long names may be cut short. exact: the same, never cut short.
   * words: `-name value`, as go and find do. none: every word is an operand.
   */
  readonly style?: 'gnu' | 'exact' | 'words' | 'none'
  /** One dash or two make no difference to a long name, as npm reads them. */
  readonly isDashBlind?: boolean
  /** Options that make it do more than its name says. */
  readonly rows?: readonly HazardRow[]
  /** Harmless options that take a value, separated by blanks. */
  readonly texts?: string
  /** Harmless options that take two words. */
  readonly pairs?: string
  /** Harmless options whose value is a file or a folder. */
  readonly files?: string
  /** Harmless options whose value, if any, is attached to them. */
  readonly maybes?: string
  /** Harmless options without a value; needed where the table is closed or the name begins that of a hazard. */
  readonly flags?: string
  /** Every harmless option is listed, so that any other one is a hazard. */
  readonly isClosed?: boolean
  /** What its operands are. Default: guessed from their form. */
  readonly operands?: OperandKind
  /** It makes, changes or deletes the files that its operands name. */
  readonly isWriting?: boolean
  /** It does the same with other files. Default: unless its name is a hazard, or for what is writing. */
  readonly anyFiles?: boolean
  /** Operands that make it do more than its name says. */
  readonly operandRows?: readonly OperandRow[]
  /** What comes after the first operand belongs to that one, not to the program. */
  readonly stopsAtOperand?: boolean
  /** It may run words that follow its own: those are judged as of an unknown program. */
  readonly mayRunWords?: boolean
  /** What names the program that gets all further words: the first operand, or the value of an option. */
  readonly carries?: 'operand' | '-m'
  /** The first word may be a cluster without its dash: `tar xf`. */
  readonly hasBareCluster?: boolean
  /** Harmless options whose value is a script. */
  readonly scripts?: string
  /** Harmless options whose value is a message for people. */
  readonly messages?: string
  /** Names of files of the project that say what it runs, separated by blanks. */
  readonly projectFiles?: string
  /** Reads the script that it is given as its first operand or the value of an option. */
  readonly readScript?: (text: string) => ScriptReading
  /** What it does by itself, unless one of some options is there. */
  readonly implied?: ImpliedRow
  /** Its commands, as `diff` of git; the first operand names one. */
  readonly commands?: readonly ProgramTable[]
  /** Its options may also stand after the command. */
  readonly isInherited?: boolean
  /** Holds for a command that is not listed. */
  readonly otherwise?: Hazard & { readonly example: string }
  /** What its name alone says to people who are asked; by name where the names of a table differ in it. */
  readonly risk?: Risk | Readonly<Record<string, Risk>>
  /** What to write after the name for a line without any hazard; a test adds each row's example to it. */
  readonly clean?: string
}

/**
 * paths: all are files. revisions: each is a revision of git, a file of one (`HEAD:x`) or a pathspec. texts: none is a file.
 * guess: those that look like one. Else: so many texts first, then files, or for git pathspecs.
 */
export type OperandKind =
  | 'paths'
  | 'revisions'
  | 'texts'
  | 'guess'
  | { readonly texts: number; readonly unless?: string; readonly then?: 'revisions' }

/** hidden: what runs is code that the words do not show. reach: it writes, runs or reaches more than its name says. */
export interface Hazard {
  readonly kind: 'hidden' | 'reach'
  /** What it does, to be read after its name: "writes the result to a file". */
  readonly reason: string
}

/** An option that is a hazard. */
export interface HazardRow extends Hazard {
  /** Its spellings, and its value: `-o --output=FILE`; `[=FILE]` when it may be missing; FILE or TEXT. */
  readonly option: string
  readonly example: string
  /** Only for values like this. */
  readonly when?: RegExp
}

/** An operand that is a hazard. */
export interface OperandRow extends Hazard {
  /** Only operands like this. */
  readonly like?: RegExp
  /** Only from this one on, counted from 1. */
  readonly from?: number
  /** Only up to this one. */
  readonly to?: number
  /** Not with one of these options. */
  readonly unless?: string
  readonly example: string
}

/** What a program does without any option. */
export interface ImpliedRow extends Hazard {
  /** Not with one of these options. */
  readonly unless?: string
  /** Not when it has operands. */
  readonly unlessOperands?: boolean
  /** To name the program does not mean this: what runs comes from somewhere else. */
  readonly isUnnamed?: boolean
  readonly example: string
}

/** What a script in a small language would do. */
export interface ScriptReading {
  readonly hazards: readonly Hazard[]
  readonly paths: readonly string[]
}

/** A row for an option that writes, runs or reaches more than the program's name says. */
export function reachRow(option: string, reason: string, example: string, when?: RegExp): HazardRow {
  return { option, kind: 'reach', reason, example, when }
}

/** A row for an option through which code runs that the words do not show. */
export function hiddenRow(option: string, reason: string, example: string, when?: RegExp): HazardRow {
  return { option, kind: 'hidden', reason, example, when }
}
