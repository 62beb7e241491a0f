import type { Command } from 'commander'
import type { CommandFlags, CommandKit } from '../../core/index.ts'
import { escapeText } from '../../lib/index.ts'
import type { SendOutcome } from './types.ts'

type Flags = CommandFlags & { readonly json?: boolean; readonly wait?: string; readonly replyTo?: string }

/** `sessions send`: a message of the owner. */
export function describeSessionsSend(command: Command, kit: CommandKit): void {
  kit
    .addConfigOption(command)
    .description('Write to a session as the owner; it reads the message in whichever process it lives.')
    .argument('<session>', 'Its id or label')
    .argument('<message>', 'The text')
    .option('--wait <duration>', 'Wait so long for an answer, e.g. 30s')
    .option('--reply-to <id>', 'The message that this one answers')
    .addHelpText('after', '\nExamples:\n  tool-hub sessions send researcher "Which source says so?" --wait 30s')
    .action((session: string, text: string, flags: Flags) => send(kit, session, text, flags))
}

async function send(kit: CommandKit, session: string, text: string, { wait, replyTo, ...flags }: Flags): Promise<void> {
  const waitMs = wait === undefined ? 0 : kit.parseTime('--wait', wait)
  const wish = { text, by: kit.callerName(), waitMs, ...(replyTo && { replyTo }) }
  const outcome = await kit.withHub(flags, ({ sessions }) => sessions.send(session, wish))
  await (flags.json ? kit.printJson(outcome) : kit.print(escapeText(describe(outcome))))
}

function describe({ message, session, status, reply, state, reason }: SendOutcome): string {
  if (reply) return reply.text
  if (status === 'ended') return `${session} is ${state} and did not answer ${message}.${reason ? ` ${reason}` : ''}`
  if (status === 'timeout') return `${message} is in the inbox of ${session}; no answer came in time.`
  return `${message} is in the inbox of ${session}.`
}
