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
  const idsOf = (list: readonly { id: string }[]) => list.map(({ id }) => id)

  it('has what expires first on top, and of those that expire together the one that has waited longest', () => {
    expect(idsOf(asks)).toEqual(['a', 'q', 'b'])
    const soon = approval('soon', 50, { expiresAt: '2026-11-15T11:00:00Z' })
    expect(idsOf(toAsks([approval('a', 20), soon], [question]))).toEqual(['soon', 'a', 'q'])
  })

  it('has what is over in the order it was asked in, newest first', () => {
    const early = approval('early', 50, { expiresAt: '2026-11-15T11:00:00Z' })
    expect(idsOf(toAsks([approval('a', 20), early], [question], true))).toEqual(['early', 'q', 'a'])
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
