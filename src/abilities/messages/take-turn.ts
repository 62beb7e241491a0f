import type { ChannelBounds } from '../../contracts/messages.ts'
import { ToolError } from '../../errors.ts'
import type { RateBucket, RateStore } from '../../store.ts'

const USUAL_RATE = { perSecond: 10 / 60, burst: 10 }
const DAY_S = 86_400

/** Counts one message of a channel, over all processes with this store; RATE_LIMITED when it is one too many. */
export async function takeTurn(
  channel: string,
  { rate = USUAL_RATE, perDay }: ChannelBounds,
  { rates, now }: { readonly rates: RateStore; readonly now: number },
): Promise<void> {
  const { perSecond, burst = Math.max(1, perSecond) } = rate
  const buckets: RateBucket[] = [
    { bucket: `message:${channel}`, perSecond, burst },
    ...(perDay === undefined ? [] : [{ bucket: `message-day:${channel}`, perSecond: perDay / DAY_S, burst: perDay }]),
  ]
  const outcome = await rates.take(buckets, now)
  if (outcome.ok) return
  const isDay = outcome.bucket.startsWith('message-day:')
  const bound = isDay ? `${perDay} messages a day` : `${burst} messages at once, ${round(perSecond * 60)} a minute`
  const retryAfterMs = outcome.waitMs
  const message = `The channel ${channel} takes ${bound}; wait ${retryAfterMs} ms. Nothing was sent.`
  throw new ToolError('RATE_LIMITED', message, {
    fix: {
      key: 'messages',
      hint: `Put several things into one message, or have the owner raise the ${isDay ? 'perDay' : 'rate'} of the channel.`,
    },
    details: { retryAfterMs },
  })
}

function round(number: number): number {
  return Math.round(number * 10) / 10
}
