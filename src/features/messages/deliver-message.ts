import type { Clock } from '../../core/index.ts'
import { untilAborted } from '../../lib/index.ts'
import { isUnknown } from './send-errors.ts'
import type { Channel, ChannelIo, Delivery, OutgoingMessage, SentRequest } from './types.ts'

/** What a channel is told to do; everything in it is checked. */
export type Errand =
  | { readonly action: 'send'; readonly message: OutgoingMessage }
  | { readonly action: 'edit'; readonly message: OutgoingMessage; readonly messageId: string }
  | {
      readonly action: 'react'
      readonly to: readonly string[]
      readonly messageId: string
      readonly emoji: string
    }

const RETRY_MS = 300

/** Speaks to the channel; what may not have arrived is repeated once where twice does no harm. */
export async function deliverMessage(errand: Errand, channel: Channel, io: ChannelIo, clock: Clock): Promise<Delivery> {
  // It cannot be stopped before it sends, so all that is known is told ahead.
  if (!channel.canRehearse) await io.announce(shownErrand(errand))
  try {
    return await speak(errand, channel, io)
  } catch (error) {
    if (!channel.isIdempotent || !isUnknown(error)) throw error
    await pause(clock, io.signal)
    return speak(errand, channel, io)
  }
}

async function speak(errand: Errand, channel: Channel, io: ChannelIo): Promise<Delivery> {
  switch (errand.action) {
    case 'send':
      return (await channel.send(errand.message, io)) ?? {}
    case 'edit':
      return { id: errand.messageId, ...(await channel.edit!(errand.messageId, errand.message, io)) }
    case 'react':
      await channel.react!(errand.messageId, errand.emoji, io, errand.to)
      return { id: errand.messageId }
  }
}

function shownErrand(errand: Errand): SentRequest {
  const { action } = errand
  if (action === 'react') {
    const { to, messageId, emoji } = errand
    return { type: 'other', method: action, to, body: JSON.stringify({ messageId, emoji }) }
  }
  const { to, title, text, level, attachments } = errand.message
  const files = attachments.map(({ name, content }) => `${name} (${content.byteLength} bytes)`)
  return { type: 'other', method: action, to, body: JSON.stringify({ title, text, level, attachments: files }) }
}

function pause(clock: Clock, signal: AbortSignal): Promise<void> {
  let cancel = () => {}
  const over = new Promise<void>((resolve) => {
    cancel = clock.after(RETRY_MS, resolve)
  })
  return untilAborted(over, signal).finally(() => cancel())
}
