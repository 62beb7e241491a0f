import type { Ability, AbilityHost } from '../../contracts/ability.ts'
import type { ScheduleDesk, ScheduleHandle, SchedulesOptions } from '../../contracts/schedules.ts'

/** The whole ability, to come. */
export function createSchedules(_options: SchedulesOptions, _host: AbilityHost): Ability<ScheduleHandle, ScheduleDesk> {
  return { handle: () => ({}), desk: {}, async close() {} }
}
