import type { CommandBuilder, CommandFlags, CommandKit } from '@tool-hub/core'
import { addCronAdd, addCronUpdate, localTime, runRow, scheduleRow } from './commands-add.ts'
import type { Schedule, ScheduleRun } from './types.ts'

type NextFlags = CommandFlags & { readonly timeZone?: string; readonly count: string }
type RunsFlags = CommandFlags & { readonly limit: string; readonly before?: string }

const MAX_COUNT = 100
const SCHEDULE = { '<schedule>': 'Name or id of the schedule' }

const EXAMPLES = `
Schedules run while tool-hub serve or tool-hub cron start runs. Several processes can share them; each time runs once.

Examples:
  tool-hub cron
  tool-hub cron add standup core/message.send '{"channel":"console","text":"Standup."}' --cron "45 8 * * 1-5"
  tool-hub cron next "0 9 * * 1-5"
  tool-hub cron run standup
  tool-hub cron runs standup
  tool-hub cron update standup --disable
  tool-hub cron start`

/** `cron`: manages schedules. */
export function schedulesCommand(command: CommandBuilder, kit: CommandKit): void {
  const { addCommand, withServiceHub, say } = kit
  command.description('Add, list, change, run and remove schedules, and show their runs.')
  addCommand(command, {
    name: 'list',
    summary: 'List all schedules, sorted by name',
    run: (flags: CommandFlags) =>
      withServiceHub(flags, async ({ schedules }, options) => ({
        schedules: await schedules.list(),
        entries: Object.keys(options.schedules?.entries ?? {}),
      })),
    toJson: ({ schedules }) => schedules,
    async show({ schedules, entries }) {
      await kit.printTable(schedules.map(scheduleRow), 'There are no schedules. Add one with tool-hub cron add NAME.')
      sayUnknown(kit, entries, schedules)
    },
  })
  command.addHelpText('after', EXAMPLES)
  addCronAdd(command, kit)
  addCronUpdate(command, kit)
  addCommand(command, {
    name: 'remove',
    summary: 'Remove a schedule',
    description: 'Remove a schedule and its run history; the records of its calls stay.',
    words: SCHEDULE,
    help: '\nExamples:\n  tool-hub cron remove standup',
    async run(flags: CommandFlags, schedule: string) {
      const by = kit.callerName()
      const { id, name } = await withServiceHub(flags, ({ schedules }) => schedules.remove(schedule, { by }))
      return { removed: id, name }
    },
    show: ({ name }) => `Removed ${name}.`,
  })
  addCommand(command, {
    name: 'run',
    summary: 'Run a schedule now',
    description: 'Make the calls of a schedule now, in this process, and wait for them to end.',
    words: SCHEDULE,
    help: '\nExamples:\n  tool-hub cron run standup',
    async run(flags: CommandFlags, schedule: string) {
      const outcome = await withServiceHub(flags, async ({ schedules }) => {
        const { timeZone } = await schedules.find(schedule)
        const how = { by: kit.callerName(), signal: kit.interruptSignal() }
        return { made: await schedules.run(schedule, how), timeZone }
      })
      process.exitCode = exitCodeOf(kit, outcome.made)
      return outcome
    },
    toJson: ({ made }) => made,
    show: ({ made, timeZone }) => kit.table([runRow(made, timeZone)]),
  })
  addCommand(command, {
    name: 'runs',
    summary: 'Show the runs of a schedule',
    description: 'Show the runs of a schedule, newest first.',
    words: SCHEDULE,
    options: (to) =>
      to
        .option('--limit <number>', 'Maximum number', '20')
        .option('--before <number>', 'Continue a list, with the number that it ended with'),
    help: '\nExamples:\n  tool-hub cron runs standup --limit 5\n  tool-hub runs show RUN    what one of them did',
    run({ limit, before, ...flags }: RunsFlags, schedule: string) {
      const page = {
        limit: numberOf(kit, '--limit', limit),
        before: before === undefined ? undefined : numberOf(kit, '--before', before),
      }
      return withServiceHub(flags, async ({ schedules }) => {
        const { timeZone } = await schedules.find(schedule)
        return { page: await schedules.runs(schedule, page), timeZone }
      })
    },
    toJson: ({ page }) => page,
    async show({ page: { runs, next }, timeZone }) {
      await kit.printTable(
        runs.map((each) => runRow(each, timeZone)),
        'It has not run yet.',
      )
      if (runs.length > 0 && next !== undefined) say(`Older ones: --before ${next}`)
    },
  })
  addCommand(command, {
    name: 'status',
    summary: 'Show whether anything runs schedules',
    description: 'Show whether anything runs schedules, how many there are, and when the next one is due.',
    help: '\nExamples:\n  tool-hub cron status --json',
    run: (flags: CommandFlags) => withServiceHub(flags, ({ schedules }) => schedules.status()),
    show: ({ isTicking, schedules, enabled, running, waiting, nextAt }) =>
      [
        isTicking ? 'Schedules are running.' : 'Nothing runs schedules: start tool-hub serve or tool-hub cron start.',
        `${schedules} schedules, ${enabled} enabled; ${running} runs active, ${waiting} waiting.`,
        nextAt === undefined ? 'None is due.' : `The next is due at ${localTime(nextAt, ownTimeZone())}.`,
      ].join('\n'),
  })
  kit
    .addConfigOption(command.command('start'))
    .summary('Run schedules here until Ctrl-C')
    .description(
      'Run schedules in this process until Ctrl-C, and print each run that starts or ends. tool-hub serve also runs them.',
    )
    .addHelpText(
      'after',
      '\nExamples:\n  tool-hub cron start\n  tool-hub cron start --json      a line of JSON for each run',
    )
    .action((flags: CommandFlags) => startSchedules(kit, flags, kit.interruptSignal()))
  addCommand(command, {
    name: 'next',
    summary: 'Show the next times of an expression',
    description: 'Show the next times of a cron expression, or which of its fields is invalid.',
    words: { '<expression>': 'Minute, hour, day of month, month, day of week' },
    options: (to) =>
      to
        .option('--time-zone <name>', 'Time zone, e.g. Europe/Berlin. Default: that of the config or the machine')
        .option('--count <number>', 'Maximum number', '5'),
    help: '\nExamples:\n  tool-hub cron next "0 9 * * 1-5"\n  tool-hub cron next "30 2 * * *" --time-zone Europe/Berlin --count 10',
    run({ timeZone, count: written, ...flags }: NextFlags, cron: string) {
      const count = Number(written)
      if (!Number.isInteger(count) || count < 1 || count > MAX_COUNT)
        throw kit.usageError(`Invalid --count ${JSON.stringify(written)}.`, `Use 1 to ${MAX_COUNT}.`)
      return withServiceHub(flags, ({ schedules }) => schedules.next({ cron }, { count, timeZone }))
    },
    toJson: ({ times, timeZone }) => ({ timeZone, times: times.map((time) => new Date(time).toISOString()) }),
    show({ times, timeZone }) {
      if (times.length === 0) return say('The expression has no future time.')
      return times.map((time) => localTime(time, timeZone)).join('\n')
    },
  })
}

function ownTimeZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone
}

/** Schedules of the config are stored when a process starts to run schedules. */
function sayUnknown(kit: CommandKit, entries: readonly string[], schedules: readonly Schedule[]): void {
  const missing = entries.filter((entry) => !schedules.some(({ name }) => name === `config:${entry}`))
  if (missing.length > 0)
    kit.say(
      `In the config, but not started yet: ${missing.join(', ')}. Start them with tool-hub serve or tool-hub cron start.`,
    )
}

function exitCodeOf(kit: CommandKit, { status }: ScheduleRun): number {
  if (status === 'ok') return kit.exitCodes.ok
  if (status === 'denied') return kit.exitCodes.denied
  return status === 'approval_required' ? kit.exitCodes.unapproved : kit.exitCodes.failed
}

function numberOf(kit: CommandKit, option: string, text: string): number {
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text)
  throw kit.usageError(`Invalid ${option} ${JSON.stringify(text)}.`, 'Use a whole number above 0.')
}

/** Runs schedules until the signal aborts. */
export async function startSchedules(kit: CommandKit, flags: CommandFlags, signal: AbortSignal): Promise<void> {
  await kit.withServiceHub(flags, async ({ schedules }, options) => {
    await schedules.onRun((run, { name, timeZone }) => {
      if (flags.json) void kit.printJsonLine({ name, ...run })
      else void kit.print(kit.table([[name, ...runRow(run, timeZone)]]))
    })
    await schedules.start({ entries: options.schedules?.entries ?? {} })
    if (!flags.json) {
      const { enabled, nextAt } = await schedules.status()
      const next = nextAt === undefined ? '' : `, the next at ${localTime(nextAt, ownTimeZone())}`
      kit.say(`Running ${enabled} schedules${next}. Press Ctrl-C to stop.`)
    }
    // The timers of schedules keep no process alive.
    const alive = setInterval(() => {}, 60_000)
    await untilAborted(signal)
    clearInterval(alive)
    await schedules.stop()
  })
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((done) => {
    if (signal.aborted) done()
    signal.addEventListener('abort', () => done(), { once: true })
  })
}
