import type { Command } from 'commander'
import { interruptSignal } from '../exit.ts'
import { withSchedules } from '../hub/with-schedules.ts'
import { addConfigOption } from '../input/options.ts'
import { table } from '../output/layout.ts'
import { print, printJsonLine, say } from '../output/print.ts'
import { localTime, runRow } from '../output/schedule-lines.ts'

interface Flags {
  readonly config?: string
  readonly json?: boolean
}

/** `cron start`: what is due is run here. */
export function describeCronStart(command: Command): void {
  addConfigOption(command)
    .description(
      'Run schedules in this process until Ctrl-C, and say what begins and ends. tool-hub serve does it, too.',
    )
    .addHelpText(
      'after',
      '\nExamples:\n  tool-hub cron start\n  tool-hub cron start --json      a line of JSON for each run',
    )
    .action((flags: Flags) => startSchedules(flags, interruptSignal()))
}

/** Runs what is due until the signal says that it is enough. */
export async function startSchedules(flags: Flags, signal: AbortSignal): Promise<void> {
  await withSchedules(flags, async (desk, options) => {
    await desk.onRun((run, { name, timeZone }) => {
      if (flags.json) void printJsonLine({ name, ...run })
      else void print(table([[name, ...runRow(run, timeZone)]]))
    })
    await desk.start({ entries: options.schedules?.entries ?? {} })
    if (!flags.json) {
      const { enabled, nextAt } = await desk.status()
      const zone = Intl.DateTimeFormat().resolvedOptions().timeZone
      const next = nextAt === undefined ? '' : `, the next at ${localTime(nextAt, zone)}`
      say(`${enabled} schedules run here${next}. Ctrl-C ends it.`)
    }
    // The timers of schedules keep no process alive.
    const alive = setInterval(() => {}, 60_000)
    await untilAborted(signal)
    clearInterval(alive)
    await desk.stop()
  })
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((done) => {
    if (signal.aborted) done()
    signal.addEventListener('abort', () => done(), { once: true })
  })
}
