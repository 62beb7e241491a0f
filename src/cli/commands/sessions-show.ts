import type { Command } from 'commander'
import type { SessionStatus } from '../../contracts/sessions.ts'
import { escapeLine, escapeText } from '../../value/escape-text.ts'
import { type HubFlags, withHub } from '../hub/with-hub.ts'
import { addConfigOption } from '../input/add-options.ts'
import { count } from '../output/count.ts'
import { print, printJson } from '../output/print.ts'

/** `sessions show`: one session. */
export function describeSessionsShow(command: Command): void {
  addConfigOption(command)
    .description('Show how a session is: its task and result, its budget, what it began, how much waits for it.')
    .argument('<session>', 'Its id or label, or the id of a run')
    .addHelpText('after', '\nExamples:\n  tool-hub sessions show researcher')
    .action(show)
}

async function show(session: string, flags: HubFlags & { readonly json?: boolean }): Promise<void> {
  const status = await withHub(flags, ({ sessions }) => sessions.find(session))
  await (flags.json ? printJson(status) : print(describe(status)))
}

function describe({ session, budget, children, unread }: SessionStatus): string {
  const { id, label, state, runner, parent, principal, task, reason, result, isTainted } = session
  const facts = [
    ...(runner ? [`runner ${runner}`] : []),
    ...(parent ? [`began by ${parent}`] : []),
    ...(principal ? [principal] : []),
    ...(isTainted ? ['has read content from outside'] : []),
    ...(unread > 0 ? [`${count(unread, 'message')} unread`] : []),
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
