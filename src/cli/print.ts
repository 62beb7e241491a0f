import { escapeJson } from './escape-text.ts'

const readerLeft = new AbortController()

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
  readerLeft.abort()
})
// Nobody reads what is said: that is no reason to stop working.
process.stderr.on('error', () => {})

/** Aborts when whoever reads stdout has left, as in `| head`. */
export const readerGone: AbortSignal = readerLeft.signal

/** Writes data to stdout and waits until it is out; quietly does nothing when the reader has left. */
export function print(text: string): Promise<void> {
  if (readerGone.aborted) return Promise.resolve()
  return new Promise((resolve) => process.stdout.write(`${text}\n`, () => resolve()))
}

/** Prints a value as JSON: one line, or indented on a terminal. */
export function printJson(value: unknown): Promise<void> {
  return print(toJson(value, process.stdout.isTTY ? 2 : undefined))
}

/** Prints a value as one line of JSON, also on a terminal. */
export function printJsonLine(value: unknown): Promise<void> {
  return print(toJson(value))
}

/** Says something to people, on stderr. */
export function say(text: string): void {
  process.stderr.write(`${text}\n`)
}

function toJson(value: unknown, indent?: number): string {
  return escapeJson(JSON.stringify(value, undefined, indent))
}
