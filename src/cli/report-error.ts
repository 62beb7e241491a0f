import { CommanderError } from 'commander'
import { ToolError } from '../core/index.ts'
import { escapeText } from '../lib/index.ts'
import { EXIT, exitCodeOfFailure } from './exit-code.ts'
import { lineWidth, wrapText } from './output/fit-line.ts'
import { hintOf } from './output/hint-of.ts'
import { printJson, say } from './output/print.ts'
import { style } from './output/terminal.ts'
import { UsageError } from './usage-error.ts'

interface Told {
  readonly exitCode: number
  readonly code: string
  readonly message: string
  readonly hint?: string
}

/** Tells an error in one block on stderr, message and fix; with `json` also as JSON on stdout. Gives the exit code. */
export async function reportError(
  error: unknown,
  { json, debug }: { readonly json: boolean; readonly debug: boolean },
): Promise<number> {
  if (error instanceof CommanderError && error.exitCode === 0) return EXIT.ok
  // Commander has shown the help of a command that cannot stand alone.
  if (error instanceof CommanderError && error.code === 'commander.help') return EXIT.usage
  const { exitCode, code, message, hint } = tell(error)
  sayError(message, hint)
  if (debug && error instanceof Error) say(style('dim', escapeText(error.stack ?? ''), process.stderr))
  if (json) await printJson({ ok: false, error: { code, message, ...(hint && { fix: { hint } }) } })
  return exitCode
}

/** One block: what is wrong, and what to do. */
export function sayError(message: string, hint?: string): void {
  const width = lineWidth(process.stderr)
  say(wrapText(`${style(['red', 'bold'], 'error:', process.stderr)} ${escapeText(message)}`, 2, width))
  if (hint) say(wrapText(`  ${style('bold', 'fix:', process.stderr)} ${escapeText(hint)}`, 4, width))
}

function tell(error: unknown): Told {
  if (error instanceof CommanderError) return tellUsage(error)
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

/** Commander says `error: unknown command 'lsit'`, then on a line of its own `(Did you mean list?)`. */
function tellUsage({ message }: CommanderError): Told {
  const [first = '', suggestion] = message.replace(/^error: /, '').split('\n')
  const sentence = `${first.charAt(0).toUpperCase()}${first.slice(1)}`
  return {
    exitCode: EXIT.usage,
    code: 'USAGE',
    message: sentence.endsWith('.') ? sentence : `${sentence}.`,
    hint: suggestion?.replace(/^\((.*)\)$/, '$1') ?? 'See --help.',
  }
}
