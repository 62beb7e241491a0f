import { type Command, Option } from 'commander'
import {
  MISSED_POLICIES,
  OVERLAP_POLICIES,
  type Schedule,
  type ScheduleChange,
  type ScheduledCall,
  type WrittenWhen,
} from '../../core/index.ts'
import { UsageError } from '../exit.ts'
import { withSchedules } from '../hub/with-schedules.ts'
import { addConfigOption, parseTime } from '../input/options.ts'
import { parseJsonInput, readStdin } from '../input/read-arguments.ts'
import { callerName } from '../invocation.ts'
import { table } from '../output/layout.ts'
import { print, printJson } from '../output/print.ts'
import { scheduleRow } from '../output/schedule-lines.ts'

interface Flags {
  readonly config?: string
  readonly json?: boolean
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

/** `cron add`: a schedule of the owner's. */
export function describeCronAdd(command: Command): void {
  addSettings(command)
    .description('Make a schedule that calls one tool, or with --calls several; it has the rights of the command line.')
    .argument('<name>', 'Name of the server')
    .argument('[tool]', 'The tool to call')
    .argument('[input]', 'Its arguments as JSON')
    .addHelpText(
      'after',
      `
Examples:
  tool-hub cron add stamp core/util.time.now --every 15m
  tool-hub cron add tidy core/fs.deletePath '{"path":"tmp/old"}' --cron "0 3 * * 0" --time-zone Europe/Berlin --missed skip
  tool-hub cron add later --at 2027-01-31T09:00 --calls '[{"tool":"core/util.time.now"}]'`,
    )
    .action(add)
}

/** `cron update`: the same for one that is there. */
export function describeCronUpdate(command: Command): void {
  addSettings(command)
    .description('Change a schedule: what is not said stays.')
    .argument('<schedule>', 'Its name or id')
    .option('--enable', 'Let it go on')
    .option('--disable', 'Keep it from running')
    .addHelpText(
      'after',
      '\nExamples:\n  tool-hub cron update stamp --every 1h\n  tool-hub cron update stamp --disable',
    )
    .action(update)
}

function addSettings(command: Command): Command {
  return addConfigOption(command)
    .option('--cron <expression>', 'When: minute, hour, day of month, month, day of week')
    .option('--every <duration>', 'When: at this interval, e.g. 15m')
    .option('--at <time>', 'When: once, e.g. 2027-01-31T09:00')
    .option('--time-zone <name>', 'Of these times, e.g. Europe/Berlin')
    .option('--calls <json>', 'The calls to make as a JSON list of { tool, input }; - reads stdin')
    .option('--continue-on-error', 'Make the other calls also after one that failed')
    .addOption(new Option('--missed <policy>', 'Times that passed while nothing ran').choices(MISSED_POLICIES))
    .addOption(new Option('--overlap <policy>', 'While the run before is not over').choices(OVERLAP_POLICIES))
    .option('--jitter <duration>', 'Put each time off by a random part of this')
    .option('--until <time>', 'The last moment it may run at')
    .option('--max-runs <number>', 'So often and no more')
    .option('--timeout <duration>', 'How long one run may take')
}

async function add(name: string, tool: string | undefined, input: string | undefined, flags: Flags): Promise<void> {
  const when = whenOf(flags)
  if (!when) throw new UsageError('When?', 'Give --cron, --every or --at.')
  const calls = (await callsOf(flags)) ?? callOf(tool, input)
  if (tool !== undefined && flags.calls !== undefined)
    throw new UsageError('A tool and --calls exclude each other.', 'Give one of them.')
  const wish = { ...settingsOf(flags), name, when, calls }
  await tell(await withSchedules(flags, (desk) => desk.add(wish, { by: callerName() })), flags)
}

async function update(schedule: string, flags: Flags): Promise<void> {
  const [when, calls] = [whenOf(flags), await callsOf(flags)]
  if (flags.enable && flags.disable) throw new UsageError('--enable and --disable exclude each other.', 'Give one.')
  const enabled = flags.enable ? { enabled: true } : flags.disable ? { enabled: false } : {}
  const change: ScheduleChange = { ...settingsOf(flags), ...enabled, ...(when && { when }), ...(calls && { calls }) }
  if (Object.keys(change).length === 0) throw new UsageError('Nothing is to be changed.', 'See --help for what can be.')
  await tell(await withSchedules(flags, (desk) => desk.update(schedule, change, { by: callerName() })), flags)
}

function tell(schedule: Schedule, { json }: Flags): Promise<void> {
  return json ? printJson(schedule) : print(table([scheduleRow(schedule)]))
}

function settingsOf(flags: Flags): ScheduleChange {
  const { timeZone, continueOnError, missed, overlap, jitter, until, maxRuns, timeout } = flags
  return {
    ...(timeZone !== undefined && { timeZone }),
    ...(continueOnError && { continueOnError }),
    ...(missed && { missed }),
    ...(overlap && { overlap }),
    ...(jitter !== undefined && { jitterMs: parseTime('--jitter', jitter) }),
    ...(until !== undefined && { until }),
    ...(maxRuns !== undefined && { maxRuns: Number(maxRuns) }),
    ...(timeout !== undefined && { timeoutMs: parseTime('--timeout', timeout) }),
  }
}

function whenOf({ cron, every, at }: Flags): WrittenWhen | undefined {
  const given = [cron, every, at].filter((value) => value !== undefined).length
  if (given > 1) throw new UsageError('--cron, --every and --at exclude each other.', 'Give one of them.')
  if (cron !== undefined) return { cron }
  if (every !== undefined) return { everyMs: parseTime('--every', every) }
  return at === undefined ? undefined : { at }
}

async function callsOf({ calls }: Flags): Promise<readonly ScheduledCall[] | undefined> {
  if (calls === undefined) return undefined
  const parsed = parseJsonInput(calls === '-' ? await readStdin() : calls, '--calls')
  // The schedule is read as a whole, and says what is wrong with them.
  return parsed as readonly ScheduledCall[]
}

function callOf(tool: string | undefined, input: string | undefined): readonly ScheduledCall[] {
  if (tool === undefined) throw new UsageError('Which tool?', 'Name it after the schedule, or give --calls.')
  return [{ tool, ...(input !== undefined && { input: parseJsonInput(input, 'The argument') }) }]
}
