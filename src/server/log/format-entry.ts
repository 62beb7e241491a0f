import { escapeJson, escapeLine } from '../../lib/index.ts'
import type { LogEntry } from './service-log.ts'

/** An entry as one line of JSON, as journald, Loki or Datadog read it. */
export function formatJson({ time, level, event, message, fields }: LogEntry): string {
  // The fields come first: none of them may stand for the time or the level of the line.
  return escapeJson(JSON.stringify({ ...fields, time, level, event, message }))
}

/** An entry as a line for people: `12:30:01 warn  core/exec.run was denied. principal=token:ci rule="deny exec"`. */
export function formatText({ time, level, message, fields }: LogEntry): string {
  const pairs = Object.entries(fields).map(([name, value]) => ` ${name}=${quoted(String(value))}`)
  return `${time.slice(11, 19)} ${level.padEnd(5)} ${escapeLine(message)}${pairs.join('')}`
}

function quoted(value: string): string {
  const line = escapeLine(value)
  return /^[^\s"=]+$/.test(line) ? line : JSON.stringify(line)
}
