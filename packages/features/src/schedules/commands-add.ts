import type { CommandBuilder, CommandFlags, CommandKit } from '@tool-hub/core'
import {
  MISSED_POLICIES,
  OVERLAP_POLICIES,
  type Schedule,
  type ScheduleChange,
  type ScheduledCall,
  type ScheduleRun,
  type When,
  type WrittenWhen,
} from './types.ts'

interface WriteFlags extends CommandFlags {
  readonly cron?: string
  readonly every?: string
  readonly at?: string
  readonly timeZone?: string
  readonly calls?: string
  readonly continueOnError?: boolean
  readonly missed?: Schedule['missed']
  readonly overlap?: Schedule['overlap']
  readonly jitter?: string
  readonly until?: string
  readonly maxRuns?: string
  readonly timeout?: string
  readonly enable?: boolean
  readonly disable?: boolean
}

/** `cron add`: adds a schedule of the owner. */
export function addCronAdd(group: CommandBuilder, kit: CommandKit): void {
  kit.addCommand(group, {
    name: 'add',
    summary: 'Add a schedule',
    description: 'Add a schedule that calls one tool, or several with --calls. It has the rights of the command line.',
    words: {
      '<name>': 'Name of the schedule',
      '[tool]': 'The tool to call',
      '[input]': 'The arguments of the tool as JSON',
    },
    options: (to) => addSettings(kit, to),
    help: `
Examples:
  tool-hub cron add stamp core/util.time.now --every 15m
  tool-hub cron add tidy core/fs.deletePath '{"path":"tmp/old","confirm":true}' --cron "0 3 * * 0" --time-zone Europe/Berlin --missed skip
  tool-hub cron add later --at 2027-01-31T09:00 --calls '[{"tool":"core/util.time.now"}]'`,
    async run(flags: WriteFlags, name: string, tool?: string, input?: string) {
      const when = whenOf(kit, flags)
      if (!when) throw kit.usageError('No time is given.', 'Give --cron, --every or --at.')
      const calls = (await callsOf(kit, flags)) ?? callOf(kit, tool, input)
      if (tool !== undefined && flags.calls !== undefined)
        throw kit.usageError('A tool and --calls exclude each other.', 'Give one of them.')
      const schedule = { ...settingsOf(kit, flags), name, when, calls }
      return kit.withServiceHub(flags, ({ schedules }) => schedules.add(schedule, { by: kit.callerName() }))
    },
    show: (schedule) => kit.table([scheduleRow(schedule)]),
  })
}

/** `cron update`: changes a schedule. */
export function addCronUpdate(group: CommandBuilder, kit: CommandKit): void {
  kit.addCommand(group, {
    name: 'update',
    summary: 'Change a schedule',
    description: 'Change a schedule. Settings without an option keep their value.',
    words: { '<schedule>': 'Name or id of the schedule' },
    options: (to) =>
      addSettings(kit, to).option('--enable', 'Enable the schedule').option('--disable', 'Disable the schedule'),
    help: '\nExamples:\n  tool-hub cron update stamp --every 1h\n  tool-hub cron update stamp --disable',
    async run(flags: WriteFlags, schedule: string) {
      const [when, calls] = [whenOf(kit, flags), await callsOf(kit, flags)]
      if (flags.enable && flags.disable) throw kit.usageError('--enable and --disable exclude each other.', 'Give one.')
      const change: ScheduleChange = {
        ...settingsOf(kit, flags),
        ...(flags.enable && { enabled: true }),
        ...(flags.disable && { enabled: false }),
        ...(when && { when }),
        ...(calls && { calls }),
      }
      if (Object.keys(change).length === 0) throw kit.usageError('No change is given.', 'See --help for the settings.')
      const by = kit.callerName()
      return kit.withServiceHub(flags, ({ schedules }) => schedules.update(schedule, change, { by }))
    },
    show: (schedule) => kit.table([scheduleRow(schedule)]),
  })
}

function addSettings(kit: CommandKit, command: CommandBuilder): CommandBuilder {
  return command
    .option('--cron <expression>', 'Run at these times: minute, hour, day of month, month, day of week')
    .option('--every <duration>', 'Run at this interval, e.g. 15m')
    .option('--at <time>', 'Run once, e.g. at 2027-01-31T09:00')
    .option('--time-zone <name>', 'Time zone of the times, e.g. Europe/Berlin')
    .option('--calls <json>', 'The calls to make as a JSON list of { tool, input }; - reads stdin')
    .option('--continue-on-error', 'Make the remaining calls after one that failed')
    .addOption(
      kit.choice(
        '--missed <policy>',
        'What to do about times that passed while nothing ran schedules',
        MISSED_POLICIES,
      ),
    )
    .addOption(kit.choice('--overlap <policy>', 'What to do while the previous run is active', OVERLAP_POLICIES))
    .option('--jitter <duration>', 'Maximum random delay of each run')
    .option('--until <time>', 'Do not run after this time')
    .option('--max-runs <number>', 'Maximum number of runs')
    .option('--timeout <duration>', 'Time limit of one run')
}

