/** Something that `verifyRun` found. */
export interface Finding {
  /** Line of events.jsonl, from 1; 0 when it is not about one line. */
  readonly line: number
  /** The event it is about; the last one when it is about none. */
  readonly seq: number
  readonly problem: string
}

const MOST_FINDINGS = 100

/** What is wrong with a run, and what is only worth knowing; at most 100 of each. */
export class Findings {
  readonly problems: Finding[] = []
  readonly remarks: Finding[] = []

  /** Something is not as it was written. */
  report(problem: string, { line = 0, seq }: { readonly line?: number; readonly seq: number }): void {
    if (this.problems.length < MOST_FINDINGS) this.problems.push({ line, seq, problem })
  }

  /** Something that a crash explains. */
  remark(problem: string, seq: number): void {
    if (this.remarks.length < MOST_FINDINGS) this.remarks.push({ line: 0, seq, problem })
  }
}
