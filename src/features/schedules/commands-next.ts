import type { Command } from 'commander'
import type { CommandKit } from '../../core/index.ts'
import { localTime } from './schedule-lines.ts'

interface NextFlags {
  readonly config?: string
  readonly json?: boolean
  readonly timeZone?: string
  readonly count: string
}

const MAX_COUNT = 100

/** `cron next`: what an expression means. */
export function describeCronNext(command: Command, kit: CommandKit): void {
  kit
    .addConfigOption(command)
    .description('Show the next times of a cron expression by the clocks of a zone, or where it is wrong.')
    .argument('<expression>', 'Minute, hour, day of month, month, day of week')
    .option('--time-zone <name>', 'By whose clocks, e.g. Europe/Berlin. Default: that of the config or the machine')
    .option('--count <number>', 'How many', '5')
    .addHelpText(
      'after',
      '\nExamples:\n  tool-hub cron next "0 9 * * 1-5"\n  tool-hub cron next "30 2 * * *" --time-zone Europe/Berlin --count 10',
    )
    .action((expression: string, flags: NextFlags) => next(kit, expression, flags))
}

async function next(kit: CommandKit, expression: string, flags: NextFlags): Promise<void> {
  const count = Number(flags.count)
  if (!Number.isInteger(count) || count < 1 || count > MAX_COUNT)
    throw kit.usageError(`--count ${JSON.stringify(flags.count)} is no number of times.`, `Use 1 to ${MAX_COUNT}.`)
  const wish = { count, ...(flags.timeZone !== undefined && { timeZone: flags.timeZone }) }
  const { times, timeZone } = await kit.withServiceHub(flags, ({ schedules }) =>
    schedules.next({ cron: expression }, wish),
  )
  if (flags.json) return kit.printJson({ timeZone, times: times.map((time) => new Date(time).toISOString()) })
  if (times.length === 0) return kit.say('It has no time at all.')
  await kit.print(times.map((time) => localTime(time, timeZone)).join('\n'))
}
