import { setTimeout as sleep } from 'node:timers/promises'
import { type ApprovalRequest, type CommandFlags, didYouMean, type QuestionRequest } from '@tool-hub/core'
import type { Grant, StoredRequest } from '@tool-hub/runtime/approvals'
import { isOwnerAlive } from '@tool-hub/sandbox/system'
import type { Command } from 'commander'
import { interruptSignal, UsageError } from '../exit.ts'
import { type StoredApprovals, withApprovals } from '../hub/data-store.ts'
import { addCommand, addConfigOption, addDefaultList } from '../input/options.ts'
import { callerName } from '../invocation.ts'
import {
  describeAge,
  describeAnswers,
  describeQuestion,
  describeQuestionAnswer,
  describeRequest,
  describeScript,
} from '../output/describe-request.ts'
import { canAsk, print, printJson, printJsonLine, printTable, readerGone, say } from '../output/print.ts'
import { sayError } from '../report-error.ts'
import { describeAnswer, describeReply, describeTextAnswer } from './approvals-answer.ts'

interface Flags {
  readonly config?: string
  readonly watch?: boolean
  readonly full?: boolean
  readonly json?: boolean
}

const EXAMPLES = `
A call waits here if it was made with --wait, by a hub with approvals.inbox, or by the service (tool-hub serve).

Examples:
  tool-hub approvals
  tool-hub approvals --full       with every line, however long
  tool-hub approvals --watch      keep watching, and on a terminal answer right there
  tool-hub approvals allow approval-ct7pfTGCHBP-1 --remember always
  tool-hub approvals allow approval-ct7pfTGCHBP-1 --input '{"path":"drafts/a.md","text":"hi"}'
  tool-hub approvals deny approval-ct7pfTGCHBP-1 --reason "use the staging host"
  tool-hub approvals allow approval-ct7pfTGCHBP-3.1 approval-ct7pfTGCHBP-3.2
  tool-hub approvals answer question-ct7pfTGCHBP-2-1 staging`

/** `approvals`: calls and questions that wait for a person. */
export function describeApprovals(command: Command): void {
  command.description('List and answer pending approvals and questions.')
  addConfigOption(addDefaultList(command, 'List pending approvals and questions, oldest first'))
    .option('--watch', 'Keep watching for new requests; on a terminal, answer them right there')
    .option('--full', 'Show everything: every line of a diff, every character of the arguments')
    .action(list)
  command.addHelpText('after', EXAMPLES)
  describeAnswer(command.command('allow').summary('Allow a call'), 'allow')
  describeAnswer(command.command('deny').summary('Deny a call; the agent reads the reason'), 'deny')
  describeTextAnswer(command.command('answer').summary('Answer a question'))
}

async function list(flags: Flags): Promise<void> {
  await withApprovals(flags, async (approvals) => {
    if (flags.watch) return watchApprovals(approvals, flags)
    const waiting = await approvals.list()
    if (flags.json) return printJson(waiting.map(toJson))
    if (waiting.length === 0) return say('Nothing waits for an approval or an answer.')
    const texts: string[] = []
    for (const group of groupByScript(waiting)) {
      const script = await scriptOf(approvals, group, flags)
      texts.push(...(script === undefined ? [] : [script]), ...group.map((each) => describe(each, flags)))
    }
    await print(texts.join('\n\n'))
  })
}

/** The calls of one script together, at the place of the first of them. */
function groupByScript(waiting: readonly StoredRequest[]): StoredRequest[][] {
  const groups = new Map<string, StoredRequest[]>()
  for (const each of waiting) {
    const script = each.kind === 'approval' ? each.request.script?.id : undefined
    const key = script === undefined ? each.request.id : `script ${script}`
    const group = groups.get(key)
    if (group) group.push(each)
    else groups.set(key, [each])
  }
  return [...groups.values()]
}

