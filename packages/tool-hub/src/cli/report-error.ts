import { type ErrorCode, type Fix, ToolError } from '@tool-hub/core'
import { escapeText } from '@tool-hub/core/lib'
import { CommanderError } from 'commander'
import { EXIT, exitCodeOfFailure, UsageError } from './exit.ts'
import { lineWidth, wrapText } from './output/layout.ts'
import { printJson, say, style } from './output/print.ts'

interface ErrorReport {
  readonly exitCode: number
  readonly code: string
  readonly message: string
  readonly hint?: string
}

/** Prints an error with its fix on stderr, with `json` also as JSON on stdout. Returns the exit code. */
export async function reportError(
  error: unknown,
  { json, debug }: { readonly json: boolean; readonly debug: boolean },
): Promise<number> {
  if (error instanceof CommanderError && error.exitCode === 0) return EXIT.ok
  // Commander has shown the help of a command that needs a subcommand.
  if (error instanceof CommanderError && error.code === 'commander.help') return EXIT.usage
  const { exitCode, code, message, hint } = toReport(error)
  sayError(message, hint)
  if (debug && error instanceof Error) say(style('dim', escapeText(error.stack ?? ''), process.stderr))
  if (json) await printJson({ ok: false, error: { code, message, ...(hint && { fix: { hint } }) } })
  return exitCode
}

/** Prints a message and its fix as one block. */
export function sayError(message: string, hint?: string): void {
  const width = lineWidth(process.stderr)
  say(wrapText(`${style(['red', 'bold'], 'error:', process.stderr)} ${escapeText(message)}`, 2, width))
  if (hint) say(wrapText(`  ${style('bold', 'fix:', process.stderr)} ${escapeText(hint)}`, 4, width))
}

function toReport(error: unknown): ErrorReport {
  if (error instanceof CommanderError) return usageReport(error)
  if (error instanceof UsageError)
    return { exitCode: EXIT.usage, code: 'USAGE', message: error.message, hint: error.hint }
  if (ToolError.is(error)) {
    return { exitCode: exitCodeOfFailure(error), code: error.code, message: error.message, hint: hintOf(error) }
  }
  const message = error instanceof Error ? error.message : String(error)
  return {
    exitCode: EXIT.failed,
    code: 'INTERNAL',
    message,
    hint: 'Run it again with --debug to see where it happened.',
  }
}

/** Commander's message is `error: unknown command 'lsit'`, followed by the line `(Did you mean list?)`. */
function usageReport({ message }: CommanderError): ErrorReport {
  const [first = '', suggestion] = message.replace(/^error: /, '').split('\n')
  const sentence = `${first.charAt(0).toUpperCase()}${first.slice(1)}`
  return {
    exitCode: EXIT.usage,
    code: 'USAGE',
    message: sentence.endsWith('.') ? sentence : `${sentence}.`,
    hint: suggestion?.replace(/^\((.*)\)$/, '$1') ?? 'See --help.',
  }
}

/** The fix of a failure for the command line; for an unknown tool also how to list the names. */
export function hintOf({ code, fix }: { readonly code: ErrorCode; readonly fix: Fix }): string {
  if (code !== 'TOOL_NOT_FOUND') return withInit(fix.hint)
  const all = 'All names: tool-hub list --hidden.'
  return fix.hint.startsWith('Did you mean') ? `${fix.hint} ${all}` : all
}

/** A config that does not exist must be created first. */
function withInit(hint: string): string {
  return hasNoConfig() && hint.includes('tool-hub.yaml') ? `${hint} (There is none yet: tool-hub init.)` : hint
}

let isMissing = false

/** Remembers whether a config was found, for the hints of errors. */
export function noteConfig(file: string | undefined): void {
  isMissing = file === undefined
}

/** Whether a config was searched and not found. */
function hasNoConfig(): boolean {
  return isMissing
}
