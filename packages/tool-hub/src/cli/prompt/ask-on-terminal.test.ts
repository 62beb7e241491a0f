import { expect, it } from 'vitest'
import type { ApprovalRequest } from '../../../../core/src/events.ts'
import { choicesFor } from './ask-on-terminal.ts'

const request: Pick<ApprovalRequest, 'coverage'> = {
  coverage: { exact: 'this exact call', targets: 'every call on write:fs /srv/a.md' },
}

it('offers a lasting yes for this exact call and for its targets, and says which is which', () => {
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

it('offers no targets where an answer cannot cover them', () => {
  expect(choicesFor({ coverage: { exact: 'this exact call' } }, {}).map(({ answer }) => answer.covers)).not.toContain(
    'targets',
  )
})
