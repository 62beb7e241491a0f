import type { ToolError } from '@tool-hub/core/errors'
import { createMemoryStore } from '@tool-hub/library/stores'
import { expect, it } from 'vitest'
import type { ChannelBounds } from './channel.ts'
import { takeTurn } from './create-messages.ts'

const RATE_HINT = 'Put several things into one message, or have the owner raise the rate of the channel.'

it.each<[string, ChannelBounds, taken: number, message: string, retryAfterMs: number]>([
  ['a rate', { rate: { perSecond: 0.025, burst: 2 } }, 2, 'bursts of 2 messages, 1.5 a minute', 40_000],
  ['a rate without a burst', { rate: { perSecond: 3 } }, 3, 'bursts of 3 messages, 180 a minute', 334],
  ['a slow rate without a burst', { rate: { perSecond: 0.5 } }, 1, 'bursts of 1 messages, 30 a minute', 2_000],
  ['no rate of its own', {}, 10, 'bursts of 10 messages, 10 a minute', 6_000],
])(
  'says what a channel with %s takes, when there is one message too many',
  async (_, bounds, taken, takes, retryAfterMs) => {
    const { rates } = createMemoryStore()
    const take = (channel = 'hook') => takeTurn(channel, bounds, { rates, now: 0 })
    for (let n = 0; n < taken; n++) await take()
    await expect(take()).rejects.toMatchObject({
      code: 'RATE_LIMITED',
      message: `The channel hook takes ${takes}; wait ${retryAfterMs} ms. Nothing was sent.`,
      fix: { key: 'messages', hint: RATE_HINT },
      details: { retryAfterMs },
    })
    await take('another')
  },
)

it('says how many messages of a day a channel takes, and about when there is room again', async () => {
  const { rates } = createMemoryStore()
  const take = () => takeTurn('hook', { rate: { perSecond: 9, burst: 9 }, perDay: 2 }, { rates, now: 0 })
  await take()
  await take()
  const error = await take().catch((thrown: unknown) => thrown as ToolError)
  expect(error).toMatchObject({
    code: 'RATE_LIMITED',
    message: expect.stringMatching(/^The channel hook takes 2 messages a day; wait \d+ ms\. Nothing was sent\.$/),
    fix: {
      key: 'messages',
      hint: 'Put several things into one message, or have the owner raise the perDay of the channel.',
    },
  })
  const { retryAfterMs } = (error as ToolError).details as { retryAfterMs: number }
  expect(Math.abs(retryAfterMs - 43_200_000)).toBeLessThan(100)
})
