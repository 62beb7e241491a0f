import { type CommandBuilder, type CommandFlags, type CommandKit, ToolError } from '@tool-hub/core'
import { escapeLine, escapeText } from '@tool-hub/core/lib'
import type { SessionLimits } from './runner.ts'
import { SESSION_STATES, type SessionState } from './store-types.ts'
import type { HistoryEntry, SendOutcome, SessionEntry, SessionStatus } from './types.ts'

type ListFlags = CommandFlags & {
  readonly json?: boolean
  readonly state?: string
  readonly limit?: string
  readonly before?: string
}

const EXAMPLES = `
Examples:
  tool-hub sessions --state running
  tool-hub sessions show researcher
  tool-hub sessions history researcher --limit 20
  tool-hub sessions send researcher "Which source says so?" --wait 30s
  tool-hub sessions spawn "List the open issues about printing." --runner researcher
  tool-hub sessions end researcher --reason "not needed any more"`

/** `sessions`: the sessions of agents. */
export function sessionsCommand(command: CommandBuilder, kit: CommandKit): void {
  const { addConfigOption, addDefaultList } = kit
  command.description('List agent sessions, read their history, send them messages, start and end them.')
  addConfigOption(addDefaultList(command, 'List agent sessions and runs, newest first'))
    .option('--state <state>', `Only sessions in this state: ${SESSION_STATES.join(', ')}`)
    .option('--limit <number>', 'Maximum number of sessions, up to 200', '50')
    .option('--before <place>', 'Continue from the position at the end of an earlier list')
    .action((flags: ListFlags) => list(kit, flags))
  command.addHelpText('after', EXAMPLES)
  describeSessionsShow(command.command('show').summary('Show a session with its budget and children'), kit)
  describeSessionsHistory(command.command('history').summary('Show the history of a session'), kit)
  describeSessionsSend(command.command('send').summary('Send a message to a session as the owner'), kit)
  describeSessionsSpawn(command.command('spawn').summary('Start a session and wait for its result'), kit)
  addConfigOption(command.command('end'))
    .summary('End a session and all its children')
    .description('End a session and all its children, whichever process they run in.')
    .argument('<session>', 'Its id or label')
    .option('--reason <text>', 'The reason; it is stored with the session')
    .addHelpText('after', '\nExamples:\n  tool-hub sessions end researcher --reason "not needed any more"')
    .action((session: string, flags: ListFlags & { readonly reason?: string }) => end(kit, session, flags))
}

async function list(kit: CommandKit, { state, limit = '50', before, ...flags }: ListFlags): Promise<void> {
  const wish = {
    limit: kit.parseCount('--limit', limit),
    ...(state && { state: stateOf(kit, state) }),
    ...(before && { before }),
  }
  const page = await kit.withHub(flags, ({ sessions }) => sessions.list(wish))
  if (flags.json) return kit.printJson(page)
  if (page.sessions.length === 0) return kit.say('No sessions. Agents start one with the tool core/session.spawn.')
  await kit.print(kit.table(page.sessions.map(row)))
  if (page.next !== undefined) kit.say(`There are more: --before ${page.next}`)
}

async function end(
  kit: CommandKit,
  session: string,
  { reason, ...flags }: ListFlags & { readonly reason?: string },
): Promise<void> {
  const how = { by: kit.callerName(), ...(reason && { reason }) }
  const ended = await kit.withHub(flags, ({ sessions }) => sessions.end(session, how))
  if (flags.json) return kit.printJson({ session, ended })
  await kit.print(ended ? `Ended ${session}.` : `${session} was over already.`)
}

function stateOf(kit: CommandKit, text: string): SessionState {
  const state = SESSION_STATES.find((each) => each === text)
  if (state) return state
  throw kit.usageError(`--state ${JSON.stringify(text)} is none.`, `Use one of ${SESSION_STATES.join(', ')}.`)
}

