import type { LogOptions } from '@tool-hub/config'
import { escapeText } from '@tool-hub/core/lib'
import { formatJson, formatText, LOG_LEVELS, type LogEntry } from '@tool-hub/server'
import type { Command } from 'commander'
import { UsageError } from '../exit.ts'
import { say, style } from './print.ts'

/** What the options of a command say about its log. */
export interface LogFlags {
  readonly log?: string
  readonly logLevel?: string
}

/** The log of a command that runs until it is interrupted. */
export interface CommandLog {
  /** Writes an entry, unless its level is too low. */
  readonly write: (entry: LogEntry) => void
  /** Warns people: as an entry in a JSON log, otherwise as other commands do. */
  readonly warn: (event: string, message: string) => void
}

const WARNED_FOR_MS = 60_000
const MAX_WARNED = 1_000

/** Adds the options `--log` and `--log-level`; `section` is the section of the config that they replace. */
export function addLogOptions(command: Command, section: string): Command {
  return command
    .option('--log <format>', `What is written to stderr: json, text or none, instead of ${section}.log`)
    .option('--log-level <level>', 'Lowest level that is logged: debug, info, warn or error')
}

/**
 * Opens the log on stderr: for people on a terminal, otherwise as lines of JSON. All warnings of the process are entries of
 * a JSON log from then on.
 */
export function openLog(config: LogOptions | undefined, flags: LogFlags): CommandLog {
  const { format = process.stderr.isTTY ? 'text' : 'json', level = 'info' } = { ...config, ...readFlags(flags) }
  const least = LOG_LEVELS.indexOf(level)
  const write = (entry: LogEntry) => {
    if (format === 'none' || LOG_LEVELS.indexOf(entry.level) < least) return
    say(format === 'text' ? formatText(entry) : formatJson(entry))
  }
  if (format !== 'json')
    return {
      write,
      warn: (_, message) => say(`${style('yellow', 'warning:', process.stderr)} ${escapeText(message)}`),
    }
  logWarnings(write)
  return { write, warn: (event, message) => write(logEntry('warn', event, message)) }
}

/** An entry of now. */
export function logEntry(
  level: LogEntry['level'],
  event: string,
  message: string,
  fields: Readonly<Record<string, string | undefined>> = {},
): LogEntry {
  const given = Object.entries(fields).filter((field): field is [string, string] => field[1] !== undefined)
  return { time: new Date().toISOString(), level, event, message, fields: Object.fromEntries(given) }
}

/** The same warning is written once a minute: some come with every call while something is wrong. */
function logWarnings(write: (entry: LogEntry) => void): void {
  const warnedAt = new Map<string, number>()
  process.removeAllListeners('warning')
  process.on('warning', (warning: Error & { readonly code?: unknown }) => {
    const { name, message, code } = warning
    const now = performance.now()
    if (now - (warnedAt.get(message) ?? Number.NEGATIVE_INFINITY) < WARNED_FOR_MS) return
    if (warnedAt.size >= MAX_WARNED) warnedAt.clear()
    warnedAt.set(message, now)
    write(logEntry('warn', 'warning', message, { warning: name, code: code === undefined ? undefined : String(code) }))
  })
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
