import { describe, expect, it } from 'vitest'
import { readCallRecord } from './read-call-record.ts'

const line = (type: string, more: Record<string, unknown> = {}) => ({
  seq: 1,
  time: '2026-11-15T10:00:00.000Z',
  type,
  ...more,
})

describe('readCallRecord', () => {
  it('puts together what was asked, what was answered and how it ended', () => {
    const record = readCallRecord([
      line('approval-requested', { approval: 'p1', reason: 'Needs an approval.' }),
      line('approval-answered', { approval: 'p1', decision: 'allow', by: 'token:boss', via: 'console', changed: true }),
      line('answer-refused', { by: 'cli:ada', reason: 'It was answered.' }),
      line('call-started', { args: { path: 'a' }, purpose: 'tidy', script: { id: 'c1-1', seq: 2, line: 7 } }),
      line('command-connected', { url: 'https://example.org', outcome: 'connected' }),
      line('file-changing', { path: '/srv/a' }),
      line('call-ended', {
        bytes: 12,
        evidence: ['file:a'],
        artifacts: ['artifact:1'],
        error: { code: 'X', message: 'm' },
      }),
    ])
    expect(record).toMatchObject({
      args: { path: 'a' },
      purpose: 'tidy',
      script: { id: 'c1-1', line: 7 },
      approvals: [
        { id: 'p1', reason: 'Needs an approval.', answer: { by: 'token:boss', via: 'console', isChanged: true } },
      ],
      lateAnswers: ['cli:ada'],
      bytes: 12,
      evidence: ['file:a'],
      artifacts: ['artifact:1'],
      changedPaths: ['/srv/a'],
      events: [{ type: 'command-connected' }],
      error: { code: 'X', message: 'm' },
    })
  })

  it('takes the facts from the end of a call that never started', () => {
    expect(readCallRecord([line('call-ended', { args: 1, argsBytes: 9_000 })])).toMatchObject({
      args: 1,
      argsBytes: 9_000,
    })
  })

  it('takes nothing for what it is not', () => {
    const odd = { purpose: { a: 1 }, evidence: 'file', artifacts: [1, 'artifact:2'], error: null, bytes: 'many' }
    const record = readCallRecord([line('call-ended', odd), line('approval-answered', { approval: 7 })])
    expect(record).toMatchObject({ evidence: [], artifacts: ['artifact:2'], approvals: [] })
    expect([record.purpose, record.bytes, record.error]).toEqual([undefined, undefined, undefined])
  })
})
