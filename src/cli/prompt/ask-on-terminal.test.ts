import { expect, it } from 'vitest'
import type { ApprovalRequest } from '../../result.ts'
import { choicesFor } from './ask-on-terminal.ts'

const request = { targets: ['write:fs /srv/a.md'] } as unknown as ApprovalRequest

it('offers a lasting yes for this very call and for its targets, and says which is which', () => {
  const choices = choicesFor(request, {})
  expect(choices.map(({ answer }) => [answer.decision, answer.remember, answer.covers])).toEqual([
    ['allow', 'once', undefined],
    ['allow', 'always', 'exact'],
    ['allow', 'always', 'targets'],
    ['deny', undefined, undefined],
  ])
})

it('offers a session only where there is one', () => {
  const remembered = (session: boolean) => choicesFor(request, { session }).map(({ answer }) => answer.remember)
  expect(remembered(false)).not.toContain('session')
  expect(remembered(true)).toContain('session')
})

it('offers no targets where a call has none', () => {
  expect(choicesFor({ ...request, targets: [] }, {}).map(({ answer }) => answer.covers)).not.toContain('targets')
})
