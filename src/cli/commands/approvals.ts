import type { Command } from 'commander'
import type { InboxEntry } from '../../approval/inbox.ts'
import { openInbox } from '../hub/open-inbox.ts'
import { addDefaultList } from '../input/add-default-list.ts'
import { addConfigOption } from '../input/add-options.ts'
import { describeAge } from '../output/describe-request.ts'
import { print, printJson, say } from '../output/print.ts'
import { describeAnswer } from './approvals-answer.ts'
import { describeWaiting, watchApprovals } from './approvals-watch.ts'

interface Flags {
  readonly config?: string
  readonly watch?: boolean
  readonly json?: boolean
}

const EXAMPLES = `
A call waits here when it was made with --wait, or by a hub with approvals.inbox.

Examples:
  tool-hub approvals
  tool-hub approvals --watch      go on, and on a terminal answer right there
  tool-hub approvals allow approval-ct7pfTGCHBP-1 --remember always
  tool-hub approvals deny approval-ct7pfTGCHBP-1 --reason "use the staging host"`

/** `approvals`: calls that wait for a person. */
export function describeApprovals(command: Command): void {
  command.description('List and answer the calls that wait for a person.')
  addConfigOption(addDefaultList(command, 'List what waits, oldest first'))
    .option('--watch', 'Go on showing what comes; on a terminal, ask for the answers')
    .action(list)
  command.addHelpText('after', EXAMPLES)
  describeAnswer(command.command('allow').summary('Let a call happen'), 'allow')
  describeAnswer(command.command('deny').summary('Refuse a call; the agent reads the reason'), 'deny')
}

async function list(flags: Flags): Promise<void> {
  const inbox = await openInbox(flags)
  if (flags.watch) return watchApprovals(inbox, flags)
  const entries = await inbox.list()
  if (flags.json) return printJson(entries)
  if (entries.length === 0) return say('Nothing waits for an approval.')
  await print(entries.map((entry) => describe(entry, flags)).join('\n\n'))
}

function describe({ state, request }: InboxEntry, flags: Flags): string {
  if (state === 'waiting') return describeWaiting(request, flags)
  const what = state === 'gone' ? 'the process that asked is gone' : 'answered; the call goes on in a moment'
  return `${describeAge(request)}: ${what}`
}
