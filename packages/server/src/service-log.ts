import type { Clock } from '@tool-hub/core'
import { escapeJson, escapeLine } from '@tool-hub/core/lib'
import type { EventBody, HubChanged, RecordedLine } from '@tool-hub/runtime/records/log'

/** Log levels, least important first. */
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

/** One line of the log of a service. It has names, ids and rules; never arguments, results or tokens. */
export interface LogEntry {
  /** ISO 8601. */
  readonly time: string
  /** `info` for normal operation, `warn` for refusals, `error` for problems the owner has to fix. */
  readonly level: LogLevel
  /** The kind of entry: `signed-in`, `call-denied`, `policy-saved`. */
  readonly event: string
  /** A sentence for people. */
  readonly message: string
  /** The values in the sentence, by name: principal, tool, rule, run. */
  readonly fields: Readonly<Record<string, string | number>>
}

/** Fields of an entry; those without a value are left out. */
export type LogFields = Readonly<Record<string, string | number | undefined>>

/** Writes an entry to the log of the service. */
export type Log = (level: LogLevel, event: string, message: string, fields?: LogFields) => void

/**
 * Entries of the same kind about the same address that are logged a minute; the next one says how many were left out.
 */
const MAX_REPEATS = 20
const WINDOW_MS = 60_000
const MAX_SUBJECTS = 10_000

/** Creates the log. Secrets are redacted, and an address that guesses tokens cannot flood it. */
export function createLog({
  clock,
  redact,
  write,
}: {
  readonly clock: Clock
  readonly redact: (text: string) => string
  /** Default: nothing is logged. */
  readonly write: ((entry: LogEntry) => void) | undefined
}): Log {
  if (!write) return () => {}
  const repeats = new Map<string, { since: number; count: number }>()
  /** Returns how many entries were left out before this one; `undefined` if this one is left out, too. */
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

/** An entry as one line of JSON, as journald, Loki or Datadog read it. */
export function formatJson({ time, level, event, message, fields }: LogEntry): string {
  // The fields come first, so that none of them replaces the time or the level.
  return escapeJson(JSON.stringify({ ...fields, time, level, event, message }))
}

/** An entry as a line of text for people */
export function formatText({ time, level, message, fields }: LogEntry): string {
  const pairs = Object.entries(fields).map(([name, value]) => ` ${name}=${quoted(String(value))}`)
  return `${time.slice(11, 19)} ${level.padEnd(5)} ${escapeLine(message)}${pairs.join('')}`
}

function quoted(value: string): string {
  const line = escapeLine(value)
  return /^[^\s"=]+$/.test(line) ? line : JSON.stringify(line)
}

/** Callers by call id until the call ends, because `call-ended` does not repeat the caller. */
type Callers = Map<string, string>

const MAX_CALLERS = 10_000

/** Logs the important events of the records: denials, failures, approvals, changes. */
export function createRecordLog(log: Log): (line: RecordedLine) => void {
  const callers: Callers = new Map()
  return ({ run, event }) => writeEvent(log, callers, run, event)
}

function writeEvent(log: Log, callers: Callers, run: string, event: EventBody): void {
  switch (event.type) {
    case 'call-started':
      if (callers.size >= MAX_CALLERS) callers.clear()
      callers.set(event.callId, event.principal ?? event.caller)
      return
    case 'call-ended': {
      const { callId, tool, status, durationMs, error, rule } = event
      const principal = event.principal ?? event.caller ?? callers.get(callId)
      callers.delete(callId)
      const fields = { run, callId, tool, principal, status, code: error?.code, durationMs }
      if (status === 'denied') log('warn', 'call-denied', `${tool} was denied.`, { ...fields, rule })
      else if (error?.code === 'INTERNAL') log('error', 'call-failed', `${tool} failed by a defect.`, fields)
      else if (status === 'ok' || status === 'pending') log('debug', 'call-ended', `${tool} ended.`, fields)
      else if (status === 'approval_required')
        log('info', 'call-needs-approval', `${tool} did not run: it needs an approval.`, fields)
      else log('info', 'call-failed', `${tool} ended with ${error?.code ?? status}.`, fields)
      return
    }
    case 'approval-requested': {
      const { callId, tool, approval, rule } = event
      log('info', 'approval-requested', `${tool} waits for an approval.`, { run, callId, tool, approval, rule })
      return
    }
    case 'approval-answered': {
      const { callId, tool, approval, decision, by, via } = event
      const fields = { run, callId, tool, approval, decision, by, via }
      if (decision === 'allow' || decision === 'deny')
        log('info', 'approval-answered', `The approval of ${tool} was answered: ${decision}.`, fields)
      // The request may stay open for an answer that the same call uses later.
      else log('info', 'approval-unanswered', `${tool} ended before its approval was answered: ${decision}.`, fields)
      return
    }
    case 'hook-failed':
      log('error', 'hook-failed', `A hook failed during ${event.tool}.`, { run, callId: event.callId })
      return
    case 'records-lost':
      log('error', 'records-lost', `Events of run ${run} could not be recorded.`, { run })
      return
    case 'hub-changed':
      logChange(log, run, event)
      return
  }
}

function logChange(log: Log, run: string, { by, change, subject }: HubChanged): void {
  log('info', change, `${by}: ${change} ${subject}.`, { run, by, subject })
}
