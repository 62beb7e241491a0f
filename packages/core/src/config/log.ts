import { z } from 'zod'
import { key, withoutUndefined } from './section.ts'

const logFormat = z.enum(['json', 'text', 'none'])
/** `log` in the section of a process. */
export const logSchema = z.union([
  logFormat,
  z.strictObject({
    format: key(logFormat, 'JSON lines, text for people, or nothing. Default: text on a terminal, else json.'),
    level: key(
      z.enum(['debug', 'info', 'warn', 'error']),
      'Lowest level that is logged; debug logs every call.',
      'info',
    ),
  }),
])

/** How the log of a process is written. */
export interface LogOptions {
  /** Default: `text` on a terminal, else `json`. */
  readonly format?: 'json' | 'text' | 'none'
  /** Lowest level that is logged. Default: `info`. */
  readonly level?: 'debug' | 'info' | 'warn' | 'error'
}

/** The section as options. */
export function toLog(log: z.output<typeof logSchema> | undefined): LogOptions | undefined {
  return typeof log === 'string' ? { format: log } : log && withoutUndefined<LogOptions>(log)
}
