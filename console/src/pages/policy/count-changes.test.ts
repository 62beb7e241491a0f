import { expect, it } from 'vitest'
import { countChanges, isLooser } from './count-changes.ts'
import { findLine } from './find-line.ts'

it('counts changes by what they were and become', () => {
  const changes = [
    { before: 'ask', after: 'deny' },
    { before: 'deny', after: 'allow' },
    { before: 'ask', after: 'deny' },
  ] as const
  expect(countChanges(changes)).toBe('2 ask → deny, 1 deny → allow')
  expect(changes.map(isLooser)).toEqual([false, true, false])
})

it('finds the first line that a message names', () => {
  expect(findLine('rules has 2 problems:\n  rules:3:4 policy[1]: no verb.\n  rules:5:1 x')).toBe(3)
  expect(findLine('tool-hub.yaml was changed.')).toBeUndefined()
})
