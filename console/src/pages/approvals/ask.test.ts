import { describe, expect, it } from 'vitest'
import type { Approval, Question } from '../../api/types.ts'
import { pathOf, previewOf, toAsks } from './ask.ts'

const common = {
  callId: 'c',
  run: 'run-1',
  tool: 'core/exec.run',
  caller: 'token:a',
  expiresAt: '2026-11-15T12:00:00Z',
  state: 'waiting' as const,
  isOrphan: false,
  mayAnswer: true,
}
const approval = (id: string, minute: number, part: Partial<Approval> = {}): Approval => ({
  ...common,
  id,
  askedAt: `2026-11-15T10:${minute}:00Z`,
  input: {},
  targets: ['exec ls'],
  rule: 'ask exec',
  reason: 'Needs an approval.',
  requests: [],
  labels: [],
  views: [],
  history: [],
  coverage: { exact: 'this very call' },
  hash: '',
  ...part,
})
const question: Question = { ...common, id: 'q', askedAt: '2026-11-15T10:30:00Z', question: 'Which one?' }

describe('the inbox', () => {
  const asks = toAsks([approval('a', 20), approval('b', 40)], [question])

  it('has approvals and questions together, newest first', () => {
    expect(asks.map(({ id }) => id)).toEqual(['b', 'q', 'a'])
  })

  it('says in a line what each is about', () => {
    const edit = approval('e', 10, { views: [{ kind: 'diff', path: 'notes.md', diff: '', isNew: false }] })
    expect([...asks, ...toAsks([edit], [])].map(previewOf)).toEqual(['exec ls', 'Which one?', 'exec ls', 'notes.md'])
  })

  it('has an address for each, with its tab', () => {
    expect(pathOf('a/b', 'past')).toBe('/approvals/a%2Fb?tab=past')
    expect(pathOf(undefined, '')).toBe('/approvals')
  })
})
