import type { Readable, Writable } from 'node:stream'
import type { Jail } from '../jail/jail.ts'

/** What to start, where its jail is already decided. */
export interface StartOrder {
  readonly jail: Jail
  /** Never empty. */
  readonly words: readonly string[]
  readonly cwd: string
  /** Added to the jail's environment. */
  readonly env: Readonly<Record<string, string>>
  readonly pty: boolean
  /** Its standard error is written where its standard output is. */
  readonly mergeStderr?: boolean
  /** The command is given to its jail after this, and not when it fails; the jail is made meanwhile. */
  readonly ready?: Promise<void>
}

/** How a command ended. */
export interface Exit {
  readonly exitCode?: number
  readonly signal?: string
  /** It was killed because something new at this path, which its sandbox had closed, was not covered any more. */
  readonly uncovered?: string
}

/** A command that runs. With a terminal, `stderr` ends at once and all output is in `stdout`. */
export interface Started {
  /** What the command is outside of its sandbox; undefined where that is not known. */
  readonly pid?: number
  readonly stdin: Writable
  readonly stdout: Readable
  readonly stderr: Readable
  /** Resolves when the command itself has ended, whoever still holds its pipes; nothing of its jail is left then. */
  readonly exited: Promise<Exit>
  /** Ends the whole tree, politely first; resolves when nothing of it runs. */
  stop(): Promise<void>
}

/** Starts commands, through a small process of its own so that a large hub does not pay for its size. */
export interface Starter {
  /**
   * The signal ends the command too, as long as it runs.
   * Throws NOT_FOUND or EXEC_FAILED where the program is missing or cannot be run, SANDBOX_UNAVAILABLE where the jail cannot.
   */
  start(order: StartOrder, signal: AbortSignal): Promise<Started>
  /** Lets a jail of this kind be ready for the next command. Called only after policy has decided on one of its kind. */
  prepare(jail: Jail): void
  /** Ends everything that runs. */
  close(): Promise<void>
}
