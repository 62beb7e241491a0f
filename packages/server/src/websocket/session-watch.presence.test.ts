import { expect, it } from 'vitest'
import { fakeClock } from '../../../testing/src/fake-clock.ts'
import { Presence } from './session-watch.ts'

it('tells when somebody comes with a first connection and leaves with the last', async () => {
  const clock = fakeClock(1_000)
  const told: unknown[] = []
  const presence = new Presence(
    { publish: (event) => told.push(event) } as ConstructorParameters<typeof Presence>[0],
    clock,
  )
  expect(presence.come('ada')).toBe(true)
  await clock.advance(500)
  expect([presence.come('ada'), presence.come('bob')]).toEqual([false, true])
  const [ada, bob] = [
    { name: 'ada', since: 1_000 },
    { name: 'bob', since: 1_500 },
  ]
  expect(presence.people).toEqual([ada, bob])
  for (const name of ['ada', 'nobody', 'ada', 'ada']) presence.leave(name)
  expect(presence.people).toEqual([bob])
  expect(told).toEqual([[ada], [ada, bob], [bob]].map((people) => ({ type: 'presence', people })))
})
