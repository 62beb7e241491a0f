import type { Command } from 'commander'
import type { CommandKit } from '../../core/index.ts'
import { localTime, runRow } from './schedule-lines.ts'

interface StartFlags {
  readonly config?: string
  readonly json?: boolean
}

/** `cron start`: what is due is run here. */
export function describeCronStart(command: Command, kit: CommandKit): void {
  kit
    .addConfigOption(command)
    .description(
      'Run schedules in this process until Ctrl-C, and say what begins and ends. tool-hub serve does it, too.',
    )
    .addHelpText(
      'after',
      '\nExamples:\n  tool-hub cron start\n  tool-hub cron start --json      a line of JSON for each run',
    )
    .action((flags: StartFlags) => startSchedules(kit, flags, kit.interruptSignal()))
}

/** Runs what is due until the signal says that it is enough. */
export async function startSchedules(kit: CommandKit, flags: StartFlags, signal: AbortSignal): Promise<void> {
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
      kit.say(`${enabled} schedules run here${next}. Ctrl-C ends it.`)
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
