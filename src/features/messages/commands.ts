import type { Command } from 'commander'
import type { CommandFlags, CommandKit } from '../../core/index.ts'
import { escapeLine, escapeText } from '../../lib/index.ts'
import { describeMessagesSend, describeMessagesTest } from './commands-send.ts'
import type { ChannelFacts, InboxMessage } from './types.ts'

type Flags = CommandFlags & { readonly json?: boolean; readonly unread?: boolean; readonly read?: boolean }

const MAX_SHOWN = 100

const EXAMPLES = `
Examples:
  tool-hub messages channels
  tool-hub messages test ops                     sends a test message
  tool-hub messages send mail --to anna@example.org --title Hello "The report is ready." --dry-run
  tool-hub messages inbox --unread --read        shows what is new, and says that it was read`

/** `messages`: the channels to people, and the inbox of the console. */
export function messagesCommand(command: Command, kit: CommandKit): void {
  const { addConfigOption, addDefaultList } = kit
  command.description('Look at the channels by which agents reach people, send by one, and read the inbox.')
  addConfigOption(addDefaultList(command, 'List the channels, and what keeps some from working')).action(
    (flags: Flags) => channels(kit, flags),
  )
  command.addHelpText('after', EXAMPLES)
  addConfigOption(command.command('channels'))
    .summary('List the channels')
    .description('List the channels, what each can do, and what keeps some from working.')
    .action((flags: Flags) => channels(kit, flags))
  describeMessagesSend(command.command('send').summary('Send a message'), kit)
  describeMessagesTest(command.command('test').summary('Send a test message'), kit)
  addConfigOption(command.command('inbox'))
    .summary('Read what agents told you')
    .description(`Read what agents sent to the console, newest first, ${MAX_SHOWN} at most.`)
    .option('--unread', 'Only what was not read yet')
    .option('--read', 'Say that what is shown was read')
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
