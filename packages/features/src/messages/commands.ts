import type { CommandBuilder, CommandFlags, CommandKit } from '@tool-hub/core'
import { escapeLine, escapeText } from '@tool-hub/core/lib'
import { INBOX_LEVELS, type InboxLevel } from './channel.ts'
import type { ChannelFacts, InboxMessage, MessageOutcome, NewMessage } from './types.ts'

type InboxFlags = CommandFlags & { readonly unread?: boolean; readonly read?: boolean }
type SendFlags = CommandFlags & {
  readonly to?: readonly string[]
  readonly title?: string
  readonly level?: InboxLevel
  readonly dryRun?: boolean
}

const MAX_SHOWN = 100
const DRY_RUN = 'Send nothing, and show exactly what would be sent'

const EXAMPLES = `
Examples:
  tool-hub messages channels
  tool-hub messages test ops                     sends a test message
  tool-hub messages send mail --to anna@example.org --title Hello "The report is ready." --dry-run
  tool-hub messages inbox --unread --read        shows new messages, and marks them as read`

/** `messages`: the channels to people, and the inbox of the console. */
export function messagesCommand(command: CommandBuilder, kit: CommandKit): void {
  const { addCommand, withHub, say } = kit
  const channels = {
    run: (flags: CommandFlags) => withHub(flags, (hub) => hub.messages.channels()),
    async show(found: readonly ChannelFacts[]) {
      await kit.print(kit.table(found.map(channelRow)))
      for (const { name, problem } of found) if (problem !== undefined) say(`${name}: ${escapeLine(problem)}`)
    },
  }
  command.description('List the channels of agents to people, send messages, and read the inbox.')
  addCommand(command, { name: 'list', summary: 'List the channels and their problems', ...channels })
  command.addHelpText('after', EXAMPLES)
  addCommand(command, {
    name: 'channels',
    summary: 'List the channels',
    description: 'List the channels, what each can do, and their problems.',
    ...channels,
  })
  addCommand(command, {
    name: 'send',
    summary: 'Send a message',
    description: 'Send a message through a channel, as the owner: policy does not apply, and it is recorded.',
    words: { '<channel>': 'Name of the channel', '<text>': 'Text of the message' },
    options: (to) =>
      to
        .option('--to <recipient...>', 'Recipients, if the channel has some')
        .option('--title <text>', 'Subject or heading, one line')
        .addOption(kit.choice('--level <level>', 'How urgent it is', INBOX_LEVELS))
        .option('--dry-run', DRY_RUN),
    help: '\nExamples:\n  tool-hub messages send console "The disk is nearly full." --level warning',
    run: ({ to, title, level, ...flags }: SendFlags, channel: string, text: string) =>
      send(kit, { channel, text, to, title: title || undefined, level }, flags),
    show: describe,
  })
  addCommand(command, {
    name: 'test',
    summary: 'Send a test message',
    description: 'Send a test message through a channel, to see whether it works.',
    words: { '<channel>': 'Name of the channel' },
    options: (to) =>
      to.option('--to <recipient...>', 'Recipients, if the channel has some').option('--dry-run', DRY_RUN),
    help: '\nExamples:\n  tool-hub messages test ops',
    run({ to, ...flags }: SendFlags, channel: string) {
      const text = `A test of the channel ${channel}, sent by ${kit.callerName()}.`
      return send(kit, { channel, title: 'Test of tool-hub', text, to }, flags)
    },
    show: describe,
  })
  addCommand(command, {
    name: 'inbox',
    summary: 'Read messages of agents',
    description: `Read the messages of agents to the console, newest first, at most ${MAX_SHOWN}.`,
    options: (to) => to.option('--unread', 'Only unread messages').option('--read', 'Mark the shown messages as read'),
    run: ({ unread, read, ...flags }: InboxFlags) =>
      withHub(flags, async ({ messages }) => {
        const shown = await messages.inbox({ unread, limit: MAX_SHOWN })
        if (read && shown.messages.length > 0) await messages.markRead(shown.messages.map(({ id }) => id))
        return shown
      }),
    async show({ messages, next }, { unread }) {
      if (messages.length === 0) return say(unread ? 'Nothing is new.' : 'The inbox is empty.')
      await kit.print(messages.map((message) => describeMessage(kit, message)).join('\n\n'))
      if (next !== undefined) say(`Only the newest ${MAX_SHOWN} are shown.`)
    },
  })
}

function send(kit: CommandKit, message: NewMessage, { dryRun, ...flags }: SendFlags): Promise<MessageOutcome> {
  return kit.withHub(flags, (hub) => hub.messages.send(message, { by: kit.callerName(), dryRun }))
}

function channelRow({ name, kind, can, recipients, problem }: ChannelFacts): string[] {
  return [name, kind, problem === undefined ? can.join(', ') : 'not ready', recipients ?? '']
}

function describeMessage(kit: CommandKit, message: InboxMessage): string {
  const { at, level, title, text, caller, principal = caller, run, isUntrusted, attachments, readAt } = message
  // Callers name themselves; principals do not.
  const who = principal === caller ? caller : `${principal} (${caller})`
  const marks = [
    ...(level === 'info' ? [] : [level]),
    ...(isUntrusted ? ['untrusted'] : []),
    ...(readAt === undefined ? ['new'] : []),
  ]
  const head = `${kit.minuteOf(at)}  ${escapeLine(who)} in ${escapeLine(run)}${marks.length > 0 ? `  [${marks.join(', ')}]` : ''}`
  const files = attachments.map(({ name, ref, bytes }) => `  + ${escapeLine(name)} (${bytes} bytes) ${ref}`)
  const body = escapeText(text).replaceAll('\n', '\n  ')
  return [head, ...(title === undefined ? [] : [`  ${escapeLine(title)}`]), `  ${body}`, ...files].join('\n')
}

function describe({ targets, messageId, rejected, request }: MessageOutcome): string {
  if (!request) {
    const id = messageId === undefined ? '' : ` (${messageId})`
    const refused = rejected ? ` Refused: ${rejected.join(', ')}.` : ''
    return escapeText(`Sent to ${targets.join(', ')}${id}.${refused}`)
  }
  const { method, url, headers = {}, body, from, to, mime } = request
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  const first =
    mime === undefined ? `${method ?? 'inbox'} ${url ?? to?.join(', ') ?? ''}`.trim() : `${from} -> ${to?.join(', ')}`
  return escapeText([first, ...lines, '', (mime ?? body ?? '').replaceAll('\r\n', '\n')].join('\n'))
}
