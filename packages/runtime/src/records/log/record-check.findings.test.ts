import { describe, expect, it } from 'vitest'
import { AuditFindings } from './record-check.ts'

describe('findings', () => {
  it('are a hundred of each at most', () => {
    const findings = new AuditFindings()
    for (let seq = 1; seq <= 101; seq++) {
      findings.report(`p${seq}`, { seq })
      findings.remark(`r${seq}`, seq)
    }
    expect([findings.problems.length, findings.remarks.length]).toEqual([100, 100])
    expect(findings.problems.at(-1)).toEqual({ line: 0, seq: 100, problem: 'p100' })
    expect(findings.remarks.at(-1)).toEqual({ line: 0, seq: 100, problem: 'r100' })
  })
})
