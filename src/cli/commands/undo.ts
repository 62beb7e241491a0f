import { relative } from 'node:path'
import type { Command } from 'commander'
import type { UndoReport } from '../../hub/undo/undo.ts'
import type { UndoneChange } from '../../hub/undo/undo-changes.ts'
import { escapeLine, escapeText } from '../../value/escape-text.ts'
import { EXIT } from '../exit-code.ts'
import { findRun, runsFolder } from '../hub/find-run.ts'
import { withHub } from '../hub/with-hub.ts'
import { addConfigOption } from '../input/add-options.ts'
import { interruptSignal } from '../interrupt.ts'
import { count } from '../output/count.ts'
import { print, printJson, say } from '../output/print.ts'
import { style } from '../output/terminal.ts'
import { ownCommand } from '../own-command.ts'
import { UsageError } from '../usage-error.ts'

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

Exit code: 1 when something was refused, else 0.

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
  const run = flags.run === undefined ? undefined : await runIdOf(flags.run, flags)
  const report = await withHub({ config, root }, (hub) =>
    hub.undo({ call, run, dryRun, force, signal: interruptSignal() }),
  )
  if (!report.ok) process.exitCode = EXIT.failed
  await (flags.json ? printJson(report) : tell(report, flags))
}

async function runIdOf(wanted: string, flags: UndoFlags): Promise<string> {
  const folder = await findRun(await runsFolder(flags), wanted)
  return folder.slice(folder.lastIndexOf('/') + 1)
}

async function tell(report: UndoReport, { force }: UndoFlags): Promise<void> {
  const { changes, dryRun } = report
  if (changes.length === 0) return say('There is nothing to undo: no call on record changed a file.')
  say(headline(report))
  for (const change of changes) await print(describe(change))
  for (const line of nextSteps(report, force === true)) say(line)
  if (dryRun) say('Nothing was changed: this was a dry run.')
}

function headline({ calls, dryRun }: UndoReport): string {
  const { run, callId, tool } = calls[0]!
  const what =
    calls.length === 1 ? `${tool} (call ${callId}, run ${run})` : `${count(calls.length, 'call')} of run ${run}`
  return escapeLine(`${dryRun ? 'Would undo' : 'Undoing'} ${what}:`)
}

const COLOURS = {
  restored: 'green',
  removed: 'green',
  'moved back': 'green',
  already: 'dim',
  refused: 'red',
  'not undoable': 'yellow',
} as const satisfies Record<UndoneChange['action'], string>

function describe({ action, path, reason, diff }: UndoneChange): string {
  const mark = style(COLOURS[action], action.padEnd(12))
  const why = reason === undefined ? '' : `  ${reason}`
  const line = `${mark}  ${escapeLine(`${shown(path)}${why}`)}`
  return diff === undefined ? line : `${line}\n${indented(diff)}`
}

/** As short as it can be told from here. */
function shown(path: string): string {
  const near = relative('.', path)
  return near === '' || near.startsWith('..') ? path : near
}

function indented(diff: string): string {
  return escapeText(diff)
    .split('\n')
    .map((line) => `    ${line}`)
    .join('\n')
}

function nextSteps({ ok, dryRun, changes, callId }: UndoReport, force: boolean): string[] {
  const hasDone = changes.some(({ action }) => action in DONE)
  return [
    ...(ok || force ? [] : ['What was refused is as it was. --force takes it back all the same.']),
    ...(hasDone && !dryRun ? [`To undo this undo: ${ownCommand()} undo --call ${callId}`] : []),
  ]
}

const DONE = { restored: true, removed: true, 'moved back': true }
