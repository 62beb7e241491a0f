import type { ApprovalAnswer } from '../../api/types.ts'
import { formatDate } from '../../components/format-clock.ts'

/** How long an answer is to hold, as it is chosen. */
export type RememberFor = 'once' | 'session' | 'always' | 'until'

/** What is chosen to be remembered; `until` is a local time as the browser's field writes it. */
export interface RememberChoice {
  readonly remember: RememberFor
  readonly covers: 'exact' | 'targets' | 'pattern'
  readonly until: string
}

const HOUR_MS = 3_600_000

/** Nothing is remembered unless somebody wants it; a time is proposed an hour ahead. */
export function firstChoice(now: number): RememberChoice {
  return { remember: 'once', covers: 'exact', until: toLocalField(now + HOUR_MS) }
}

/** The choice as the service takes it. */
export function toAnswer({ remember, covers, until }: RememberChoice): Pick<ApprovalAnswer, 'remember' | 'covers'> {
  if (remember === 'once') return { remember }
  if (remember === 'until') return { remember: { until: new Date(until).toISOString() }, covers }
  return { remember, covers }
}

/** What is wrong with the choice. */
export function choiceProblem({ remember, until }: RememberChoice, now: number): string | undefined {
  if (remember !== 'until') return undefined
  const time = new Date(until).getTime()
  if (Number.isNaN(time)) return 'Choose a day and a time.'
  return time > now ? undefined : 'This time is over; choose a later one.'
}

/** How long it would hold, in words that follow “is remembered”. */
export function holdsFor({ remember, until }: RememberChoice): string {
  if (remember === 'session') return 'until the caller’s session, or its run, ends'
  if (remember === 'always') return 'until somebody takes it back'
  const date = new Date(until)
  return Number.isNaN(date.getTime()) ? 'until then' : `until ${formatDate(date)}`
}

function toLocalField(time: number): string {
  const date = new Date(time)
  return new Date(time - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}
