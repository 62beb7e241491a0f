/** Something that `verifyRun` found. */
export interface AuditFinding {
  /** Line of events.jsonl, from 1; 0 when it is not about one line. */
  readonly line: number
  /** The event it is about; the last one when it is about none. */
  readonly seq: number
  readonly problem: string
}

const MAX_FINDINGS = 100

/** What is wrong with a run, and what is only worth knowing; at most 100 of each. */
export class AuditFindings {
  readonly problems: AuditFinding[] = []
  readonly remarks: AuditFinding[] = []

  /** Something is not as it was written. */
  report(problem: string, { line = 0, seq }: { readonly line?: number; readonly seq: number }): void {
    if (this.problems.length < MAX_FINDINGS) this.problems.push({ line, seq, problem })
  }

  /** Something that a crash explains. */
  remark(problem: string, seq: number): void {
    if (this.remarks.length < MAX_FINDINGS) this.remarks.push({ line: 0, seq, problem })
  }
}
