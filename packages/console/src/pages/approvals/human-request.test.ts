import { describe, expect, it } from 'vitest'
import type { Approval, Question } from '../../api/types.ts'
import { findItem, previewOf, requestPath, scriptOfItem, splitUrl, toItems, toRequests } from './human-request.ts'

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
  coverage: { exact: 'this exact call' },
  hash: '',
  ...part,
})
const question: Question = { ...common, id: 'q', askedAt: '2026-11-15T10:30:00Z', question: 'Which one?' }

describe('the inbox', () => {
  const requests = toRequests([approval('a', 20), approval('b', 40)], [question])
  const idsOf = (list: readonly { id: string }[]) => list.map(({ id }) => id)

  it('has what expires first on top, and of those that expire together the one that has waited longest', () => {
    expect(idsOf(requests)).toEqual(['a', 'q', 'b'])
    const soon = approval('soon', 50, { expiresAt: '2026-11-15T11:00:00Z' })
    expect(idsOf(toRequests([approval('a', 20), soon], [question]))).toEqual(['soon', 'a', 'q'])
  })

  it('has what is over in the order it was asked in, newest first', () => {
    const early = approval('early', 50, { expiresAt: '2026-11-15T11:00:00Z' })
    expect(idsOf(toRequests([approval('a', 20), early], [question], true))).toEqual(['early', 'q', 'a'])
  })

  it('says in a line what each is about', () => {
    const edit = approval('e', 10, { views: [{ kind: 'diff', path: 'notes.md', diff: '', isNew: false }] })
    expect([...requests, ...toRequests([edit], [])].map(previewOf)).toEqual([
      'exec ls',
      'Which one?',
      'exec ls',
      'notes.md',
    ])
  })

  it('has the calls of a script as one, where the first of them is', () => {
    const script = (id: string, seq: number) => ({ script: { id, sha256: '', seq, line: seq } })
    const asked = [approval('a', 10, script('x', 1)), approval('b', 20), approval('c', 30, script('x', 2))]
    const items = toItems(toRequests([...asked, approval('d', 40, script('y', 1))], [question]))
    expect(idsOf(items)).toEqual(['script-x', 'b', 'q', 'script-y'])
    const found = findItem(items, 'c')
    expect(found).toBe(findItem(items, 'script-x'))
    expect(found?.kind === 'script' && idsOf(found.requests)).toEqual(['a', 'c'])
    expect(findItem(items, 'b')?.id).toBe('b')
    expect(findItem(items, undefined)).toBeUndefined()
    expect(scriptOfItem('script-x')).toBe('x')
    expect(scriptOfItem('approval-x')).toBeUndefined()
  })

  it('has an address for each, with its tab', () => {
    expect(requestPath('a/b', 'past')).toBe('/approvals/a%2Fb?tab=past')
    expect(requestPath(undefined, '')).toBe('/approvals')
  })
})

it.each([
  ['https://example.com/a', 'example.com'],
  ['https://EXAMPLE.com:8443?q', 'EXAMPLE.com:8443'],
  ['https://good.example@evil.example/', 'evil.example'],
  ['https://a@b@evil.example/', 'evil.example'],
  ['http://[::1]:80/x', '[::1]'],
  ['not a url', ''],
])('finds where %s goes', (url, host) => {
  const parts = splitUrl(url)
  expect(parts.host).toBe(host)
  expect(parts.before + parts.host + parts.after).toBe(url)
})
