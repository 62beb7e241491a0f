import { type ApprovalReply, didYouMean, type QuestionReply, ToolError } from '@tool-hub/core'
import { readRequest } from '@tool-hub/runtime/approvals'
import { type Command, Option } from 'commander'
import { UsageError } from '../exit.ts'
import { type StoredApprovals, withApprovals } from '../hub/data-store.ts'
import { addConfigOption, parseTime } from '../input/options.ts'
import { callerName, ownCommand } from '../invocation.ts'
import { print, printJson } from '../output/print.ts'
import { sayError } from '../report-error.ts'

interface Flags {
  readonly config?: string
  readonly remember?: string
  readonly covers?: NonNullable<ApprovalReply['covers']>
  readonly reason?: string
  readonly input?: string
  readonly json?: boolean
}

const LASTING = { once: '', session: 'until its run ends', always: 'from now on' } as const

/** `approvals allow` and `approvals deny`: the answer to waiting calls. */
export function describeAnswer(command: Command, decision: 'allow' | 'deny'): void {
  addConfigOption(command)
    .description(decision === 'allow' ? 'Allow pending calls.' : 'Deny pending calls.')
    .argument('<id...>', 'Ids of the approvals, as tool-hub approvals shows them')
    .option(
      '--remember <how long>',
      'How long the answer applies: once, session, always, until=2h, until=2027-01-31T12:00:00Z',
      'once',
    )
    .addOption(
      new Option('--covers <what>', 'What a remembered answer applies to')
        .choices(['exact', 'targets', 'pattern', 'values'])
        .default('exact'),
    )
    .option('--reason <text>', 'Reason; the agent reads it if the call is denied')
    .action((ids: string[], flags: Flags) => answer(ids, decision, flags))
  if (decision === 'allow')
    command.option('--input <json>', 'Changed arguments for the call; they are validated and decided again')
}

/** `approvals answer`: the answer to a question. */
export function describeTextAnswer(command: Command): void {
  addConfigOption(command)
    .description('Answer a question that a tool asks the person behind the agent.')
    .argument('<id>', 'Id of the question, as tool-hub approvals shows it')
    .argument('<text>', 'The answer; for a form, the values as JSON')
    .action(answerText)
}

async function answer(ids: readonly string[], decision: 'allow' | 'deny', flags: Flags): Promise<void> {
  const { covers, reason } = flags
  if (flags.input !== undefined && ids.length > 1)
    throw new UsageError('--input is for one call.', 'Answer the calls one by one.')
  const remember = parseRemember(flags.remember)
  const input = flags.input === undefined ? {} : { input: parseInput(flags.input) }
  const reply: ApprovalReply = { decision, remember, covers, reason, by: callerName(), via: 'cli', ...input }
  const problems: Error[] = []
  const done: string[] = []
  await withApprovals(flags, async (approvals) => {
    for (const id of new Set(ids)) {
      try {
        const isFirst = await approvals.answer(id, reply)
        if (!isFirst) throw await notWaiting(approvals, id, isFirst)
        done.push(id)
      } catch (error) {
        // The others are answered all the same.
        problems.push(error as Error)
      }
    }
  })
  const answers = done.map((id) => ({ id, ...reply }))
  if (!flags.json) for (const id of done) await print(describeReply(id, reply))
  else if (answers.length > 0) await printJson(ids.length === 1 ? answers[0] : answers)
  const last = problems.pop()
  for (const { message } of problems) sayError(message)
  if (last) throw last
}

async function answerText(id: string, text: string, flags: Flags): Promise<void> {
  const by = callerName()
  await withApprovals(flags, async (approvals) => {
    const stored = await approvals.find(id)
    const found = stored && readRequest(stored)
    const hasForm = found?.kind === 'question' && found.request.form !== undefined
    const reply = hasForm && text.trimStart().startsWith('{') ? (parseInput(text) as QuestionReply) : text
    const isFirst = await approvals.answerQuestion(id, reply, { by, via: 'cli' })
    if (!isFirst) throw await notWaiting(approvals, id, isFirst)
  })
  await (flags.json ? printJson({ id, by }) : print(`Answered ${id}.`))
}

const COVERED = {
  exact: 'this exact call',
  targets: 'any call of the tool on the same targets',
  pattern: 'any call that matches its pattern',
  values: 'these values of its arguments',
} as const

/** `Allowed approval-…, and any call of the tool on the same targets from now on.` */
export function describeReply(id: string, { decision, remember = 'once', covers, input }: ApprovalReply): string {
  const what = COVERED[covers ?? 'exact']
  const until = typeof remember === 'object' ? `until ${remember.until}` : LASTING[remember]
  const changed = input === undefined ? '' : ' with other arguments'
  return `${decision === 'allow' ? 'Allowed' : 'Denied'} ${id}${changed}${until && `, and ${what} ${until}`}.`
}

/** An unknown id is a mistake on the command line, not a failure of a tool. */
async function notWaiting(approvals: StoredApprovals, id: string, isFirst: boolean | undefined): Promise<Error> {
  if (isFirst === false)
    return new ToolError('CONFLICT', `${JSON.stringify(id)} no longer waits.`, {
      hint: 'Somebody else has answered, or the call was stopped.',
    })
  const ids = (await approvals.list()).map(({ request }) => request.id)
  const message = `Nothing waits under ${JSON.stringify(id.slice(0, 100))}. ${didYouMean(id, ids)}`
  return new UsageError(message.trimEnd(), `See what waits: ${ownCommand()} approvals`)
}

function parseInput(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new UsageError(`${text.slice(0, 100)} is not JSON.`, 'Give the arguments as one JSON object, in quotes.')
  }
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
