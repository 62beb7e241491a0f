import type { Command } from 'commander'
import type { CommandFlags, CommandKit } from '../../core/index.ts'
import { escapeLine, escapeText } from '../../lib/index.ts'
import { describeSessionsHistory } from './commands-history.ts'
import { describeSessionsSend } from './commands-send.ts'
import { describeSessionsSpawn } from './commands-spawn.ts'
import { SESSION_STATES, type SessionState } from './session-store.ts'
import type { SessionEntry, SessionStatus } from './types.ts'

type Flags = CommandFlags & {
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

/** `sessions`: agents at work. */
export function sessionsCommand(command: Command, kit: CommandKit): void {
  const { addConfigOption, addDefaultList } = kit
  command.description('List agents at work, see what they did, write to them, begin and end them.')
  addConfigOption(addDefaultList(command, 'List the sessions of agents and all runs, newest first'))
    .option('--state <state>', `Only those that are ${SESSION_STATES.join(', ')}`)
    .option('--limit <number>', 'The most sessions, 200 at most', '50')
    .option('--before <place>', 'Go on from there, as the end of an earlier list says')
    .action((flags: Flags) => list(kit, flags))
  command.addHelpText('after', EXAMPLES)
  describeSessionsShow(command.command('show').summary('Show one with its budget and what it began'), kit)
  describeSessionsHistory(command.command('history').summary('Show what happened in one'), kit)
  describeSessionsSend(command.command('send').summary('Write to one as the owner'), kit)
  describeSessionsSpawn(command.command('spawn').summary('Begin one and wait for its result'), kit)
  addConfigOption(command.command('end'))
    .summary('End one, and all that it began')
    .description('End a session, and all that it began; in whichever process it lives.')
    .argument('<session>', 'Its id or label')
    .option('--reason <text>', 'Why; it is kept with the session')
    .addHelpText('after', '\nExamples:\n  tool-hub sessions end researcher --reason "not needed any more"')
    .action((session: string, flags: Flags & { readonly reason?: string }) => end(kit, session, flags))
}

async function list(kit: CommandKit, { state, limit = '50', before, ...flags }: Flags): Promise<void> {
  const wish = {
    limit: kit.parseCount('--limit', limit),
    ...(state && { state: stateOf(kit, state) }),
    ...(before && { before }),
  }
  const page = await kit.withHub(flags, ({ sessions }) => sessions.list(wish))
  if (flags.json) return kit.printJson(page)
  if (page.sessions.length === 0)
    return kit.say('There is no session. Agents begin one with the tool core/session.spawn.')
  await kit.print(kit.table(page.sessions.map(row)))
  if (page.next !== undefined) kit.say(`There are more: --before ${page.next}`)
}

async function end(
  kit: CommandKit,
  session: string,
  { reason, ...flags }: Flags & { readonly reason?: string },
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
function describeSessionsShow(command: Command, kit: CommandKit): void {
  kit
    .addConfigOption(command)
    .description('Show how a session is: its task and result, its budget, what it began, how much waits for it.')
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
    ...(parent ? [`began by ${parent}`] : []),
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
