import { join } from 'node:path'
import type { Command } from 'commander'
import { listRuns } from '../../record/list-runs.ts'
import { type VerifyReport, verifyRun } from '../../record/verify-run.ts'
import { escapeLine } from '../../value/escape-text.ts'
import { EXIT } from '../exit-code.ts'
import { findRun, runsFolder } from '../hub/find-run.ts'
import { addConfigOption } from '../input/add-options.ts'
import { count } from '../output/count.ts'
import { print, printJsonLine, say } from '../output/print.ts'
import { style } from '../output/terminal.ts'

const EXAMPLES = `
Exit code: 1 when any line was changed, removed, inserted or moved, else 0.
What a crash leaves, such as a torn last line, is told as well.

Examples:
  tool-hub audit verify
  tool-hub audit verify run-20261115-093000-1a2b3c4d --json`

/** `audit`: are the records what was written? */
export function describeAudit(command: Command): void {
  command.description('Check that no record was changed.')
  addConfigOption(command.command('verify'))
    .summary('Check the hash chain of one run or all')
    .description('Check the hash chain of one run, or of all: every line as it was written, none missing, none moved.')
    .argument('[run]', 'Id of the run or the beginning of it; all runs unless said')
    .addHelpText('after', EXAMPLES)
    .action(verify)
}

async function verify(
  run: string | undefined,
  flags: { readonly config?: string; readonly json?: boolean },
): Promise<void> {
  const root = await runsFolder(flags)
  const folders =
    run === undefined ? (await listRuns(root)).map(({ id }) => join(root, id)) : [await findRun(root, run)]
  if (folders.length === 0) say(`There are no runs in ${root}.`)
  for (const folder of folders) {
    const report = await verifyRun(folder)
    if (!report.ok) process.exitCode = EXIT.failed
    await (flags.json ? printJsonLine(report) : print(describe(report)))
  }
}

function describe({ ok, run, lines, calls, interrupted, problems, remarks }: VerifyReport): string {
  const mark = ok ? style('green', 'intact') : style(['red', 'bold'], 'BROKEN')
  const counts = `${count(lines, 'line')}, ${count(calls, 'call')}${interrupted > 0 ? `, ${interrupted} interrupted` : ''}`
  // A remark is no problem: intact, and a torn last line.
  const found = [...problems, ...remarks].map(({ problem }) => `  ${escapeLine(problem)}`)
  return [`${mark}  ${escapeLine(run)}  ${counts}`, ...found].join('\n')
}
