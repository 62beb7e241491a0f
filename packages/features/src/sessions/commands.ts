import { type CommandBuilder, type CommandFlags, type CommandKit, ToolError } from '@tool-hub/core'
import { escapeLine, escapeText } from '@tool-hub/core/lib'
import type { SessionLimits } from './runner.ts'
import { SESSION_STATES, type SessionState } from './store-types.ts'
import type { HistoryEntry, SendOutcome, SessionEntry, SessionStatus } from './types.ts'

type PageFlags = CommandFlags & { readonly limit: string; readonly before?: string }
type ListFlags = PageFlags & { readonly state?: string }
type HistoryFlags = PageFlags & { readonly after?: string }
type SendFlags = CommandFlags & { readonly wait?: string; readonly replyTo?: string }
type EndFlags = CommandFlags & { readonly reason?: string }
type SpawnFlags = CommandFlags & {
  readonly runner?: string
  readonly label?: string
  readonly calls?: string
  readonly time?: string
}

const EXAMPLES = `
Examples:
  tool-hub sessions --state running
  tool-hub sessions show researcher
  tool-hub sessions history researcher --limit 20
  tool-hub sessions send researcher "Which source says so?" --wait 30s
  tool-hub sessions spawn "List the open issues about printing." --runner researcher
  tool-hub sessions end researcher --reason "not needed any more"`

const ANY = { '<session>': 'Its id or label, or the id of a run' }
const LIVE = { '<session>': 'Its id or label' }

/** `sessions`: the sessions of agents. */
export function sessionsCommand(command: CommandBuilder, kit: CommandKit): void {
  const { addCommand, withHub, say } = kit
  command.description('List agent sessions, read their history, send them messages, start and end them.')
  addCommand(command, {
    name: 'list',
    summary: 'List agent sessions and runs, newest first',
    options: (to) =>
      to
        .option('--state <state>', `Only sessions in this state: ${SESSION_STATES.join(', ')}`)
        .option('--limit <number>', 'Maximum number of sessions, up to 200', '50')
        .option('--before <place>', 'Continue from the position at the end of an earlier list'),
    run({ state, limit, before, ...flags }: ListFlags) {
      const filter = {
        limit: kit.parseCount('--limit', limit),
        state: state ? stateOf(kit, state) : undefined,
        before: before || undefined,
      }
      return withHub(flags, ({ sessions }) => sessions.list(filter))
    },
    async show({ sessions, next }) {
      await kit.printTable(sessions.map(row), 'No sessions. Agents start one with the tool core/session.spawn.')
      if (sessions.length > 0 && next !== undefined) say(`There are more: --before ${next}`)
    },
  })
  command.addHelpText('after', EXAMPLES)
  addCommand(command, {
    name: 'show',
    summary: 'Show a session with its budget and children',
    description: 'Show the state of a session: task, result, budget, children and unread messages.',
    words: ANY,
    help: '\nExamples:\n  tool-hub sessions show researcher',
    run: (flags: CommandFlags, session: string) => withHub(flags, ({ sessions }) => sessions.find(session)),
    show: (status) => describe(kit, status),
  })
  addCommand(command, {
    name: 'history',
    summary: 'Show the history of a session',
    description: 'Show the calls and messages of a session, oldest first. Default: the newest part.',
    words: ANY,
    options: (to) =>
      to
        .option('--limit <number>', 'Maximum number of entries, up to 200', '50')
        .option('--before <place>', 'Only entries before this position')
        .option('--after <place>', 'Only entries after this position'),
    help: '\nExamples:\n  tool-hub sessions history researcher --limit 20',
    run({ limit, before, after, ...flags }: HistoryFlags, session: string) {
      const page = {
        limit: kit.parseCount('--limit', limit),
        before: before || undefined,
        after: after || undefined,
      }
      return withHub(flags, ({ sessions }) => sessions.history(session, page))
    },
    async show({ entries, earlier }) {
      if (entries.length === 0) say('The history is empty.')
      else await kit.print(entries.map(historyLine).join('\n'))
      if (earlier !== undefined) say(`Earlier: --before ${earlier}`)
    },
  })
  addCommand(command, {
    name: 'send',
    summary: 'Send a message to a session as the owner',
    description: 'Send a message to a session as the owner; the session may run in another process.',
    words: { ...LIVE, '<message>': 'The text' },
    options: (to) =>
      to
        .option('--wait <duration>', 'How long to wait for an answer, e.g. 30s')
        .option('--reply-to <id>', 'The message that this one answers'),
    help: '\nExamples:\n  tool-hub sessions send researcher "Which source says so?" --wait 30s',
    run({ wait, replyTo, ...flags }: SendFlags, session: string, text: string) {
      const waitMs = wait === undefined ? 0 : kit.parseTime('--wait', wait)
      const message = { text, by: kit.callerName(), waitMs, replyTo: replyTo || undefined }
      return withHub(flags, ({ sessions }) => sessions.send(session, message))
    },
    show: (outcome) => escapeText(describeOutcome(outcome)),
  })
  addCommand(command, {
    name: 'spawn',
    summary: 'Start a session and wait for its result',
    description:
      'Start a session with a configured runner and wait for its result; the session ends with this command.',
    words: { '<task>': 'What to do' },
    options: (to) =>
      to
        .option('--runner <name>', 'The runner to use', 'default')
        .option('--label <name>', 'A name for it')
        .option('--calls <number>', 'Maximum number of tool calls')
        .option('--time <duration>', 'Maximum time, e.g. 10m'),
    help: '\nExamples:\n  tool-hub sessions spawn "List the open issues about printing." --runner researcher',
    run: (flags: SpawnFlags, task: string) => spawn(kit, task, flags),
    show: ({ result = '' }) => escapeText(result),
  })
  addCommand(command, {
    name: 'end',
    summary: 'End a session and all its children',
    description: 'End a session and all its children, whichever process they run in.',
    words: LIVE,
    options: (to) => to.option('--reason <text>', 'The reason; it is stored with the session'),
    help: '\nExamples:\n  tool-hub sessions end researcher --reason "not needed any more"',
    async run({ reason, ...flags }: EndFlags, session: string) {
      const how = { by: kit.callerName(), reason: reason || undefined }
      return { session, ended: await withHub(flags, ({ sessions }) => sessions.end(session, how)) }
    },
    show: ({ session, ended }) => (ended ? `Ended ${session}.` : `${session} was over already.`),
  })
}

