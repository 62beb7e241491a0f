import { baseName } from './base-name.ts'
import { hidden, reach } from './doubt.ts'
import { foldersOf } from './find-folders.ts'
import { seePath } from './look-at-paths.ts'
import { isHarmless } from './programs/find-table.ts'
import { lookAtProgram } from './programs/look-at-program.ts'
import type { ShellWord } from './read-word.ts'
import type { CommandPart, CommandPlace, Doubt } from './reading.ts'
import { type Risk, rankOf, riskOfReason } from './risk.ts'
import type { Draft } from './shell-reader.ts'
import { SHELLS } from './wrappers.ts'

/** What is known once the whole line is read. */
export interface LineFacts {
  readonly place: CommandPlace
  /** Every folder that a command of it may run in; undefined where nobody knows. */
  readonly folders: readonly string[] | undefined
  /** Names of functions that the line defines. */
  readonly functions: ReadonlySet<string>
}

const MOST_PATHS = 512

/** A command with all that keeps an allow from covering it. */
export function finishPart(draft: Draft, facts: LineFacts): CommandPart {
  const { words, text, where, through } = draft
  const doubts: Doubt[] = [...draft.doubts, ...nameDoubts(words[0], facts)]
  const paths: string[] = []
  const folders = facts.folders && foldersOf(draft, facts.folders)
  const see = (word: string, isGlob = false) => {
    const seen = seePath(word, facts.place, folders, isGlob)
    for (const path of seen.paths) if (paths.length < MOST_PATHS) paths.push(path)
    if (seen.doubt !== undefined && !doubts.some(({ reason }) => reason === seen.doubt)) doubts.push(reach(seen.doubt))
  }
  const globs = new Set(words.flatMap(({ glob }, index) => (glob === undefined ? [] : index)))
  const look = lookAtProgram(
    words.map(({ value, glob }) => value ?? glob),
    globs,
  )
  const risks = new Set(look.risks)
  for (const { option, reason, kind, at } of look.hazards) {
    const isJudged = isShown(draft, at)
    doubts.push({ kind: isJudged ? 'reach' : kind, reason: `${option} ${reason}`, at })
    addRisk(risks, reason, isJudged)
  }
  // The shell itself looks for the files that a glob stands for, whatever the program makes of them.
  for (const index of new Set([...look.paths, ...globs].slice(0, MOST_PATHS)))
    see(shown(words[index]), globs.has(index))
  for (const value of look.pathValues.slice(0, MOST_PATHS)) see(value)
  if (look.paths.length + look.pathValues.length + globs.size > MOST_PATHS)
    doubts.push(reach(`it names more than ${MOST_PATHS} files`))
  for (const word of draft.reads ?? []) {
    if (word.value === undefined) doubts.push(reach(`what ${word.source} names is only known when it runs`))
    else see(word.value)
  }
  const { optionsEnd = words.length } = look
  const unknown = words.find((word, index) => index > 0 && isUnknown(word, words[0], index > optionsEnd))
  if (unknown !== undefined) doubts.push(reach(`what ${shown(unknown)} stands for is only known when it runs`))
  for (const { reason } of doubts) addRisk(risks, reason)
  const carried = draft.carried?.map(({ at, draft: inner }) => ({ at, part: finishPart(inner, facts) }))
  const found = risks.size === 0 ? undefined : [...risks].sort((a, b) => rankOf(a) - rankOf(b))
  return { words: words.map(({ value }) => value), text, where, through, paths, doubts, risks: found, carried }
}

function addRisk(risks: Set<Risk>, reason: string, isJudged = false): void {
  const risk = riskOfReason(reason, isJudged)
  if (risk !== undefined) risks.add(risk)
}

/** These give code a name, and more words may come to it when it is called. */
const NAMING = new Set(['alias', 'complete'])

/** That it runs another program hides nothing once that program is judged by itself. */
function isShown({ words, isUnwrapped }: Draft, at: number): boolean {
  const name = baseName(words[0]?.value ?? '')
  if (!isUnwrapped || NAMING.has(name)) return false
  return at === 0 || name === 'find' || SHELLS.has(name) || words[at]?.value?.startsWith('-') === false
}

/** Programs in these folders are what their names say; any other file may be any program. */
const SYSTEM = /^\/(?:usr\/|usr\/local\/)?bin\/[^/]+$|^\/(?:usr\/)?sbin\/[^/]+$/

function nameDoubts(name: ShellWord | undefined, { functions, place, folders }: LineFacts): Doubt[] {
  const doubts: Doubt[] = []
  // Many a variable names a program or options to start one: TAR_OPTIONS, GIT_SSH_COMMAND.
  for (const variable of place.env ?? []) doubts.push(hidden(`the call gives it ${variable}`))
  if (folders === undefined) doubts.push(reach('where it runs depends on a cd'))
  if (name === undefined) return doubts
  if (name.value === undefined) return [...doubts, hidden('its name is only known when it runs')]
  if (name.value.includes('/')) doubts.push((SYSTEM.test(name.value) ? reach : hidden)('it is called by a path'))
  if (functions.has(name.value)) doubts.push(reach('a function of the line has its name'))
  return doubts
}

/** A glob is known well enough while no file it could find is taken for an option, or hides from plain sight. */
function isUnknown({ value, glob }: ShellWord, name: ShellWord | undefined, isOperand: boolean): boolean {
  if (value !== undefined) return false
  if (glob === undefined || glob.startsWith('-') || /(^|\/)\.[^/]*[*?[]/.test(glob)) return true
  return /^[*?[]/.test(glob) && !isOperand && !isHarmless(name?.value ?? '')
}

function shown(word: ShellWord | undefined): string {
  return word?.glob ?? word?.source ?? ''
}
