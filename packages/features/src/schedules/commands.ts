import type { CommandBuilder, CommandKit } from '@tool-hub/core'
import { describeCronAdd, describeCronUpdate } from './commands-add.ts'
import { localTime, runRow, scheduleRow } from './schedule-lines.ts'
import type { Schedule, ScheduleRun } from './types.ts'

interface Flags {
  readonly config?: string
  readonly json?: boolean
}

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
  command.description('Add, list, change, run and remove schedules, and show their runs.')
  kit
    .addConfigOption(kit.addDefaultList(command, 'List all schedules, sorted by name'))
    .action((flags: Flags) => list(kit, flags))
  command.addHelpText('after', EXAMPLES)
  describeCronAdd(command.command('add').summary('Add a schedule'), kit)
  describeCronUpdate(command.command('update').summary('Change a schedule'), kit)
  kit
    .addConfigOption(command.command('remove'))
    .summary('Remove a schedule')
    .description('Remove a schedule and its run history; the records of its calls stay.')
    .argument('<schedule>', 'Name or id of the schedule')
    .addHelpText('after', '\nExamples:\n  tool-hub cron remove standup')
    .action((schedule: string, flags: Flags) => remove(kit, schedule, flags))
  describeCronRun(command.command('run').summary('Run a schedule now'), kit)
  describeCronRuns(command.command('runs').summary('Show the runs of a schedule'), kit)
  kit
    .addConfigOption(command.command('status'))
    .summary('Show whether anything runs schedules')
    .description('Show whether anything runs schedules, how many there are, and when the next one is due.')
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
  else kit.say('There are no schedules. Add one with tool-hub cron add NAME.')
  sayUnknown(kit, entries, schedules)
}

/** Schedules of the config are stored when a process starts to run schedules. */
function sayUnknown(kit: CommandKit, entries: readonly string[], schedules: readonly Schedule[]): void {
  const missing = entries.filter((entry) => !schedules.some(({ name }) => name === `config:${entry}`))
  if (missing.length > 0)
    kit.say(
      `In the config, but not started yet: ${missing.join(', ')}. Start them with tool-hub serve or tool-hub cron start.`,
    )
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
      isTicking ? 'Schedules are running.' : 'Nothing runs schedules: start tool-hub serve or tool-hub cron start.',
      `${schedules} schedules, ${enabled} enabled; ${running} runs active, ${waiting} waiting.`,
      nextAt === undefined ? 'None is due.' : `The next is due at ${localTime(nextAt, zone)}.`,
    ].join('\n'),
  )
}

interface NextFlags extends Flags {
  readonly timeZone?: string
  readonly count: string
}

const MAX_COUNT = 100

/** `cron next`: shows the next times of an expression. */
function describeCronNext(command: CommandBuilder, kit: CommandKit): void {
  kit
    .addConfigOption(command)
    .description('Show the next times of a cron expression, or which of its fields is invalid.')
    .argument('<expression>', 'Minute, hour, day of month, month, day of week')
    .option('--time-zone <name>', 'Time zone, e.g. Europe/Berlin. Default: that of the config or the machine')
    .option('--count <number>', 'Maximum number', '5')
    .addHelpText(
      'after',
      '\nExamples:\n  tool-hub cron next "0 9 * * 1-5"\n  tool-hub cron next "30 2 * * *" --time-zone Europe/Berlin --count 10',
    )
    .action((expression: string, flags: NextFlags) => next(kit, expression, flags))
}

async function next(kit: CommandKit, expression: string, flags: NextFlags): Promise<void> {
  const count = Number(flags.count)
  if (!Number.isInteger(count) || count < 1 || count > MAX_COUNT)
    throw kit.usageError(`Invalid --count ${JSON.stringify(flags.count)}.`, `Use 1 to ${MAX_COUNT}.`)
  const wish = { count, ...(flags.timeZone !== undefined && { timeZone: flags.timeZone }) }
  const { times, timeZone } = await kit.withServiceHub(flags, ({ schedules }) =>
    schedules.next({ cron: expression }, wish),
  )
  if (flags.json) return kit.printJson({ timeZone, times: times.map((time) => new Date(time).toISOString()) })
  if (times.length === 0) return kit.say('The expression has no future time.')
  await kit.print(times.map((time) => localTime(time, timeZone)).join('\n'))
}

interface RunFlags extends Flags {
  readonly limit?: string
  readonly before?: string
}

/** `cron run`: starts a run now. */
function describeCronRun(command: CommandBuilder, kit: CommandKit): void {
  kit
    .addConfigOption(command)
    .description('Make the calls of a schedule now, in this process, and wait for them to end.')
    .argument('<schedule>', 'Name or id of the schedule')
    .addHelpText('after', '\nExamples:\n  tool-hub cron run standup')
    .action((schedule: string, flags: RunFlags) => runSchedule(kit, schedule, flags))
}

/** `cron runs`: lists the runs of a schedule. */
function describeCronRuns(command: CommandBuilder, kit: CommandKit): void {
  kit
    .addConfigOption(command)
    .description('Show the runs of a schedule, newest first.')
    .argument('<schedule>', 'Name or id of the schedule')
    .option('--limit <number>', 'Maximum number', '20')
    .option('--before <number>', 'Continue a list, with the number that it ended with')
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

async function listRuns(
  kit: CommandKit,
  schedule: string,
  { limit = '20', before, ...flags }: RunFlags,
): Promise<void> {
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
  throw kit.usageError(`Invalid ${option} ${JSON.stringify(text)}.`, 'Use a whole number above 0.')
}

/** `cron start`: runs schedules in this process. */
function describeCronStart(command: CommandBuilder, kit: CommandKit): void {
  kit
    .addConfigOption(command)
    .description(
      'Run schedules in this process until Ctrl-C, and print each run that starts or ends. tool-hub serve also runs them.',
    )
    .addHelpText(
      'after',
      '\nExamples:\n  tool-hub cron start\n  tool-hub cron start --json      a line of JSON for each run',
    )
    .action((flags: Flags) => startSchedules(kit, flags, kit.interruptSignal()))
}

/** Runs schedules until the signal aborts. */
export async function startSchedules(kit: CommandKit, flags: Flags, signal: AbortSignal): Promise<void> {
  await kit.withServiceHub(flags, async ({ schedules }, options) => {
    await schedules.onRun((run, { name, timeZone }) => {
      if (flags.json) void kit.printJsonLine({ name, ...run })
      else void kit.print(kit.table([[name, ...runRow(run, timeZone)]]))
    })
    await schedules.start({ entries: options.schedules?.entries ?? {} })
    if (!flags.json) {
      const { enabled, nextAt } = await schedules.status()
      const zone = Intl.DateTimeFormat().resolvedOptions().timeZone
      const next = nextAt === undefined ? '' : `, the next at ${localTime(nextAt, zone)}`
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
