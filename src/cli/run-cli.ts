import { interruptCode } from './interrupt.ts'
import { buildProgram } from './program.ts'
import { reportError } from './report-error.ts'

/** Runs one command line and gives its exit code; everything it had to say is written by then. */
export async function runCli(words: readonly string[]): Promise<number> {
  const asked = words.length === 0 ? ['--help'] : words
  try {
    const program = await buildProgram(asked[0])
    await program.parseAsync(asked, { from: 'user' })
  } catch (error) {
    const code = await reportError(error, { json: asked.includes('--json'), debug: wantsStack(asked) })
    return interruptCode() ?? code
  }
  return interruptCode() ?? Number(process.exitCode ?? 0)
}

function wantsStack(words: readonly string[]): boolean {
  return words.includes('--debug') || Boolean(process.env.TOOL_HUB_DEBUG)
}
