import { styleText } from 'node:util'
import { escapeJson, escapeText } from '@tool-hub/core/lib'
import { table } from './layout.ts'

const readerLeft = new AbortController()
let failure: NodeJS.ErrnoException | undefined

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // EPIPE from a reader such as `head` is not an error.
  if (error.code !== 'EPIPE') failure ??= error
  readerLeft.abort()
})
// Nobody reads the messages, but the work continues.
process.stderr.on('error', () => {})

/** Aborts when stdout can no longer be written: its reader has left, or its disk is full. */
export const readerGone: AbortSignal = readerLeft.signal

/** Waits until everything is written. Throws if stdout could not be written. */
export async function flush(): Promise<void> {
  await new Promise<void>((resolve) => process.stdout.write('', () => resolve()))
  if (failure) throw new Error(`stdout cannot be written (${failure.code}).`, { cause: failure })
}

/** Writes data to stdout and waits until it is written. Does nothing if the reader is gone. */
export function print(text: string): Promise<void> {
  if (readerGone.aborted) return Promise.resolve()
  return new Promise((resolve) => process.stdout.write(`${text}\n`, () => resolve()))
}

/** Writes data to stdout exactly as it is, and waits until it is out. */
export function printBytes(bytes: Uint8Array): Promise<void> {
  if (readerGone.aborted) return Promise.resolve()
  return new Promise((resolve) => process.stdout.write(bytes, () => resolve()))
}

/** Prints a value as JSON: one line, or indented on a terminal. */
export function printJson(value: unknown): Promise<void> {
  return print(toJson(value, process.stdout.isTTY ? 2 : undefined))
}

/** Prints a value as one line of JSON, also on a terminal. */
export function printJsonLine(value: unknown): Promise<void> {
  return print(toJson(value))
}

/** Prints rows as a table. Without rows, says `empty` on stderr. */
export function printTable(rows: readonly (readonly string[])[], empty: string): Promise<void> | void {
  return rows.length === 0 ? say(empty) : print(table(rows))
}

/** Writes a message to people, on stderr. */
export function say(text: string): void {
  process.stderr.write(`${text}\n`)
}

function toJson(value: unknown, indent?: number): string {
  return escapeJson(JSON.stringify(value, undefined, indent))
}

/** Prints the warnings of tool-hub in the style of the command line, each one once. Node prints all others itself. */
export function printWarnings(): void {
  const others = process.listeners('warning')
  const printed = new Set<string>()
  process.removeAllListeners('warning')
  process.on('warning', (warning) => {
    if (warning.name !== 'ToolHubWarning') {
      for (const listener of others) listener.call(process, warning)
      return
    }
    if (printed.has(warning.message)) return
    printed.add(warning.message)
    say(`${style('yellow', 'warning:', process.stderr)} ${escapeText(warning.message)}`)
  })
}

type Style = Parameters<typeof styleText>[0]

/** Colours text if its stream is a terminal that shows colours; NO_COLOR and FORCE_COLOR are respected. */
export function style(format: Style, text: string, stream: NodeJS.WriteStream = process.stdout): string {
  return hasColours(stream) ? styleText(format, text) : text
}

/** Whether a person at the terminal can be asked: questions go to stderr, answers come from stdin. */
export function canAsk(): boolean {
  return Boolean(process.stdin.isTTY && process.stderr.isTTY)
}

function hasColours(stream: NodeJS.WriteStream): boolean {
  if (!stream.isTTY) return false
  return stream.getColorDepth() > 1
}
