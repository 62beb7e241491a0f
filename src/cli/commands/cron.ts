import type { Command } from 'commander'
import type { Schedule } from '../../core/index.ts'
import { withSchedules } from '../hub/with-schedules.ts'
import { addConfigOption, addDefaultList } from '../input/options.ts'
import { callerName } from '../invocation.ts'
import { table } from '../output/layout.ts'
import { print, printJson, say } from '../output/print.ts'
import { localTime, scheduleRow } from '../output/schedule-lines.ts'
import { describeCronAdd, describeCronUpdate } from './cron-add.ts'
import { describeCronNext } from './cron-next.ts'
import { describeCronRun, describeCronRuns } from './cron-run.ts'
import { describeCronStart } from './cron-start.ts'

interface Flags {
  readonly config?: string
  readonly json?: boolean
}

const EXAMPLES = `
Schedules run while tool-hub serve or tool-hub cron start does; several processes share them, and each time runs once.

Examples:
  tool-hub cron
  tool-hub cron add standup core/message.send '{"channel":"console","text":"Standup."}' --cron "45 8 * * 1-5"
  tool-hub cron next "0 9 * * 1-5"
  tool-hub cron run standup
  tool-hub cron runs standup
  tool-hub cron update standup --disable
  tool-hub cron start`

/** `cron`: calls that are made later. */
export function describeCron(command: Command): void {
  command.description('Make, list, change, run and remove schedules, see what became of them, and run them.')
  addConfigOption(addDefaultList(command, 'List the schedules of everybody, by name')).action(list)
  command.addHelpText('after', EXAMPLES)
  describeCronAdd(command.command('add').summary('Make a schedule'))
  describeCronUpdate(command.command('update').summary('Change a schedule'))
  addConfigOption(command.command('remove'))
    .summary('Remove a schedule')
    .description('Remove a schedule and what is known of its runs; their records stay.')
    .argument('<schedule>', 'Its name or id')
    .addHelpText('after', '\nExamples:\n  tool-hub cron remove standup')
    .action(remove)
  describeCronRun(command.command('run').summary('Run a schedule now'))
  describeCronRuns(command.command('runs').summary('Show what became of a schedule'))
  addConfigOption(command.command('status'))
    .summary('Say whether anything runs schedules')
    .description('Say whether anything runs schedules, how many there are, and when the next one is due.')
    .addHelpText('after', '\nExamples:\n  tool-hub cron status --json')
    .action(status)
  describeCronStart(command.command('start').summary('Run schedules here until Ctrl-C'))
  describeCronNext(command.command('next').summary('Show the next times of an expression'))
}

async function list(flags: Flags): Promise<void> {
  const { schedules, entries } = await withSchedules(flags, async (desk, options) => ({
    schedules: await desk.list(),
    entries: Object.keys(options.schedules?.entries ?? {}),
  }))
  if (flags.json) return printJson(schedules)
  if (schedules.length > 0) await print(table(schedules.map(scheduleRow)))
  else say('There is no schedule. Make one with tool-hub cron add NAME.')
  sayUnknown(entries, schedules)
}

/** What is written in the config is known once something has run schedules. */
function sayUnknown(entries: readonly string[], schedules: readonly Schedule[]): void {
  const missing = entries.filter((entry) => !schedules.some(({ name }) => name === `config:${entry}`))
  if (missing.length > 0)
    say(`In the config, and not started yet: ${missing.join(', ')}. tool-hub serve or tool-hub cron start does.`)
}

async function remove(schedule: string, flags: Flags): Promise<void> {
  const removed = await withSchedules(flags, (desk) => desk.remove(schedule, { by: callerName() }))
  await (flags.json ? printJson({ removed: removed.id, name: removed.name }) : print(`Removed ${removed.name}.`))
}

async function status(flags: Flags): Promise<void> {
  const state = await withSchedules(flags, (desk) => desk.status())
  if (flags.json) return printJson(state)
  const { isTicking, schedules, enabled, running, waiting, nextAt } = state
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone
  await print(
    [
      isTicking ? 'Schedules run.' : 'Nothing runs schedules: start tool-hub serve or tool-hub cron start.',
      `${schedules} schedules, ${enabled} of them on, ${running} running, ${waiting} waiting.`,
      nextAt === undefined ? 'None is due.' : `The next is due at ${localTime(nextAt, zone)}.`,
    ].join('\n'),
  )
}
