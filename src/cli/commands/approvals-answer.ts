import { type Command, Option } from 'commander'
import { ToolError } from '../../errors.ts'
import type { ApprovalReply } from '../../result.ts'
import { callerName } from '../hub/caller-name.ts'
import { openInbox } from '../hub/open-inbox.ts'
import { addConfigOption } from '../input/add-options.ts'
import { parseTime } from '../input/parse-time.ts'
import { print, printJson } from '../output/print.ts'
import { ownCommand } from '../own-command.ts'
import { UsageError } from '../usage-error.ts'

interface Flags {
  readonly config?: string
  readonly remember?: string
  readonly covers?: 'exact' | 'targets'
  readonly reason?: string
  readonly json?: boolean
}

const LASTING = { once: '', session: 'until its run ends', always: 'from now on' } as const

/** `approvals allow` and `approvals deny`: the answer to one waiting call. */
export function describeAnswer(command: Command, decision: 'allow' | 'deny'): void {
  addConfigOption(command)
    .description(decision === 'allow' ? 'Let a waiting call happen.' : 'Refuse a waiting call.')
    .argument('<id>', 'Id of the approval, as tool-hub approvals shows it')
    .option('--remember <how long>', 'once, session, always, until=2h, until=2027-01-31T12:00:00Z', 'once')
    .addOption(
      new Option('--covers <what>', 'What a remembered answer is about').choices(['exact', 'targets']).default('exact'),
    )
    .option('--reason <text>', 'Why; the agent reads the reason of a refusal')
    .action((id: string, flags: Flags) => answer(id, decision, flags))
}

async function answer(id: string, decision: 'allow' | 'deny', flags: Flags): Promise<void> {
  const { covers, reason } = flags
  const reply: ApprovalReply = { decision, remember: parseRemember(flags.remember), covers, reason, by: callerName() }
  const inbox = await openInbox(flags)
  try {
    await inbox.answer(id, reply)
  } catch (error) {
    // An id that nothing waits under is a word of the command line, not a failure of a tool.
    if (ToolError.is(error) && error.code === 'NOT_FOUND')
      throw new UsageError(error.message, `See what waits: ${ownCommand()} approvals`)
    throw error
  }
  await (flags.json ? printJson({ id, ...reply }) : print(describeReply(id, reply)))
}

/** `Allowed approval-…, and any call of the tool on the same targets from now on.` */
export function describeReply(id: string, { decision, remember = 'once', covers }: ApprovalReply): string {
  const what = covers === 'targets' ? 'any call of the tool on the same targets' : 'this very call'
  const until = typeof remember === 'object' ? `until ${remember.until}` : LASTING[remember]
  return `${decision === 'allow' ? 'Allowed' : 'Denied'} ${id}${until && `, and ${what} ${until}`}.`
}

function parseRemember(text = 'once'): NonNullable<ApprovalReply['remember']> {
  if (text === 'once' || text === 'session' || text === 'always') return text
  if (!text.startsWith('until='))
    throw new UsageError(`--remember ${text} is not known.`, 'Use once, session, always or until=2h.')
  return { until: parseMoment(text.slice('until='.length)) }
}

/** A moment, or how long from now. */
function parseMoment(text: string): string {
  const moment = /^\d{4}-/.test(text) ? Date.parse(text) : Date.now() + parseTime('--remember until', text)
  if (Number.isNaN(moment)) throw new UsageError(`${text} is not a time.`, 'Use 2h, 7d or 2027-01-31T12:00:00Z.')
  return new Date(moment).toISOString()
}
