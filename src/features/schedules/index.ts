export { newSchedule, scheduleChange } from './schedule-schema.ts'

import { defineFeature, lazyModule } from '../../core/index.ts'
import { cron } from './tools/cron.ts'

const load = lazyModule(() => import('./create-schedules.ts'))

/** Calls that are made later. */
export const schedules = defineFeature({
  name: 'schedules',
  capability: 'schedule',
  create: async (options, host) => (await load()).createSchedules(options, host),
  methods: ['start', 'stop', 'status', 'list', 'find', 'add', 'update', 'remove', 'run', 'runs', 'next', 'onRun'],
  tools: [cron],
})
