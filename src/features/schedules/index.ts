import { defineFeature, lazyModule } from '../../core/index.ts'
import type { ScheduleStore } from './schedule-store.ts'
import { cron } from './tools/cron.ts'
import type { ScheduleHandle, ScheduleService, SchedulesOptions } from './types.ts'

export type { NewScheduleRun, Overlap, StoredSchedule } from './schedule-store.ts'

declare module '../../core/feature.ts' {
  interface FeatureHandles {
    /** Calls that are made later. */
    readonly schedules: ScheduleHandle
  }
  interface FeatureServices {
    /** Calls that are made later; nothing is fired before `start()`. */
    readonly schedules: ScheduleService
  }
  interface FeatureOptions {
    /** Calls that are made later; docs/reference/schedules.md. */
    readonly schedules?: SchedulesOptions
  }
  interface FeatureStores {
    /** Scheduled calls, and their outcomes. */
    readonly schedules: ScheduleStore
  }
}

const load = lazyModule(() => import('./create-schedules.ts'))

/** Calls that are made later. */
export const schedules = defineFeature({
  name: 'schedules',
  capability: 'schedule',
  create: async (options, host) => (await load()).createSchedules(options, host),
  methods: ['start', 'stop', 'status', 'list', 'find', 'add', 'update', 'remove', 'run', 'runs', 'next', 'onRun'],
  tools: [cron],
  command: { name: 'cron', summary: 'Make calls later: schedules and their runs' },
})
