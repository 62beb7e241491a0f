import { basename } from 'node:path'
import { promisify } from 'node:util'

const CHECK_MS = 5_000

/**
 * The 1-based line of a module at which importing it failed with this SyntaxError. Of text that it cannot read Node says
 * the line on a terminal only, so one is asked that looks at the file and runs nothing of it. Undefined for other errors,
 * and when another file is the one in error.
 */
export async function syntaxLine(path: string, error: unknown): Promise<number | undefined> {
  if (!(error instanceof Error) || error.name !== 'SyntaxError') return undefined
  // A name that another module does not export has its place in the stack.
  const said = (await checkSyntax(path)) ?? error.stack ?? ''
  const [, file = '', line] = /^([^\n]*):(\d+)\n/.exec(said) ?? []
  return file.includes(basename(path)) ? Number(line) : undefined
}

/** What Node says is wrong, from `/srv/tools/a.mjs:3` on. */
async function checkSyntax(path: string): Promise<string | undefined> {
  const { execFile } = await import('node:child_process')
  try {
    await promisify(execFile)(process.execPath, ['--check', path], { timeout: CHECK_MS, env: {} })
    return undefined
  } catch (error) {
    return String((error as { stderr?: unknown }).stderr)
  }
}
