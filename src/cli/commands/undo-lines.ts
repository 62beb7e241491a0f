import { relative } from 'node:path'
import type { UndoReport } from '../../hub/undo/undo.ts'
import type { UndoneChange } from '../../hub/undo/undo-changes.ts'
import { escapeLine, escapeText } from '../../value/escape-text.ts'
import { count } from '../output/count.ts'
import { style } from '../output/terminal.ts'
import { ownCommand, quoteWord } from '../own-command.ts'

/** What the person said beside `undo`, to be said again. */
interface Said {
  readonly config?: string
  readonly root?: string
  readonly force?: boolean
}

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

/** What is undone, above the lines of its changes. */
export function undoHeadline({ calls, dryRun }: UndoReport): string {
  const { run, callId, tool } = calls[0]!
  const what =
    calls.length === 1 ? `${tool} (call ${callId}, run ${run})` : `${count(calls.length, 'call')} of run ${run}`
  return escapeLine(`${dryRun ? 'Would undo' : 'Undoing'} ${what}:`)
}

/** What became, or would become, of one change. */
export function undoneLine({ action, path, reason, diff }: UndoneChange, { dryRun }: UndoReport): string {
  const look: { colour: (typeof LOOKS)[typeof action]['colour']; planned?: string } = LOOKS[action]
  const word = dryRun ? (look.planned ?? action).padEnd(15) : action.padEnd(12)
  const why = reason === undefined ? '' : `  ${reason}`
  const line = `${style(look.colour, word)}  ${escapeLine(`${shown(path)}${why}`)}`
  return diff === undefined ? line : `${line}\n${indented(diff)}`
}

/** What to do next, in words that can be pasted. */
export function undoNextSteps({ dryRun, changes, callId }: UndoReport, said: Said): string[] {
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

function again({ config, root }: Said): string {
  const words = [...(config ? ['--config', quoteWord(config)] : []), ...(root ? ['--root', quoteWord(root)] : [])]
  return [ownCommand(), 'undo', ...words].join(' ')
}

/** Where the person stands, when everything is below. */
function rootOf(changes: readonly UndoneChange[]): string {
  return changes.every(({ path }) => isNear(path)) ? '.' : 'DIR'
}

/** As short as it can be told from here. */
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
