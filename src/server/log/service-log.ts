import type { Clock } from '../../core/index.ts'

/** How much a line of the log matters, least first. */
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

/** One line of the log of a service. It has names, ids and rules; never arguments, results or tokens. */
export interface LogEntry {
  /** ISO 8601. */
  readonly time: string
  /** `info` for what is as it should be, `warn` for refusals, `error` for what the owner has to repair. */
  readonly level: LogLevel
  /** What kind of line it is: `signed-in`, `call-denied`, `policy-saved`. */
  readonly event: string
  /** One sentence for people. */
  readonly message: string
  /** What the sentence is about, by name: principal, tool, rule, run. */
  readonly fields: Readonly<Record<string, string | number>>
}

/** Fields of a line; those without a value are left out. */
export type LogFields = Readonly<Record<string, string | number | undefined>>

/** Where the parts of a service write their lines. */
export type Log = (level: LogLevel, event: string, message: string, fields?: LogFields) => void

/** So many lines of the same kind about the same subject are written a minute; the next one says how many were left out. */
const MAX_REPEATS = 20
const WINDOW_MS = 60_000
const MAX_SUBJECTS = 10_000

/** Makes the log: lines without secrets, and no flood of them because one address guesses tokens. */
export function createLog({
  clock,
  redact,
  write,
}: {
  readonly clock: Clock
  readonly redact: (text: string) => string
  readonly write: (entry: LogEntry) => void
}): Log {
  const repeats = new Map<string, { since: number; count: number }>()
  /** How many were left out before this one; undefined when this one is left out, too. */
  const countOf = (key: string, now: number): number | undefined => {
    const known = repeats.get(key)
    if (!known || now - known.since >= WINDOW_MS) {
      if (repeats.size >= MAX_SUBJECTS) repeats.clear()
      repeats.set(key, { since: now, count: 1 })
      return Math.max(0, (known?.count ?? 0) - MAX_REPEATS)
    }
    known.count++
    return known.count > MAX_REPEATS ? undefined : 0
  }
  return (level, event, message, fields = {}) => {
    const now = clock.now()
    const leftOut = fields.address === undefined ? 0 : countOf(`${event} ${fields.address}`, now)
    if (leftOut === undefined) return
    const given = Object.entries({ ...fields, leftOut: leftOut || undefined }).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, typeof value === 'string' ? redact(value) : value] as const],
    )
    write({
      time: new Date(now).toISOString(),
      level,
      event,
      message: redact(message),
      fields: Object.fromEntries(given),
    })
  }
}
