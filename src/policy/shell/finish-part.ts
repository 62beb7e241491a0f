import { baseName } from './base-name.ts'
import { BUILTINS } from './builtins.ts'
import type { Moves } from './find-moves.ts'
import { seePath } from './look-at-paths.ts'
import { lookAtProgram } from './programs/look-at-program.ts'
import type { ShellWord } from './read-word.ts'
import type { CommandPart, CommandPlace, Doubt } from './reading.ts'
import type { Draft } from './shell-reader.ts'
import { SHELLS } from './wrappers.ts'

/** What is known once the whole line is read. */
export interface LineFacts {
  readonly place: CommandPlace
  readonly moves: Moves
  /** Names of functions that the line defines. */
  readonly functions: ReadonlySet<string>
}

/** No option of these runs a program or writes, so that a file that is called like one does no harm. */
const HARMLESS = new Set('ls cat head wc nl tac rev cut stat du df basename dirname cmp md5sum sha256sum'.split(' '))

const MOST_PATHS = 512

/** A command with all that keeps an allow from covering it. */
export function finishPart(draft: Draft, facts: LineFacts): CommandPart {
  const { words, text, where, through } = draft
  const doubts: Doubt[] = [...draft.doubts, ...nameDoubts(words[0], facts)]
  const paths: string[] = []
  const see = (word: string, isGlob?: boolean) => {
    const { path, doubt } = seePath(word, facts.place, facts.moves, isGlob)
    if (path !== undefined && paths.length < MOST_PATHS) paths.push(path)
    if (doubt !== undefined && !doubts.some(({ reason }) => reason === doubt))
      doubts.push({ kind: 'reach', reason: doubt })
  }
  const look = lookAtProgram(words.map(({ value, glob }) => value ?? glob))
  for (const { option, reason, kind, at } of look.hazards)
    doubts.push({ kind: isShown(draft, at) ? 'reach' : kind, reason: `${option} ${reason}`, at })
  for (const index of look.paths.slice(0, MOST_PATHS)) see(shown(words[index]), words[index]?.glob !== undefined)
  for (const value of look.pathValues.slice(0, MOST_PATHS)) see(value)
  if (look.paths.length + look.pathValues.length > MOST_PATHS)
    doubts.push(reach(`it names more than ${MOST_PATHS} files`))
  for (const word of draft.reads ?? []) {
    if (word.value === undefined) doubts.push(reach(`what ${word.source} names is only known when it runs`))
    else see(word.value)
  }
  const unknown = words.findIndex((word, index) => index > 0 && isUnknown(word, words, index))
  if (unknown > 0) doubts.push(reach(`what ${shown(words[unknown])} stands for is only known when it runs`))
  return { words: words.map(({ value }) => value), text, where, through, paths, doubts }
}

/** That it runs another program hides nothing once that program is judged by itself. */
function isShown({ words, isUnwrapped }: Draft, at: number): boolean {
  if (!isUnwrapped) return false
  const name = baseName(words[0]?.value ?? '')
  return at === 0 || name === 'find' || SHELLS.has(name) || words[at]?.value?.startsWith('-') === false
}

function nameDoubts(name: ShellWord | undefined, { functions, place, moves }: LineFacts): Doubt[] {
  const doubts: Doubt[] = []
  for (const variable of place.env ?? []) doubts.push(reach(`the call gives it ${variable}`))
  if (moves === 'unknown') doubts.push(reach('where it runs depends on a cd'))
  if (name === undefined) return doubts
  if (name.value === undefined) return [...doubts, { kind: 'hidden', reason: 'its name is only known when it runs' }]
  const builtin = BUILTINS.get(baseName(name.value))
  if (builtin) doubts.push(builtin)
  if (name.value.includes('/')) doubts.push(reach('it is called by a path'))
  if (functions.has(name.value)) doubts.push(reach('a function of the line has its name'))
  return doubts
}

/** A glob is known well enough while no file it could find is taken for an option, or hides from plain sight. */
function isUnknown({ value, glob }: ShellWord, words: readonly ShellWord[], index: number): boolean {
  if (value !== undefined) return false
  if (glob === undefined) return true
  if (glob.startsWith('-') || /(^|\/)\.[^/]*[*?[]/.test(glob)) return true
  if (!/^[*?[]/.test(glob) || HARMLESS.has(words[0]?.value ?? '')) return false
  return !words.slice(1, index).some((word) => word.value === '--')
}

function shown(word: ShellWord | undefined): string {
  return word?.glob ?? word?.source ?? ''
}

function reach(reason: string): Doubt {
  return { kind: 'reach', reason }
}
