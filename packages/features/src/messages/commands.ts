import type { CommandBuilder, CommandFlags, CommandKit } from '@tool-hub/core'
import { escapeLine, escapeText } from '@tool-hub/core/lib'
import { INBOX_LEVELS, type InboxLevel } from './channel.ts'
import type { ChannelFacts, InboxMessage, MessageOutcome, NewMessage } from './types.ts'

type Flags = CommandFlags & { readonly json?: boolean; readonly unread?: boolean; readonly read?: boolean }

const MAX_SHOWN = 100

const EXAMPLES = `
Examples:
  tool-hub messages channels
  tool-hub messages test ops                     sends a test message
  tool-hub messages send mail --to anna@example.org --title Hello "The report is ready." --dry-run
  tool-hub messages inbox --unread --read        shows new messages, and marks them as read`

/** `messages`: the channels to people, and the inbox of the console. */
export function messagesCommand(command: CommandBuilder, kit: CommandKit): void {
  const { addConfigOption, addDefaultList } = kit
  command.description('List the channels of agents to people, send messages, and read the inbox.')
  addConfigOption(addDefaultList(command, 'List the channels and their problems')).action((flags: Flags) =>
    channels(kit, flags),
  )
  command.addHelpText('after', EXAMPLES)
  addConfigOption(command.command('channels'))
    .summary('List the channels')
    .description('List the channels, what each can do, and their problems.')
    .action((flags: Flags) => channels(kit, flags))
  describeMessagesSend(command.command('send').summary('Send a message'), kit)
  describeMessagesTest(command.command('test').summary('Send a test message'), kit)
  addConfigOption(command.command('inbox'))
    .summary('Read messages of agents')
    .description(`Read the messages of agents to the console, newest first, at most ${MAX_SHOWN}.`)
    .option('--unread', 'Only unread messages')
    .option('--read', 'Mark the shown messages as read')
    .action((flags: Flags) => inbox(kit, flags))
}

async function channels({ withHub, print, printJson, say, table }: CommandKit, flags: Flags): Promise<void> {
  const found = await withHub(flags, (hub) => hub.messages.channels())
  if (flags.json) return printJson(found)
  await print(table(found.map(channelRow)))
  for (const { name, problem } of found) if (problem !== undefined) say(`${name}: ${escapeLine(problem)}`)
}

async function inbox({ withHub, print, printJson, say }: CommandKit, flags: Flags): Promise<void> {
  const page = await withHub(flags, async ({ messages }) => {
    const shown = await messages.inbox({ unread: flags.unread, limit: MAX_SHOWN })
    if (flags.read && shown.messages.length > 0) await messages.markRead(shown.messages.map(({ id }) => id))
    return shown
  })
  if (flags.json) return printJson(page)
  if (page.messages.length === 0) return say(flags.unread ? 'Nothing is new.' : 'The inbox is empty.')
  await print(page.messages.map(describeMessage).join('\n\n'))
  if (page.next !== undefined) say(`Only the newest ${MAX_SHOWN} are shown.`)
}

function channelRow({ name, kind, can, recipients, problem }: ChannelFacts): string[] {
  return [name, kind, problem === undefined ? can.join(', ') : 'not ready', recipients ?? '']
}

function describeMessage(message: InboxMessage): string {
  const { at, level, title, text, caller, principal = caller, run, isUntrusted, attachments, readAt } = message
  // Callers name themselves; principals do not.
  const who = principal === caller ? caller : `${principal} (${caller})`
  const marks = [
    ...(level === 'info' ? [] : [level]),
    ...(isUntrusted ? ['untrusted'] : []),
    ...(readAt === undefined ? ['new'] : []),
  ]
  const when = new Date(at).toISOString().slice(0, 16).replace('T', ' ')
  const head = `${when}  ${escapeLine(who)} in ${escapeLine(run)}${marks.length > 0 ? `  [${marks.join(', ')}]` : ''}`
  const files = attachments.map(({ name, ref, bytes }) => `  + ${escapeLine(name)} (${bytes} bytes) ${ref}`)
  const body = escapeText(text).replaceAll('\n', '\n  ')
  return [head, ...(title === undefined ? [] : [`  ${escapeLine(title)}`]), `  ${body}`, ...files].join('\n')
}

type SendFlags = CommandFlags & {
  readonly json?: boolean
  readonly to?: readonly string[]
  readonly title?: string
  readonly level?: InboxLevel
  readonly dryRun?: boolean
}

const DRY_RUN = 'Send nothing, and show exactly what would be sent'

/** `messages send`: sends a message as the owner. */
function describeMessagesSend(command: CommandBuilder, kit: CommandKit): void {
  kit
    .addConfigOption(command)
    .description('Send a message through a channel, as the owner: policy does not apply, and it is recorded.')
    .argument('<channel>', 'Name of the channel')
    .argument('<text>', 'Text of the message')
    .option('--to <recipient...>', 'Recipients, if the channel has some')
    .option('--title <text>', 'Subject or heading, one line')
    .addOption(kit.choice('--level <level>', 'How urgent it is', INBOX_LEVELS))
    .option('--dry-run', DRY_RUN)
    .addHelpText('after', '\nExamples:\n  tool-hub messages send console "The disk is nearly full." --level warning')
    .action((channel: string, text: string, flags: SendFlags) => {
      const { to, title, level } = flags
      return send(kit, { channel, text, ...(to && { to }), ...(title && { title }), ...(level && { level }) }, flags)
    })
}

/** `messages test`: checks whether a channel works. */
function describeMessagesTest(command: CommandBuilder, kit: CommandKit): void {
  kit
    .addConfigOption(command)
    .description('Send a test message through a channel, to see whether it works.')
    .argument('<channel>', 'Name of the channel')
    .option('--to <recipient...>', 'Recipients, if the channel has some')
    .option('--dry-run', DRY_RUN)
    .addHelpText('after', '\nExamples:\n  tool-hub messages test ops')
    .action((channel: string, flags: SendFlags) => {
      const text = `A test of the channel ${channel}, sent by ${kit.callerName()}.`
      return send(kit, { channel, title: 'Test of tool-hub', text, ...(flags.to && { to: flags.to }) }, flags)
    })
}

async function send(kit: CommandKit, message: NewMessage, flags: SendFlags): Promise<void> {
  const { dryRun } = flags
  const outcome = await kit.withHub(flags, (hub) => hub.messages.send(message, { by: kit.callerName(), dryRun }))
  await (flags.json ? kit.printJson(outcome) : kit.print(escapeText(describe(outcome))))
}

function describe({ targets, messageId, rejected, request }: MessageOutcome): string {
  if (!request) {
    const id = messageId === undefined ? '' : ` (${messageId})`
    return `Sent to ${targets.join(', ')}${id}.${rejected ? ` Refused: ${rejected.join(', ')}.` : ''}`
  }
  const { method, url, headers = {}, body, from, to, mime } = request
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  const first =
    mime === undefined ? `${method ?? 'inbox'} ${url ?? to?.join(', ') ?? ''}`.trim() : `${from} -> ${to?.join(', ')}`
  return [first, ...lines, '', (mime ?? body ?? '').replaceAll('\r\n', '\n')].join('\n')
}
