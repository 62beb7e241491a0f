import { expect, it } from 'vitest'
import { createMemoryStore } from '../../store/memory/create-memory-store.ts'
import { takeTurn } from './take-turn.ts'

it('says what a channel takes, when there is one message too many', async () => {
  const { rates } = createMemoryStore()
  const take = () => takeTurn('hook', { rate: { perSecond: 0.025, burst: 2 } }, { rates, now: 0 })
  await take()
  await take()
  await expect(take()).rejects.toThrow(
    'The channel hook takes 2 messages at once, 1.5 a minute; wait 40000 ms. Nothing was sent.',
  )
})
