import type { Channel, ChannelOptions } from '../../contracts/messages.ts'
import type { ChannelParts } from './channels/channel-parts.ts'
import { openConsole } from './channels/console.ts'
import { openDiscord } from './channels/discord.ts'
import { openSlack } from './channels/slack.ts'
import { openSmtp } from './channels/smtp.ts'
import { openTelegram } from './channels/telegram.ts'
import { openWebhook } from './channels/webhook.ts'

/** A built-in channel as its options say; CONFIG_INVALID when something is missing or wrong. */
export function openChannel(options: ChannelOptions, parts: ChannelParts): Channel {
  const { rate, perDay, timeoutMs } = options
  return { ...openKind(options, parts), rate, perDay, timeoutMs }
}

function openKind(options: ChannelOptions, parts: ChannelParts): Channel {
  switch (options.kind) {
    case 'webhook':
      return openWebhook(options, parts)
    case 'slack':
      return openSlack(options, parts)
    case 'discord':
      return openDiscord(options, parts)
    case 'telegram':
      return openTelegram(options, parts)
    case 'smtp':
      return openSmtp(options, parts)
    case 'console':
      return openConsole(options, parts)
  }
}