async function spawn(
  kit: CommandKit,
  task: string,
  { runner, label, calls, time, ...flags }: SpawnFlags,
): Promise<SessionEntry> {
  const limits: SessionLimits = {
    ...(calls !== undefined && { calls: kit.parseCount('--calls', calls) }),
    ...(time !== undefined && { wallMs: kit.parseTime('--time', time) }),
  }
  const request = {
    task,
    runner,
    limits,
    by: kit.callerName(),
    waitMs: Number.MAX_SAFE_INTEGER,
    label: label || undefined,
  }
  const session = await kit.withHub(flags, ({ sessions }) => sessions.spawn(request))
  if (session.state !== 'failed') return session
  throw new ToolError('UPSTREAM_ERROR', `The session ${session.id} failed: ${session.reason}`)
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

function historyLine(entry: HistoryEntry): string {
  const time = entry.at.slice(0, 19).replace('T', ' ')
  if (entry.type === 'call') return escapeLine(`${time}  ${entry.tool}  ${entry.status}  ${entry.summary}`)
  const { from, to, text, isUntrusted } = entry.message
  const mark = isUntrusted ? '  [from outside]' : ''
  return `${escapeLine(`${time}  ${from} -> ${to}${mark}`)}\n${escapeText(text).replaceAll(/^/gm, '  ')}`
}

function describeOutcome({ message, session, status, reply, state, reason }: SendOutcome): string {
  if (reply) return reply.text
  if (status === 'ended') return `${session} is ${state} and did not answer ${message}.${reason ? ` ${reason}` : ''}`
  if (status === 'timeout') return `${message} is in the inbox of ${session}; no answer came in time.`
  return `${message} is in the inbox of ${session}.`
}
