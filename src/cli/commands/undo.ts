import type { Command } from 'commander'
import { ToolError } from '../../errors.ts'
import type { UndoReport } from '../../hub/undo/undo.ts'
import type { Hub } from '../../hub.ts'
import { EXIT } from '../exit-code.ts'
import { withCurrentRootToo } from '../hub/current-root.ts'
import { findRunId } from '../hub/find-run.ts'
import { withHubHere } from '../hub/with-hub.ts'
import { addConfigOption } from '../input/add-options.ts'
import { interruptSignal } from '../interrupt.ts'
import { print, printJson, say } from '../output/print.ts'
import { UsageError } from '../usage-error.ts'
import { undoHeadline, undoNextSteps, undoneLine } from './undo-lines.ts'

interface UndoFlags {
  readonly config?: string
  readonly root?: string
  readonly call?: string
  readonly run?: string
  readonly dryRun?: boolean
  readonly force?: boolean
  readonly json?: boolean
}

const EXAMPLES = `
A file that was changed since is left alone, with a diff of what --force would change. An undo is recorded and
journaled itself: --call with its own id undoes it.

Exit code: 1 when something was refused or cannot be undone, 2 when there is no such call or run, else 0.

Examples:
  tool-hub undo --dry-run               what would undoing the last call do?
  tool-hub undo
  tool-hub undo --call c4fJk2mQx9a-7
  tool-hub undo --run run-20261115`

/** `undo`: files as they were before. */
export function describeUndo(command: Command): void {
  addConfigOption(command)
    .description('Take back what a call or a run changed in files: the last call that changed any, unless said.')
    .option('--call <id>', 'The changes of this call')
    .option('--run <id>', 'All changes of this run, by its id or the beginning of it')
    .option('--root <dir>', 'Folder that tools may read and write')
    .option('--dry-run', 'Say what would happen, do nothing')
    .option('--force', 'Also where something was changed since')
    .addHelpText('after', EXAMPLES)
    .action(undo)
}

async function undo(flags: UndoFlags): Promise<void> {
  const { config, root, call, dryRun, force } = flags
  if (call !== undefined && flags.run !== undefined)
    throw new UsageError('--call and --run exclude each other.', 'Give one of them.')
  const run = await findRunId(flags)
  const undone = (hub: Hub) => hub.undo({ call, run, dryRun, force, signal: interruptSignal() }).catch(tellUnknown)
  const report = await withHubHere({ config, root }, undone, withCurrentRootToo)
  if (!report.ok) process.exitCode = EXIT.failed
  await (flags.json ? printJson(report) : tell(report, { ...flags, run }))
}

/** A call that is not on record is a wrong word, like a run that is not. */
function tellUnknown(error: unknown): never {
  if (ToolError.is(error) && error.code === 'NOT_FOUND') throw new UsageError(error.message, error.fix.hint)
  throw error
}

async function tell(report: UndoReport, flags: UndoFlags): Promise<void> {
  if (report.changes.length === 0) return say(nothing(flags))
  say(undoHeadline(report))
  for (const change of report.changes) await print(undoneLine(change, report))
  for (const line of undoNextSteps(report, flags)) say(line)
  if (report.dryRun) say('Nothing was changed: this was a dry run.')
}

function nothing({ run }: UndoFlags): string {
  if (run !== undefined) return `Nothing to undo: the run ${run} changed no file.`
  return 'Nothing to undo: no call on record changed a file, or all were undone already.'
}
