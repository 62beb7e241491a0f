/** What an owner says about schedules. */
export type SchedulesOptions = {}

/** The handle of a tool that declares the capability. */
export type ScheduleHandle = {}

/** What the owner of a hub uses. */
export type ScheduleDesk = {}
