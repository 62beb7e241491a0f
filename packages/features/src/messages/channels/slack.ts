import type { Channel, OutgoingMessage, SlackChannelOptions } from '../channel.ts'
import { assertFits } from '../message-content.ts'
import { refusedBy } from '../send-errors.ts'
import { type ChannelContext, readUrl, secretsOfUrl } from './channel-settings.ts'

/** Slack cuts longer messages. */
const MAX_CHARS = 40_000
const MAX_HEADER_CHARS = 150
const MAX_SECTION_CHARS = 3_000
const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }
// Mentions as they look after escaping: of people, groups, channels, everybody.
const MENTION = /&lt;([@#][A-Z0-9]{2,20}|!(?:here|channel|everyone)|!subteam\^[A-Z0-9]{2,20})&gt;/g
// Mattermost and Rocket.Chat treat this as a mention; not in the middle of an address.
const NAMED = /(?<![\p{L}\p{N}._%+-])@(?=[\p{L}\p{N}_])/gu

/** An incoming webhook of Slack; Mattermost and Rocket.Chat take the same. */
export function openSlack(options: SlackChannelOptions, { name, references, redact, host }: ChannelContext): Channel {
  const url = readUrl(name, references.readSecret('url', options.url), { isSecret: true })
  host.hide(secretsOfUrl(url))
  const write = (text: string) =>
    options.mentions ? escapeMarkup(text).replaceAll(MENTION, '<$1>') : escapeMarkup(text).replaceAll(NAMED, '@\u200b')
  return {
    kind: 'slack',
    describe: () => `a Slack channel, by a webhook of ${url.host}`,
    origins: [url.origin],
    limits: { maxChars: MAX_CHARS, ...(options.blocks && { maxTitleChars: MAX_HEADER_CHARS }) },
    canRehearse: true,
    async send(message, io) {
      const payload = payloadOf(message, write, options.blocks === true)
      assertFits(payload.text, MAX_CHARS, 'message', name)
      const answer = await io.fetch(url.href, {
        method: 'POST',
        headers: { 'content-type': 'application/json; charset=utf-8' },
        body: JSON.stringify(payload),
        shownUrl: `${url.origin}/…`,
      })
      if (answer.status >= 300) throw refusedBy(answer, { channel: name, redact })
      return {}
    },
  }
}

function payloadOf({ title, text }: OutgoingMessage, write: (text: string) => string, hasBlocks: boolean) {
  const whole = title === undefined ? write(text) : `*${write(title)}*\n${write(text)}`
  if (!hasBlocks) return { text: whole }
  const header = title === undefined ? [] : [{ type: 'header', text: { type: 'plain_text', text: title } }]
  const sections = inParts(write(text)).map((part) => ({ type: 'section', text: { type: 'mrkdwn', text: part } }))
  return { text: whole, blocks: [...header, ...sections] }
}

/** Splits a text into sections, at line ends if possible, and never within an entity or a mention. */
function inParts(text: string): string[] {
  if (text.length <= MAX_SECTION_CHARS) return [text]
  const head = text.slice(0, MAX_SECTION_CHARS)
  const open = Math.max(head.lastIndexOf('&'), head.lastIndexOf('<'))
  const whole = open > MAX_SECTION_CHARS - 30 ? head.slice(0, open) : head
  const line = whole.lastIndexOf('\n')
  const end = line > 0 ? line + 1 : whole.length
  return [text.slice(0, end), ...inParts(text.slice(end))]
}

/** Escapes the text so that it contains no mentions or links. */
function escapeMarkup(text: string): string {
  return text.replaceAll(/[&<>]/g, (character) => ENTITIES[character]!)
}
