import { type Command, Option } from 'commander'
import type { CommandFlags, CommandKit } from '../../core/index.ts'
import { escapeText } from '../../lib/index.ts'
import { INBOX_LEVELS, type InboxLevel } from './inbox-store.ts'
import type { MessageOutcome, NewMessage } from './types.ts'

type Flags = CommandFlags & {
  readonly json?: boolean
  readonly to?: readonly string[]
  readonly title?: string
  readonly level?: InboxLevel
  readonly dryRun?: boolean
}

const DRY_RUN = 'Send nothing, and show exactly what would be sent'

/** `messages send`: a message in your own name. */
export function describeMessagesSend(command: Command, kit: CommandKit): void {
  kit
    .addConfigOption(command)
    .description('Send a message by a channel, in your own name: no rule is asked, and it is recorded.')
    .argument('<channel>', 'Name of the channel')
    .argument('<text>', 'What to say')
    .option('--to <recipient...>', 'Recipients, where the channel has some')
    .option('--title <text>', 'One line: a subject, a heading')
    .addOption(new Option('--level <level>', 'How much it matters').choices(INBOX_LEVELS))
    .option('--dry-run', DRY_RUN)
    .addHelpText('after', '\nExamples:\n  tool-hub messages send console "The disk is nearly full." --level warning')
    .action((channel: string, text: string, flags: Flags) => {
      const { to, title, level } = flags
      return send(kit, { channel, text, ...(to && { to }), ...(title && { title }), ...(level && { level }) }, flags)
    })
}

/** `messages test`: whether a channel works. */
export function describeMessagesTest(command: Command, kit: CommandKit): void {
  kit
    .addConfigOption(command)
    .description('Send a test message by a channel: whether it works, or what is wrong.')
    .argument('<channel>', 'Name of the channel')
    .option('--to <recipient...>', 'Recipients, where the channel has some')
    .option('--dry-run', DRY_RUN)
    .addHelpText('after', '\nExamples:\n  tool-hub messages test ops')
    .action((channel: string, flags: Flags) => {
      const text = `A test of the channel ${channel}, sent by ${kit.callerName()}.`
      return send(kit, { channel, title: 'Test of tool-hub', text, ...(flags.to && { to: flags.to }) }, flags)
    })
}

async function send(kit: CommandKit, message: NewMessage, flags: Flags): Promise<void> {
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
