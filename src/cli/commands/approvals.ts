import type { Command } from 'commander'
import type { StoredRequest } from '../../approvals/index.ts'
import { isOwnerAlive } from '../../system/index.ts'
import { withApprovals } from '../hub/with-approvals.ts'
import { addDefaultList } from '../input/add-default-list.ts'
import { addConfigOption } from '../input/add-options.ts'
import { print, printJson, say } from '../output/print.ts'
import { describeAnswer, describeTextAnswer } from './approvals-answer.ts'
import { describeWaiting, watchApprovals } from './approvals-watch.ts'

interface Flags {
  readonly config?: string
  readonly watch?: boolean
  readonly full?: boolean
  readonly json?: boolean
}

const EXAMPLES = `
A call waits here when it was made with --wait, or by a hub with approvals.inbox, or by the service (tool-hub serve).

Examples:
  tool-hub approvals
  tool-hub approvals --full       with every line, however long
  tool-hub approvals --watch      keep watching, and on a terminal answer right there
  tool-hub approvals allow approval-ct7pfTGCHBP-1 --remember always
  tool-hub approvals allow approval-ct7pfTGCHBP-1 --input '{"path":"drafts/a.md","text":"hi"}'
  tool-hub approvals deny approval-ct7pfTGCHBP-1 --reason "use the staging host"
  tool-hub approvals answer question-ct7pfTGCHBP-2-1 staging`

/** `approvals`: calls and questions that wait for a person. */
export function describeApprovals(command: Command): void {
  command.description('List and answer the calls and questions that wait for a person.')
  addConfigOption(addDefaultList(command, 'List what waits, oldest first'))
    .option('--watch', 'Keep showing new requests; on a terminal, ask for the answers')
    .option('--full', 'Show all of it: every line of a diff, every character of the arguments')
    .action(list)
  command.addHelpText('after', EXAMPLES)
  describeAnswer(command.command('allow').summary('Let a call happen'), 'allow')
  describeAnswer(command.command('deny').summary('Refuse a call; the agent reads the reason'), 'deny')
  describeTextAnswer(command.command('answer').summary('Answer a question'))
}

async function list(flags: Flags): Promise<void> {
  await withApprovals(flags, async (approvals) => {
    if (flags.watch) return watchApprovals(approvals, flags)
    const waiting = await approvals.list()
    if (flags.json) return printJson(waiting.map(toJson))
    if (waiting.length === 0) return say('Nothing waits for an approval or an answer.')
    await print(waiting.map((each) => describe(each, flags)).join('\n\n'))
  })
}

function toJson(waiting: StoredRequest) {
  const { kind, stored, request } = waiting
  return { kind, state: stored.state, isOrphan: isOrphan(waiting), request }
}

function describe(waiting: StoredRequest, flags: Flags): string {
  const text = describeWaiting(waiting, flags)
  if (!isOrphan(waiting)) return text
  return `${text}\n  no call waits for it now; the answer is used by the same call, made again`
}

/** No process waits for the answer: it is gone, or the call did not wait. */
function isOrphan({ stored }: StoredRequest): boolean {
  return !isOwnerAlive(stored.owner)
}
