export { createSchedules } from './create-schedules.ts'
export { newSchedule, scheduleChange } from './schedule-schema.ts'
