import type { Command } from 'commander'
import type { CommandKit } from '../../core/index.ts'
import { describeCronAdd, describeCronUpdate } from './commands-add.ts'
import { describeCronNext } from './commands-next.ts'
import { describeCronRun, describeCronRuns } from './commands-run.ts'
import { describeCronStart } from './commands-start.ts'
import { localTime, scheduleRow } from './schedule-lines.ts'
import type { Schedule } from './types.ts'

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
export function schedulesCommand(command: Command, kit: CommandKit): void {
  command.description('Make, list, change, run and remove schedules, see what became of them, and run them.')
  kit
    .addConfigOption(kit.addDefaultList(command, 'List the schedules of everybody, by name'))
    .action((flags: Flags) => list(kit, flags))
  command.addHelpText('after', EXAMPLES)
  describeCronAdd(command.command('add').summary('Make a schedule'), kit)
  describeCronUpdate(command.command('update').summary('Change a schedule'), kit)
  kit
    .addConfigOption(command.command('remove'))
    .summary('Remove a schedule')
    .description('Remove a schedule and what is known of its runs; their records stay.')
    .argument('<schedule>', 'Its name or id')
    .addHelpText('after', '\nExamples:\n  tool-hub cron remove standup')
    .action((schedule: string, flags: Flags) => remove(kit, schedule, flags))
  describeCronRun(command.command('run').summary('Run a schedule now'), kit)
  describeCronRuns(command.command('runs').summary('Show what became of a schedule'), kit)
  kit
    .addConfigOption(command.command('status'))
    .summary('Say whether anything runs schedules')
    .description('Say whether anything runs schedules, how many there are, and when the next one is due.')
    .addHelpText('after', '\nExamples:\n  tool-hub cron status --json')
    .action((flags: Flags) => status(kit, flags))
  describeCronStart(command.command('start').summary('Run schedules here until Ctrl-C'), kit)
  describeCronNext(command.command('next').summary('Show the next times of an expression'), kit)
}

async function list(kit: CommandKit, flags: Flags): Promise<void> {
  const { schedules, entries } = await kit.withServiceHub(flags, async ({ schedules }, options) => ({
    schedules: await schedules.list(),
    entries: Object.keys(options.schedules?.entries ?? {}),
  }))
  if (flags.json) return kit.printJson(schedules)
  if (schedules.length > 0) await kit.print(kit.table(schedules.map(scheduleRow)))
  else kit.say('There is no schedule. Make one with tool-hub cron add NAME.')
  sayUnknown(kit, entries, schedules)
}

/** What is written in the config is known once something has run schedules. */
function sayUnknown(kit: CommandKit, entries: readonly string[], schedules: readonly Schedule[]): void {
  const missing = entries.filter((entry) => !schedules.some(({ name }) => name === `config:${entry}`))
  if (missing.length > 0)
    kit.say(`In the config, and not started yet: ${missing.join(', ')}. tool-hub serve or tool-hub cron start does.`)
}

async function remove(kit: CommandKit, schedule: string, flags: Flags): Promise<void> {
  const removed = await kit.withServiceHub(flags, ({ schedules }) =>
    schedules.remove(schedule, { by: kit.callerName() }),
  )
  await (flags.json
    ? kit.printJson({ removed: removed.id, name: removed.name })
    : kit.print(`Removed ${removed.name}.`))
}

async function status(kit: CommandKit, flags: Flags): Promise<void> {
  const state = await kit.withServiceHub(flags, ({ schedules }) => schedules.status())
  if (flags.json) return kit.printJson(state)
  const { isTicking, schedules, enabled, running, waiting, nextAt } = state
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone
  await kit.print(
    [
      isTicking ? 'Schedules run.' : 'Nothing runs schedules: start tool-hub serve or tool-hub cron start.',
      `${schedules} schedules, ${enabled} of them on, ${running} running, ${waiting} waiting.`,
      nextAt === undefined ? 'None is due.' : `The next is due at ${localTime(nextAt, zone)}.`,
    ].join('\n'),
  )
}
