import type { ServiceRequests } from '../../protocol/index.ts'
import type { NewScheduleBody, ScheduleChangeBody, ScheduleEntry, ScheduleRunEntry } from './schema.ts'

/** The requests of a client for schedules. */
export function schedulesClient(http: ServiceRequests) {
  return {
    /** Calls that are made later. */
    schedules: {
      /** By name. */
      list: () =>
        http.json<{ schedules: ScheduleEntry[]; status: { isTicking: boolean; problems: string[] } }>(
          'GET',
          '/v1/schedules',
        ),
      /** Makes a schedule. CONFLICT when the name is taken. */
      add: (schedule: NewScheduleBody) => http.json<ScheduleEntry>('POST', '/v1/schedules', { body: schedule }),
      /** Changes a schedule; what is absent stays. */
      change: (id: string, change: ScheduleChangeBody) =>
        http.json<ScheduleEntry>('PUT', http.path('/v1/schedules', id), { body: change }),
      /** Removes a schedule with what is known of its runs. */
      remove: async (id: string) => void (await http.send('DELETE', http.path('/v1/schedules', id))),
      /** Begins a run now. */
      run: (id: string) => http.json<ScheduleRunEntry>('POST', `${http.path('/v1/schedules', id)}/run`),
      /** Newest first. */
      runs: (id: string, page: { before?: number; limit?: number } = {}) =>
        http.json<{ runs: ScheduleRunEntry[]; next?: number }>('GET', `${http.path('/v1/schedules', id)}/runs`, {
          query: page,
        }),
      /** The next times of one of cron, every and at. */
      times: (when: { cron?: string; every?: string; at?: string; timeZone?: string }) =>
        http.json<{ timeZone: string; times: number[] }>('GET', '/v1/schedule-times', { query: when }),
    },
  }
}
