import type { LogOptions } from '../../config/to-service.ts'
import { formatJson, formatText } from '../../serve/log/format-entry.ts'
import { LOG_LEVELS, type LogEntry } from '../../serve/log/service-log.ts'
import { UsageError } from '../usage-error.ts'
import { say } from './print.ts'

/** What the options of a command say about its log. */
export interface LogFlags {
  readonly log?: string
  readonly logLevel?: string
}

/** Writes the log of a service to stderr: for people on a terminal, else as lines of JSON. */
export function logWriter(config: LogOptions | undefined, flags: LogFlags): (entry: LogEntry) => void {
  const { format, level = 'info' } = { ...config, ...readFlags(flags) }
  if (format === 'none') return () => {}
  const isText = format === undefined ? process.stderr.isTTY : format === 'text'
  const least = LOG_LEVELS.indexOf(level)
  return (entry) => {
    if (LOG_LEVELS.indexOf(entry.level) >= least) say(isText ? formatText(entry) : formatJson(entry))
  }
}

function readFlags({ log, logLevel }: LogFlags): LogOptions {
  return {
    ...(log !== undefined && { format: oneOf('--log', log, ['json', 'text', 'none']) }),
    ...(logLevel !== undefined && { level: oneOf('--log-level', logLevel, LOG_LEVELS) }),
  }
}

function oneOf<const T extends string>(option: string, text: string, allowed: readonly T[]): T {
  const found = allowed.find((each) => each === text)
  if (found !== undefined) return found
  throw new UsageError(`${option} ${JSON.stringify(text)} is not known.`, `Use ${allowed.join(', ')}.`)
}
