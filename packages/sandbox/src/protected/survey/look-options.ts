import type { ObjectCheckOptions } from '../checks/index.ts'

/** What one check of a survey leaves out. */
export interface LookOptions {
  /** Files of git that changed after this time are judged again, whether they seem to be the same or not. Default: none. */
  readonly since?: number
  /** Whether folders in `node_modules` that were read once are taken as they were: there can be very many. */
  readonly isCodeKnown?: boolean
  /** Which objects of git are checked. Default: none. */
  readonly objects?: ObjectCheckOptions
  /** Whether no command runs yet: what refs lead to now is the owner's. Default: false. */
  readonly isBeginning?: boolean
}

/** The options for a check that does for both. */
export function joinedOptions(a: LookOptions, b: LookOptions): LookOptions {
  const since = Math.min(a.since ?? Number.POSITIVE_INFINITY, b.since ?? Number.POSITIVE_INFINITY)
  const objects = a.objects?.isLast ? a.objects : (b.objects ?? a.objects)
  const isBeginning = a.isBeginning === true || b.isBeginning === true
  return { since, isCodeKnown: a.isCodeKnown === true && b.isCodeKnown === true, objects, isBeginning }
}
