/** An answer, with the words of every command that was read; undefined stands for words that only the run tells. */
export interface Judged {
  readonly verdict: 'allow' | 'ask' | 'deny'
  readonly commands?: ReadonlyArray<readonly (string | undefined)[]>
}

/** A line that was allowed and ran more than the rules allow. */
export interface WrongAllow {
  readonly line: string
  readonly problems: readonly string[]
}

/** Judges generated lines and really runs every allowed one. */
export function runFuzz(options: {
  readonly lines: number
  readonly seed: number
  readonly judge: (line: string) => Judged
  readonly known?: readonly string[]
  readonly most?: number
  readonly onProgress?: (progress: { readonly done: number; readonly wrong: number }) => void
}): Promise<{
  readonly seed: number
  readonly verdicts: Readonly<Record<'allow' | 'ask' | 'deny', number>>
  /** How often a line was really run. */
  readonly ran: number
  /** How many programs those runs called. */
  readonly programs: number
  readonly wrong: readonly WrongAllow[]
}>

/** Runs allowed lines together; where something was wrong, those it may be are run again, each alone. */
export function runAllowed(
  lines: ReadonlyArray<{ readonly line: string; readonly commands?: Judged['commands'] }>,
  most?: number,
): Promise<{ readonly wrong: readonly WrongAllow[]; readonly ran: number; readonly programs: number }>
