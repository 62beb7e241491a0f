import type { Command } from 'commander'
import type { ScheduleRun } from '../../core/index.ts'
import { EXIT, interruptSignal, UsageError } from '../exit.ts'
import { withSchedules } from '../hub/with-schedules.ts'
import { addConfigOption } from '../input/options.ts'
import { callerName } from '../invocation.ts'
import { table } from '../output/layout.ts'
import { print, printJson, say } from '../output/print.ts'
import { runRow } from '../output/schedule-lines.ts'

interface Flags {
  readonly config?: string
  readonly json?: boolean
  readonly limit?: string
  readonly before?: string
}

/** `cron run`: beside its times. */
export function describeCronRun(command: Command): void {
  addConfigOption(command)
    .description('Make the calls of a schedule now, in this process, and wait for their end.')
    .argument('<schedule>', 'Its name or id')
    .addHelpText('after', '\nExamples:\n  tool-hub cron run standup')
    .action(run)
}

/** `cron runs`: what became of its times. */
export function describeCronRuns(command: Command): void {
  addConfigOption(command)
    .description('Show what became of the times of a schedule, newest first.')
    .argument('<schedule>', 'Its name or id')
    .option('--limit <number>', 'How many', '20')
    .option('--before <number>', 'Go on from there, as the end of an earlier list says')
    .addHelpText(
      'after',
      '\nExamples:\n  tool-hub cron runs standup --limit 5\n  tool-hub runs show RUN    what one of them did',
    )
    .action(runs)
}

async function run(schedule: string, flags: Flags): Promise<void> {
  const { made, timeZone } = await withSchedules(flags, async (desk) => {
    const { timeZone } = await desk.find(schedule)
    return { made: await desk.run(schedule, { by: callerName(), signal: interruptSignal() }), timeZone }
  })
  process.exitCode = exitCodeOf(made)
  await (flags.json ? printJson(made) : print(table([runRow(made, timeZone)])))
}

async function runs(schedule: string, { limit = '20', before, ...flags }: Flags): Promise<void> {
  const page = {
    limit: numberOf('--limit', limit),
    ...(before !== undefined && { before: numberOf('--before', before) }),
  }
  const { found, timeZone } = await withSchedules(flags, async (desk) => {
    const { timeZone } = await desk.find(schedule)
    return { found: await desk.runs(schedule, page), timeZone }
  })
  if (flags.json) return printJson(found)
  if (found.runs.length === 0) return say('It has not run yet.')
  await print(table(found.runs.map((each) => runRow(each, timeZone))))
  if (found.next !== undefined) say(`Older ones: --before ${found.next}`)
}

function exitCodeOf({ status }: ScheduleRun): number {
  if (status === 'ok') return EXIT.ok
  if (status === 'denied') return EXIT.denied
  return status === 'approval_required' ? EXIT.unapproved : EXIT.failed
}

function numberOf(option: string, text: string): number {
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text)
  throw new UsageError(`${option} ${JSON.stringify(text)} is not a number.`, 'Use a whole number above 0.')
}