function settingsOf(kit: CommandKit, flags: WriteFlags): ScheduleChange {
  const { timeZone, continueOnError, missed, overlap, jitter, until, maxRuns, timeout } = flags
  return {
    ...(timeZone !== undefined && { timeZone }),
    ...(continueOnError && { continueOnError }),
    ...(missed && { missed }),
    ...(overlap && { overlap }),
    ...(jitter !== undefined && { jitterMs: kit.parseTime('--jitter', jitter) }),
    ...(until !== undefined && { until }),
    ...(maxRuns !== undefined && { maxRuns: Number(maxRuns) }),
    ...(timeout !== undefined && { timeoutMs: kit.parseTime('--timeout', timeout) }),
  }
}

function whenOf(kit: CommandKit, { cron, every, at }: WriteFlags): WrittenWhen | undefined {
  const given = [cron, every, at].filter((value) => value !== undefined).length
  if (given > 1) throw kit.usageError('--cron, --every and --at exclude each other.', 'Give one of them.')
  if (cron !== undefined) return { cron }
  if (every !== undefined) return { everyMs: kit.parseTime('--every', every) }
  return at === undefined ? undefined : { at }
}

async function callsOf(kit: CommandKit, { calls }: WriteFlags): Promise<readonly ScheduledCall[] | undefined> {
  if (calls === undefined) return undefined
  const parsed = kit.parseJson(calls === '-' ? await kit.readStdin() : calls, '--calls')
  // The service validates them with the whole schedule.
  return parsed as readonly ScheduledCall[]
}

function callOf(kit: CommandKit, tool: string | undefined, input: string | undefined): readonly ScheduledCall[] {
  if (tool === undefined) throw kit.usageError('No tool is given.', 'Name it after the schedule, or give --calls.')
  return [{ tool, ...(input !== undefined && { input: kit.parseJson(input, 'The argument') }) }]
}

/** A schedule as a row of a table. */
export function scheduleRow(schedule: Schedule): string[] {
  const { name, principal = 'owner', when, timeZone, enabled, nextAt, lastAt, lastStatus, calls } = schedule
  const next = nextAt === undefined ? (enabled ? 'no next time' : 'off') : `next ${localTime(nextAt, timeZone)}`
  const last = lastAt === undefined ? 'never run' : `last ${localTime(lastAt, timeZone)} ${lastStatus ?? ''}`.trimEnd()
  const tools = calls.map(({ tool }) => tool).join(', ')
  return [name, principal, whenText(when), timeZone, next, last, schedule.disabledBecause ?? tools]
}

/** A run as a row of a table. */
export function runRow(run: ScheduleRun, timeZone: string): string[] {
  const { dueAt, startedAt, endedAt, status, missed, runId = '', error, summary = '' } = run
  const took = startedAt === undefined || endedAt === undefined ? '' : `${((endedAt - startedAt) / 1000).toFixed(1)} s`
  const left = missed === 0 ? '' : `${missed} missed`
  return [localTime(dueAt, timeZone), status, took, runId, [left, error ?? summary].filter(Boolean).join('  ')]
}

/** The local time in a zone with its offset: `2027-03-28 03:00:00 +02:00`. */
export function localTime(time: number, timeZone: string): string {
  const format = new Intl.DateTimeFormat('en-CA', {
    ...{ timeZone, hourCycle: 'h23', timeZoneName: 'longOffset' },
    ...{ year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit', second: '2-digit' },
  } as Intl.DateTimeFormatOptions)
  const parts = new Map(format.formatToParts(time).map(({ type, value }) => [type, value]))
  const of = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? ''
  const offset = of('timeZoneName').replace('GMT', '') || '+00:00'
  return `${of('year')}-${of('month')}-${of('day')} ${of('hour')}:${of('minute')}:${of('second')} ${offset}`
}

/** A short text for when a schedule runs. */
export function whenText(when: When): string {
  if ('cron' in when) return when.cron
  return 'at' in when ? `at ${when.at}` : `every ${intervalText(when.everyMs)}`
}

function intervalText(ms: number): string {
  for (const [unit, size] of [
    ['d', 86_400_000],
    ['h', 3_600_000],
    ['m', 60_000],
    ['s', 1_000],
  ] as const)
    if (ms % size === 0) return `${ms / size}${unit}`
  return `${ms}ms`
}
