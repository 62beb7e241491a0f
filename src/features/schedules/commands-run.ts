import type { Command } from 'commander'
import type { CommandKit } from '../../core/index.ts'
import { runRow } from './schedule-lines.ts'
import type { ScheduleRun } from './types.ts'

interface RunFlags {
  readonly config?: string
  readonly json?: boolean
  readonly limit?: string
  readonly before?: string
}

/** `cron run`: beside its times. */
export function describeCronRun(command: Command, kit: CommandKit): void {
  kit
    .addConfigOption(command)
    .description('Make the calls of a schedule now, in this process, and wait for their end.')
    .argument('<schedule>', 'Its name or id')
    .addHelpText('after', '\nExamples:\n  tool-hub cron run standup')
    .action((schedule: string, flags: RunFlags) => runSchedule(kit, schedule, flags))
}

/** `cron runs`: what became of its times. */
export function describeCronRuns(command: Command, kit: CommandKit): void {
  kit
    .addConfigOption(command)
    .description('Show what became of the times of a schedule, newest first.')
    .argument('<schedule>', 'Its name or id')
    .option('--limit <number>', 'How many', '20')
    .option('--before <number>', 'Go on from there, as the end of an earlier list says')
    .addHelpText(
      'after',
      '\nExamples:\n  tool-hub cron runs standup --limit 5\n  tool-hub runs show RUN    what one of them did',
    )
    .action((schedule: string, flags: RunFlags) => listRuns(kit, schedule, flags))
}

async function runSchedule(kit: CommandKit, schedule: string, flags: RunFlags): Promise<void> {
  const { made, timeZone } = await kit.withServiceHub(flags, async ({ schedules }) => {
    const { timeZone } = await schedules.find(schedule)
    return { made: await schedules.run(schedule, { by: kit.callerName(), signal: kit.interruptSignal() }), timeZone }
  })
  process.exitCode = exitCodeOf(kit, made)
  await (flags.json ? kit.printJson(made) : kit.print(kit.table([runRow(made, timeZone)])))
}

async function listRuns(kit: CommandKit, schedule: string, { limit = '20', before, ...flags }: RunFlags): Promise<void> {
  const page = {
    limit: numberOf(kit, '--limit', limit),
    ...(before !== undefined && { before: numberOf(kit, '--before', before) }),
  }
  const { found, timeZone } = await kit.withServiceHub(flags, async ({ schedules }) => {
    const { timeZone } = await schedules.find(schedule)
    return { found: await schedules.runs(schedule, page), timeZone }
  })
  if (flags.json) return kit.printJson(found)
  if (found.runs.length === 0) return kit.say('It has not run yet.')
  await kit.print(kit.table(found.runs.map((each) => runRow(each, timeZone))))
  if (found.next !== undefined) kit.say(`Older ones: --before ${found.next}`)
}

function exitCodeOf(kit: CommandKit, { status }: ScheduleRun): number {
  if (status === 'ok') return kit.exitCodes.ok
  if (status === 'denied') return kit.exitCodes.denied
  return status === 'approval_required' ? kit.exitCodes.unapproved : kit.exitCodes.failed
}

function numberOf(kit: CommandKit, option: string, text: string): number {
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text)
  throw kit.usageError(`${option} ${JSON.stringify(text)} is not a number.`, 'Use a whole number above 0.')
}
