import { COMMANDS } from './commands.ts'
import { interruptCode } from './interrupt.ts'
import { flush } from './output/print.ts'
import { buildProgram } from './program.ts'

/** Runs one command line and gives its exit code; everything it had to say is written by then. */
export async function runCli(words: readonly string[]): Promise<number> {
  const asked = withHelp(words)
  try {
    const program = await buildProgram(asked[0]!)
    await program.parseAsync(asked, { from: 'user' })
    await flush()
  } catch (error) {
    const { reportError } = await import('./report-error.ts')
    const code = await reportError(error, { json: asked.includes('--json'), debug: wantsStack(asked) })
    return interruptCode() ?? code
  }
  return interruptCode() ?? Number(process.exitCode ?? 0)
}

/** Nothing and `help` ask for help; `help list` is `list --help`, and a mistyped command is reported as such. */
function withHelp(words: readonly string[]): readonly string[] {
  const [first, ...others] = words
  if (first !== undefined && first !== 'help') return words
  const [topic] = others
  const isKnown = topic === undefined || COMMANDS.some(({ name }) => name === topic)
  return isKnown ? [...others, '--help'] : others
}

function wantsStack(words: readonly string[]): boolean {
  return words.includes('--debug') || Boolean(process.env.TOOL_HUB_DEBUG)
}
