import { defineFeature, lazyModule } from '@tool-hub/core'
import { FROM_CONFIG, type ScheduleStore } from './store-types.ts'
import type { ScheduleHandle, ScheduleService, SchedulesOptions } from './types.ts'

declare module '@tool-hub/core/feature' {
  interface FeatureHandles {
    /** Scheduled calls. */
    readonly schedules: ScheduleHandle
  }
  interface FeatureServices {
    /** Scheduled calls; none are made before `start()`. */
    readonly schedules: ScheduleService
  }
  interface FeatureOptions {
    /** Scheduled calls; docs/reference/schedules.md. */
    readonly schedules?: SchedulesOptions
  }
  interface FeatureStores {
    /** Schedules and their runs. */
    readonly schedules: ScheduleStore
  }
}

const load = lazyModule(() => import('./create-schedules.ts'))

/** The feature `schedules`: calls that are made later, at given times. */
export const schedules = defineFeature({
  name: 'schedules',
  capability: 'schedule',
  create: async (options, host) => (await load()).createSchedules(options, host),
  methods: ['start', 'stop', 'status', 'list', 'find', 'add', 'update', 'remove', 'run', 'runs', 'next', 'onRun'],
  inService: {
    start: {
      problem: 'Schedules do not run',
      run: (hub, { schedules = {} }) => hub.schedules.start({ entries: schedules.entries ?? {} }),
    },

    async principals({ schedules }, limit) {
      const all = await schedules.list({ limit })
      return all.map(({ principal, name }) => (name.startsWith(FROM_CONFIG) ? 'config' : principal || 'owner'))
    },
  },
  command: { name: 'cron', summary: 'Manage scheduled calls and their runs' },
})