function row({ id, label = '', state, runner = '', createdAt, principal = '', isTainted }: SessionEntry): string[] {
  const marks = isTainted ? 'tainted' : ''
  return [id, label, state, createdAt.slice(0, 19).replace('T', ' '), runner, principal, marks]
}

/** `sessions show`: one session. */
function describeSessionsShow(command: CommandBuilder, kit: CommandKit): void {
  kit
    .addConfigOption(command)
    .description('Show the state of a session: task, result, budget, children and unread messages.')
    .argument('<session>', 'Its id or label, or the id of a run')
    .addHelpText('after', '\nExamples:\n  tool-hub sessions show researcher')
    .action((session: string, flags: CommandFlags & { readonly json?: boolean }) => show(kit, session, flags))
}

async function show(
  kit: CommandKit,
  session: string,
  flags: CommandFlags & { readonly json?: boolean },
): Promise<void> {
  const status = await kit.withHub(flags, ({ sessions }) => sessions.find(session))
  await (flags.json ? kit.printJson(status) : kit.print(describe(kit, status)))
}

function describe(kit: CommandKit, { session, budget, children, unread }: SessionStatus): string {
  const { id, label, state, runner, parent, principal, task, reason, result, isTainted } = session
  const facts = [
    ...(runner ? [`runner ${runner}`] : []),
    ...(parent ? [`started by ${parent}`] : []),
    ...(principal ? [principal] : []),
    ...(isTainted ? ['has read content from outside'] : []),
    ...(unread > 0 ? [`${kit.countNoun(unread, 'message')} unread`] : []),
  ]
  return [
    escapeLine(`${id}${label ? ` (${label})` : ''}  ${state}`),
    ...facts.map((fact) => `  ${escapeLine(fact)}`),
    ...(budget ? [`  used ${budgetLine(budget)}`] : []),
    ...children.map((child) => `  child ${escapeLine(`${child.id}  ${child.state}  ${child.label ?? ''}`)}`),
    ...[task && `task: ${task}`, reason && `reason: ${reason}`, result && `result: ${result}`]
      .filter((part) => part !== undefined)
      .map((part) => escapeText(part)),
  ].join('\n')
}

function budgetLine({ used, limits }: NonNullable<SessionStatus['budget']>): string {
  const units = ['calls', 'wallMs', 'cost'] as const
  return units
    .map((unit) => `${unit} ${used[unit]}${limits[unit] === undefined ? '' : ` of ${limits[unit]}`}`)
    .join(', ')
}

type HistoryFlags = CommandFlags & {
  readonly json?: boolean
  readonly limit?: string
  readonly before?: string
  readonly after?: string
}

/** `sessions history`: the calls and messages of a session. */
function describeSessionsHistory(command: CommandBuilder, kit: CommandKit): void {
  kit
    .addConfigOption(command)
    .description('Show the calls and messages of a session, oldest first. Default: the newest part.')
    .argument('<session>', 'Its id or label, or the id of a run')
    .option('--limit <number>', 'Maximum number of entries, up to 200', '50')
    .option('--before <place>', 'Only entries before this position')
    .option('--after <place>', 'Only entries after this position')
    .addHelpText('after', '\nExamples:\n  tool-hub sessions history researcher --limit 20')
    .action((session: string, flags: HistoryFlags) => showHistory(kit, session, flags))
}

async function showHistory(
  kit: CommandKit,
  session: string,
  { limit = '50', before, after, ...flags }: HistoryFlags,
): Promise<void> {
  const wish = { limit: kit.parseCount('--limit', limit), ...(before && { before }), ...(after && { after }) }
  const page = await kit.withHub(flags, ({ sessions }) => sessions.history(session, wish))
  if (flags.json) return kit.printJson(page)
  if (page.entries.length === 0) kit.say('The history is empty.')
  else await kit.print(page.entries.map(historyLine).join('\n'))
  if (page.earlier !== undefined) kit.say(`Earlier: --before ${page.earlier}`)
}

