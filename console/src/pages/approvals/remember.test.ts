import { expect, it } from 'vitest'
import { choiceProblem, firstChoice, toAnswer } from './remember.ts'

const now = Date.parse('2026-11-15T10:00:30Z')
const choice = firstChoice(now)

it('remembers nothing unless it is chosen, and then the very call', () => {
  expect(toAnswer(choice)).toEqual({ remember: 'once' })
  expect(toAnswer({ ...choice, remember: 'always' })).toEqual({ remember: 'always', covers: 'exact' })
  expect(toAnswer({ ...choice, remember: 'session', covers: 'targets' })).toEqual({
    remember: 'session',
    covers: 'targets',
  })
})

it('proposes a time an hour ahead, and refuses one that is over or none', () => {
  const until = { ...choice, remember: 'until' as const }
  expect(toAnswer(until).remember).toEqual({ until: '2026-11-15T11:00:00.000Z' })
  expect(choiceProblem(until, now)).toBeUndefined()
  expect(choiceProblem(until, now + 3_600_000)).toMatch('over')
  expect(choiceProblem({ ...until, until: '' }, now)).toMatch('Choose')
  expect(choiceProblem({ ...choice, until: '' }, now)).toBeUndefined()
})
