import type { ServiceRequests } from '../../protocol/index.ts'
import type { NewSchedule, Schedule, ScheduleChange, ScheduleRun } from './types.ts'

/** The client methods for schedules. */
export function schedulesClient(http: ServiceRequests) {
  return {
    /** Scheduled calls. */
    schedules: {
      /** All schedules, sorted by name, and whether anything runs them. */
      list: () =>
        http.json<{ schedules: Schedule[]; status: { isTicking: boolean; problems: string[] } }>(
          'GET',
          '/v1/schedules',
        ),
      /** Adds a schedule; rejects with `CONFLICT` if the name is taken. */
      add: (schedule: NewSchedule) => http.json<Schedule>('POST', '/v1/schedules', { body: schedule }),
      /** Changes the given fields of a schedule. */
      change: (id: string, change: ScheduleChange) =>
        http.json<Schedule>('PUT', http.path('/v1/schedules', id), { body: change }),
      /** Removes a schedule and its run history. */
      remove: async (id: string) => void (await http.send('DELETE', http.path('/v1/schedules', id))),
      /** Starts a run now, without waiting for its end. */
      run: (id: string) => http.json<ScheduleRun>('POST', `${http.path('/v1/schedules', id)}/run`),
      /** A page of its runs, newest first. */
      runs: (id: string, page: { before?: number; limit?: number } = {}) =>
        http.json<{ runs: ScheduleRun[]; next?: number }>('GET', `${http.path('/v1/schedules', id)}/runs`, {
          query: page,
        }),
      /** The next times of a cron expression, an interval or a date: give one of the three. */
      times: (when: { cron?: string; every?: string; at?: string; timeZone?: string }) =>
        http.json<{ timeZone: string; times: number[] }>('GET', '/v1/schedule-times', { query: when }),
    },
  }
}