function historyLine(entry: HistoryEntry): string {
  const time = entry.at.slice(0, 19).replace('T', ' ')
  if (entry.type === 'call') return escapeLine(`${time}  ${entry.tool}  ${entry.status}  ${entry.summary}`)
  const { from, to, text, isUntrusted } = entry.message
  const mark = isUntrusted ? '  [from outside]' : ''
  return `${escapeLine(`${time}  ${from} -> ${to}${mark}`)}\n${escapeText(text).replaceAll(/^/gm, '  ')}`
}

type SendFlags = CommandFlags & { readonly json?: boolean; readonly wait?: string; readonly replyTo?: string }

/** `sessions send`: a message from the owner. */
function describeSessionsSend(command: CommandBuilder, kit: CommandKit): void {
  kit
    .addConfigOption(command)
    .description('Send a message to a session as the owner; the session may run in another process.')
    .argument('<session>', 'Its id or label')
    .argument('<message>', 'The text')
    .option('--wait <duration>', 'How long to wait for an answer, e.g. 30s')
    .option('--reply-to <id>', 'The message that this one answers')
    .addHelpText('after', '\nExamples:\n  tool-hub sessions send researcher "Which source says so?" --wait 30s')
    .action((session: string, text: string, flags: SendFlags) => send(kit, session, text, flags))
}

async function send(
  kit: CommandKit,
  session: string,
  text: string,
  { wait, replyTo, ...flags }: SendFlags,
): Promise<void> {
  const waitMs = wait === undefined ? 0 : kit.parseTime('--wait', wait)
  const wish = { text, by: kit.callerName(), waitMs, ...(replyTo && { replyTo }) }
  const outcome = await kit.withHub(flags, ({ sessions }) => sessions.send(session, wish))
  await (flags.json ? kit.printJson(outcome) : kit.print(escapeText(describeOutcome(outcome))))
}

function describeOutcome({ message, session, status, reply, state, reason }: SendOutcome): string {
  if (reply) return reply.text
  if (status === 'ended') return `${session} is ${state} and did not answer ${message}.${reason ? ` ${reason}` : ''}`
  if (status === 'timeout') return `${message} is in the inbox of ${session}; no answer came in time.`
  return `${message} is in the inbox of ${session}.`
}

type SpawnFlags = CommandFlags & {
  readonly json?: boolean
  readonly runner?: string
  readonly label?: string
  readonly calls?: string
  readonly time?: string
}

/** `sessions spawn`: starts a session and waits for its result. */
function describeSessionsSpawn(command: CommandBuilder, kit: CommandKit): void {
  kit
    .addConfigOption(command)
    .description(
      'Start a session with a configured runner and wait for its result; the session ends with this command.',
    )
    .argument('<task>', 'What to do')
    .option('--runner <name>', 'The runner to use', 'default')
    .option('--label <name>', 'A name for it')
    .option('--calls <number>', 'Maximum number of tool calls')
    .option('--time <duration>', 'Maximum time, e.g. 10m')
    .addHelpText(
      'after',
      '\nExamples:\n  tool-hub sessions spawn "List the open issues about printing." --runner researcher',
    )
    .action((task: string, flags: SpawnFlags) => spawn(kit, task, flags))
}

async function spawn(
  kit: CommandKit,
  task: string,
  { runner, label, calls, time, ...flags }: SpawnFlags,
): Promise<void> {
  const limits: SessionLimits = {
    ...(calls !== undefined && { calls: kit.parseCount('--calls', calls) }),
    ...(time !== undefined && { wallMs: kit.parseTime('--time', time) }),
  }
  const wish = { task, runner, limits, by: kit.callerName(), waitMs: Number.MAX_SAFE_INTEGER, ...(label && { label }) }
  const session = await kit.withHub(flags, ({ sessions }) => sessions.spawn(wish))
  const { id, state, reason, result = '' } = session
  if (state === 'failed') throw new ToolError('UPSTREAM_ERROR', `The session ${id} failed: ${reason}`)
  await (flags.json ? kit.printJson(session) : kit.print(escapeText(result)))
}