/** The script that makes the calls, in words; `undefined` if none does. */
async function scriptOf(
  approvals: StoredApprovals,
  group: readonly StoredRequest[],
  flags: WatchFlags,
): Promise<string | undefined> {
  const requests = group.flatMap((each) => (each.kind === 'approval' && each.request.script ? [each.request] : []))
  const [first] = requests
  return first && describeScript(requests, await approvals.source(first), flags)
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

interface WatchFlags {
  readonly config?: string
  readonly json?: boolean
  readonly full?: boolean
}

const LOOK_MS = 500

/** Shows new requests in the store until Ctrl-C; on a terminal each one is asked and answered right there. */
async function watchApprovals(approvals: StoredApprovals, flags: WatchFlags): Promise<void> {
  const signal = AbortSignal.any([interruptSignal(), readerGone])
  say('Watching for approvals and questions; Ctrl-C ends.')
  let shown = new Set<string>()
  while (!signal.aborted) {
    const waiting = await approvals.list()
    for (const group of groupByScript(waiting)) {
      const added = group.filter(({ request }) => !shown.has(request.id))
      const script = flags.json ? undefined : await scriptOf(approvals, added, flags)
      if (script !== undefined && !signal.aborted) await (canAsk() ? say(`\n${script}`) : print(script))
      for (const each of added) if (!signal.aborted) await showRequest(approvals, each, flags)
    }
    // Only those that still wait: other ids need not be kept.
    shown = new Set(waiting.map(({ request }) => request.id))
    // An abort ends the pause, and the loop sees it.
    await sleep(LOOK_MS, undefined, { signal }).catch(() => {})
  }
}

/** A request with everything known about it, and how to answer. */
function describeWaiting(waiting: StoredRequest, flags: WatchFlags): string {
  const how = { isFull: flags.full }
  const lines =
    waiting.kind === 'approval'
      ? [...describeRequest(waiting.request, how), ...describeAnswers(waiting.request, flags).map(asAnswer)]
      : [...describeQuestion(waiting.request, how), asAnswer(describeQuestionAnswer(waiting.request, flags))]
  return [describeAge(waiting.request), ...lines.map((line) => `  ${line}`)].join('\n')
}

function asAnswer(line: string): string {
  return `answer     ${line}`
}

async function showRequest(approvals: StoredApprovals, waiting: StoredRequest, flags: WatchFlags): Promise<void> {
  if (flags.json) return printJsonLine(waiting.request)
  if (!canAsk()) return print(describeWaiting(waiting, flags))
  say(`\n${describeAge(waiting.request)}`)
  try {
    await (waiting.kind === 'approval'
      ? askForApproval(approvals, waiting.request)
      : askForAnswer(approvals, waiting.request))
  } catch (error) {
    // The call is gone, or the answer does not fit: continue to watch.
    sayError((error as Error).message)
  }
}

async function askForApproval(approvals: StoredApprovals, request: ApprovalRequest): Promise<void> {
  const { askOnTerminal } = await import('../prompt/ask-on-terminal.ts')
  const reply = await askOnTerminal(request, { session: true })
  if (interruptSignal().aborted) return
  const isFirst = await approvals.answer(request.id, { ...reply, via: 'terminal' })
  sayOutcome(request, isFirst, describeReply(request.id, reply))
}

async function askForAnswer(approvals: StoredApprovals, request: QuestionRequest): Promise<void> {
  const { answerOnTerminal } = await import('../prompt/ask-on-terminal.ts')
  say(describeQuestion(request).join('\n'))
  const reply = await answerOnTerminal(request, { signal: interruptSignal() })
  if (interruptSignal().aborted) return
  const isFirst = await approvals.answerQuestion(request.id, reply, { by: callerName(), via: 'terminal' })
  sayOutcome(request, isFirst, `Answered ${request.id}.`)
}

function sayOutcome({ id }: { readonly id: string }, isFirst: boolean | undefined, done: string): void {
  if (isFirst) say(done)
  else sayError(`${id} no longer waits: somebody else was faster, or it was withdrawn.`)
}

const GRANTS_EXAMPLES = `
Examples:
  tool-hub grants
  tool-hub grants revoke grant-b513ab00c0dc9f03`

/** Approvals are listed and answered without a hub. */
const loadHub = () => import('../hub/with-hub.ts')

/** `grants`: answers that hold for later calls. */
export function describeGrants(command: Command): void {
  command.description('List and revoke grants: answers that are remembered for later calls.')
  addCommand(command, {
    name: 'list',
    summary: 'List the grants, oldest first',
    run: async (flags: CommandFlags) => (await loadHub()).withHub(flags, ({ grants }) => grants.list()),
    show: (grants) => printTable(grants.map(grantRow), 'No answer is saved.'),
  })
  command.addHelpText('after', GRANTS_EXAMPLES)
  addCommand(command, {
    name: 'revoke',
    summary: 'Revoke a grant',
    description: 'Revoke a grant; the next such call needs approval again.',
    words: { '<id>': 'Id of the grant' },
    run: async (flags: CommandFlags, id: string) =>
      (await loadHub()).withHub(flags, async ({ grants }) => {
        if (await grants.revoke(id)) return { revoked: id }
        const known = (await grants.list()).map((grant) => grant.id)
        throw new UsageError(
          `Grant ${JSON.stringify(id)} not found.`,
          didYouMean(id, known) || 'List them with tool-hub grants.',
        )
      }),
    show: ({ revoked }) => `Revoked ${revoked}.`,
  })
}

const WHAT = {
  exact: 'this exact call',
  targets: 'any call on these targets',
  pattern: 'any call that matches',
  values: 'values of arguments',
} as const

function grantRow({ id, effect, tool, covers, targets, pattern, values, until, by }: Grant): string[] {
  const about = pattern?.shown ?? (values ? values.map(({ argument }) => argument) : targets).join(', ')
  return [id, effect, tool, WHAT[covers], until ? `until ${until}` : 'always', `by ${by}`, about]
}
