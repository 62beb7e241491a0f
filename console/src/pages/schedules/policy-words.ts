import type { ScheduleEntry } from '../../api/types.ts'

/** What becomes of times that passed while nothing ran. */
export const MISSED_WORDS: Record<ScheduleEntry['missed'], string> = {
  skip: 'left out',
  once: 'one run for all of them',
  all: 'a run for each',
}

/** What happens while the run before is not over. */
export const OVERLAP_WORDS: Record<ScheduleEntry['overlap'], string> = {
  skip: 'left out while one goes on',
  queue: 'waits for the one before',
  parallel: 'runs beside the one before',
}
