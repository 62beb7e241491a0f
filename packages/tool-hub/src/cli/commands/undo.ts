import { relative } from 'node:path'
import { ToolError } from '@tool-hub/core'
import { escapeLine, escapeText } from '@tool-hub/core/lib'
import type { Hub, UndoneChange, UndoReport } from '@tool-hub/runtime/hub'
import type { Command } from 'commander'
import { EXIT, interruptSignal, UsageError } from '../exit.ts'
import { findRunId } from '../hub/find-run.ts'
import { withCurrentRootToo } from '../hub/folders.ts'
import { withHubHere } from '../hub/with-hub.ts'
import { addConfigOption } from '../input/options.ts'
import { ownCommand, quoteShellWord } from '../invocation.ts'
import { countNoun } from '../output/layout.ts'
import { print, printJson, say, style } from '../output/print.ts'

const LOOKS = {
  restored: { colour: 'green', planned: 'would restore' },
  removed: { colour: 'green', planned: 'would remove' },
  'moved back': { colour: 'green', planned: 'would move back' },
  already: { colour: 'dim' },
  refused: { colour: 'red' },
  'not undoable': { colour: 'yellow' },
} as const satisfies Record<UndoneChange['action'], { colour: string; planned?: string }>

/** Refusals that are about what somebody did since; what a guard or a rule refuses, force cannot have either. */
const SINCE = /^(?:was changed since|is gone$|is there again, with|is not empty)/

const OUTSIDE = / is outside the sandbox roots/

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
A file that was changed since is left alone, and a diff shows what --force would change. An undo is itself recorded and
journaled: --call with its id undoes it.

Exit code: 1 if something was refused or cannot be undone, 2 if the call or run does not exist, else 0.

Examples:
  tool-hub undo --dry-run               show what undoing the last call would do
  tool-hub undo
  tool-hub undo --call c4fJk2mQx9a-7
  tool-hub undo --run run-20261115`

/** `undo`: files as they were before. */
export function describeUndo(command: Command): void {
  addConfigOption(command)
    .description('Undo the file changes of a call or a run. Default: the last call that changed files.')
    .option('--call <id>', 'Undo the changes of this call')
    .option('--run <id>', 'Undo all changes of this run, by its id or the beginning of it')
    .option('--root <dir>', 'Folder that tools may read and write')
    .option('--dry-run', 'Show what would happen, without doing it')
    .option('--force', 'Undo even what was changed since')
    .addHelpText('after', EXAMPLES)
    .action(undo)
}

async function undo(flags: UndoFlags): Promise<void> {
  const { config, root, call, dryRun, force } = flags
  if (call !== undefined && flags.run !== undefined)
    throw new UsageError('--call and --run exclude each other.', 'Give one of them.')
  const run = await findRunId(flags)
  const undone = (hub: Hub) =>
    hub.undo({ call, run, anyRun: true, dryRun, force, signal: interruptSignal() }).catch(rethrowUnknown)
  const report = await withHubHere({ config, root }, undone, withCurrentRootToo)
  if (!report.ok) process.exitCode = EXIT.failed
  await (flags.json ? printJson(report) : printReport(report, { ...flags, run }))
}

/** A call that is not on record is a wrong word, like a run that is not. */
function rethrowUnknown(error: unknown): never {
  if (ToolError.is(error) && error.code === 'NOT_FOUND') throw new UsageError(error.message, error.fix.hint)
  throw error
}

async function printReport(report: UndoReport, flags: UndoFlags): Promise<void> {
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

/** The options of this `undo`, to be repeated in a suggested command. */
interface RepeatedFlags {
  readonly config?: string
  readonly root?: string
  readonly force?: boolean
}

/** What is undone, above the lines of its changes. */
function undoHeadline({ calls, dryRun }: UndoReport): string {
  const { run, callId, tool } = calls[0]!
  const what =
    calls.length === 1 ? `${tool} (call ${callId}, run ${run})` : `${countNoun(calls.length, 'call')} of run ${run}`
  return escapeLine(`${dryRun ? 'Would undo' : 'Undoing'} ${what}:`)
}

/** What became, or would become, of one change. */
function undoneLine({ action, path, reason, diff }: UndoneChange, { dryRun }: UndoReport): string {
  const look: { colour: (typeof LOOKS)[typeof action]['colour']; planned?: string } = LOOKS[action]
  const word = dryRun ? (look.planned ?? action).padEnd(15) : action.padEnd(12)
  const why = reason === undefined ? '' : `  ${reason}`
  const line = `${style(look.colour, word)}  ${escapeLine(`${shown(path)}${why}`)}`
  return diff === undefined ? line : `${line}\n${indented(diff)}`
}

/** What to do next, in words that can be pasted. */
function undoNextSteps({ dryRun, changes, callId }: UndoReport, said: RepeatedFlags): string[] {
  const refused = changes.filter(({ action }) => action === 'refused')
  const canForce = !said.force && refused.some(({ reason = '' }) => SINCE.test(reason))
  const outside = refused.filter(({ reason = '' }) => OUTSIDE.test(reason))
  const hasDone = changes.some(({ action }) => 'planned' in LOOKS[action])
  return [
    ...(refused.length > 0 ? ['What was refused is as it was.'] : []),
    ...(canForce ? ['--force takes back also what was changed since.'] : []),
    ...(outside.length > 0 ? [`Give the root it was made in: ${again({ ...said, root: rootOf(outside) })}`] : []),
    ...(hasDone && !dryRun ? [`To undo this undo: ${again(said)} --call ${callId}`] : []),
  ]
}

function again({ config, root }: RepeatedFlags): string {
  const words = [
    ...(config ? ['--config', quoteShellWord(config)] : []),
    ...(root ? ['--root', quoteShellWord(root)] : []),
  ]
  return [ownCommand(), 'undo', ...words].join(' ')
}

/** Where the person stands, when everything is below. */
function rootOf(changes: readonly UndoneChange[]): string {
  return changes.every(({ path }) => isNear(path)) ? '.' : 'DIR'
}

/** As short as possible from the current folder. */
function shown(path: string): string {
  return isNear(path) ? relative('.', path) : path
}

function isNear(path: string): boolean {
  const near = relative('.', path)
  return near !== '' && !near.startsWith('..')
}

function indented(diff: string): string {
  return escapeText(diff)
    .split('\n')
    .map((line) => `    ${line}`)
    .join('\n')
}
