import type { Ability, AbilityHost } from '../../contracts/ability.ts'
import type { ScheduleDesk, ScheduleHandle, SchedulesOptions } from '../../contracts/schedules.ts'
import { checkOptions } from './check-options.ts'
import { ScheduleBook } from './schedule-book.ts'
import { createScheduleDesk } from './schedule-desk.ts'
import { createScheduleHandle } from './schedule-handle.ts'
import { ScheduleRunner } from './schedule-runner.ts'
import { Ticker } from './ticker.ts'

/** Calls that are made later. Nothing fires until the owner says `start`. */
export function createSchedules(options: SchedulesOptions, host: AbilityHost): Ability<ScheduleHandle, ScheduleDesk> {
  checkOptions(options)
  const book = new ScheduleBook(host, options)
  const runner = new ScheduleRunner(host, book, options)
  const ticker = new Ticker(host, runner)
  const parts = { host, options, book, runner, ticker }
  return {
    handle: (call) => createScheduleHandle(parts, call),
    desk: createScheduleDesk(parts),
    calm() {
      // The slot that says that somebody fires runs out by itself, should the store not take it back.
      ticker.close().catch(() => {})
      runner.calm()
    },
    async close() {
      await ticker.close()
      await runner.close()
    },
  }
}
