import type { Command } from 'commander'
import type { InboxEntry } from '../../approval/inbox.ts'
import { escapeLine } from '../../escape-text.ts'
import { openInbox } from '../hub/open-inbox.ts'
import { addDefaultList } from '../input/add-default-list.ts'
import { addConfigOption } from '../input/add-options.ts'
import { describeRequest } from '../output/describe-request.ts'
import { print, printJson, say } from '../output/print.ts'
import { describeAnswer } from './approvals-answer.ts'
import { watchApprovals } from './approvals-watch.ts'

interface Flags {
  readonly config?: string
  readonly watch?: boolean
  readonly json?: boolean
}

const EXAMPLES = `
A call waits here when it was made with --wait, or on a hub with approvals.inbox.

Examples:
  tool-hub approvals
  tool-hub approvals --watch
  tool-hub approvals allow approval-c1-1 --remember always --covers targets
  tool-hub approvals deny approval-c1-1 --reason "use the staging host"`

/** `approvals`: calls that wait for a person. */
export function describeApprovals(command: Command): void {
  command.description('List and answer the calls that wait for a person.').addHelpText('after', EXAMPLES)
  addConfigOption(addDefaultList(command, 'List what waits, oldest first'))
    .option('--watch', 'Go on showing what comes; on a terminal, ask for the answers')
    .action(list)
  describeAnswer(command.command('allow').summary('Let a call happen'), 'allow')
  describeAnswer(command.command('deny').summary('Refuse a call; the agent reads the reason'), 'deny')
}

async function list(flags: Flags): Promise<void> {
  const inbox = await openInbox(flags)
  if (flags.watch) return watchApprovals(inbox, flags)
  const entries = await inbox.list()
  if (flags.json) return printJson(entries)
  if (entries.length === 0) return say('Nothing waits for an approval.')
  await print(entries.map(describe).join('\n\n'))
}

function describe({ state, request }: InboxEntry): string {
  const title = `${request.id}  ${state}  since ${request.askedAt}`
  return [escapeLine(title), ...describeRequest(request).map((line) => `  ${line}`)].join('\n')
}
