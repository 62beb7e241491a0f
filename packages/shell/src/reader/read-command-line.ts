import { posix } from 'node:path'
import { baseName } from '../loose-words.ts'
import {
  type AskSecondParser,
  type CommandPart,
  type CommandPlace,
  type CommandReading,
  type Doubt,
  hidden,
  reach,
} from '../reading.ts'
import { isForced, markDownloads, type Risk, rankOf, riskOfReason } from '../risk.ts'
import { SHELLS } from '../wrappers.ts'
import { findCode, inFoldersAbove, isInsideRoots } from './find-code.ts'
import { isHarmless, lookAtProgram, type ProgramLook } from './programs/look-at-program.ts'
import { readMove, type ShellWord, staticWord } from './read-command.ts'
import { type CommandDraft, ShellReader, showWords } from './shell-reader.ts'

const MAX_LENGTH = 65_536

/** Reads the words of a command that runs without a shell; what it carries out is found all the same. */
export function readArgv(argv: readonly string[], place: CommandPlace, ask?: AskSecondParser): CommandReading {
  if (argv.length === 0 || argv[0] === '') return unreadable('it names no program')
  if (argv.some((word) => word.includes('\0'))) return unreadable('it has a NUL character, where a word would end')
  const reader = new ShellReader(ask)
  const words = argv.map(staticWord)
  const text = showWords(words)
  const odd = findOddCharacters(text)
  if (odd !== undefined) reader.unread(odd)
  if (text.length > MAX_LENGTH)
    reader.unread(`it has ${text.length} characters, the most that are read are ${MAX_LENGTH}`)
  else reader.take({ words, text, doubts: [] }, { through: [], doubts: [] })
  return finishReading(reader, place, text)
}

const MAX_FOLDERS = 16

const MAX_PATHS = 512

/** These give code a name, and more words may come to it when it is called. */
const NAMING = new Set(['alias', 'complete'])

/** Programs in these folders are what their names say; any other file may be any program. */
const SYSTEM = /^\/(?:usr\/|usr\/local\/)?bin\/[^/]+$|^\/(?:usr\/)?sbin\/[^/]+$/

/** Reads the text that bash would be given: every simple command that it could run, with what is doubtful about it. */
export function readCommandLine(text: string, place: CommandPlace, ask?: AskSecondParser): CommandReading {
  if (text.includes('\0')) return unreadable('it has a NUL character, where the line would end')
  const reader = new ShellReader(ask)
  const odd = findOddCharacters(text)
  if (odd !== undefined) reader.unread(odd)
  reader.readText(text, { through: [], doubts: [] })
  return finishReading(reader, place, text)
}

/** The reading of what can never run. */
function unreadable(reason: string): CommandReading {
  return { parts: [], doubts: [{ kind: 'refused', reason }] }
}

/** One is enough to ask; a hostile line could hold thousands. */
const MAX_EVALUATIONS = 8

/** What a reader has found, once it has read all. */
function finishReading(reader: ShellReader, place: CommandPlace, text: string): CommandReading {
  const { drafts, doubts, functions, data } = reader
  // A comment, or nothing at all, is judged as a command without words.
  if (drafts.length === 0) drafts.push({ words: [], text, through: [], doubts: [] })
  for (const { text: evaluated, reason } of data.findEvaluations(functions).slice(0, MAX_EVALUATIONS))
    drafts.push({ words: [], text: evaluated, through: [], doubts: [hidden(reason)] })
  const folders = findFolders(drafts, place)
  const parts = drafts.map((draft) => finishPart(draft, { place, folders, functions }))
  return { parts: markDownloads(parts), doubts }
}

/** What is known once the whole line is read. */
interface LineFacts {
  readonly place: CommandPlace
  /** Every folder that a command of it may run in; `undefined` if they are not known. */
  readonly folders: readonly string[] | undefined
  /** Names of functions that the line defines. */
  readonly functions: ReadonlySet<string>
}

/** A command with all that keeps an allow from covering it. */
function finishPart(draft: CommandDraft, facts: LineFacts): CommandPart {
  const { words, text, where, through } = draft
  const doubts: Doubt[] = [...draft.doubts, ...nameDoubts(words[0], facts)]
  const paths: string[] = []
  const fileGlobs: string[] = []
  const folders = facts.folders && foldersOf(draft, facts.folders)
  const see = (word: string, isGlob = false) => {
    const seen = seePath(word, facts.place, folders, isGlob)
    for (const path of seen.paths) if (paths.length < MAX_PATHS) paths.push(path)
    if (seen.doubt !== undefined && !doubts.some(({ reason }) => reason === seen.doubt)) doubts.push(reach(seen.doubt))
  }
  const globs = new Set(words.flatMap(({ glob }, index) => (glob === undefined ? [] : index)))
  const look = lookAtProgram(
    words.map(({ value, glob }) => value ?? glob),
    globs,
  )
  const risks = new Set(look.risks)
  if (risks.has('pushes') && isForced(words.map(({ value }) => value))) risks.add('forces')
  for (const { option, reason, kind, at } of look.hazards) {
    const isJudged = isShown(draft, at)
    doubts.push({ kind: isJudged ? 'reach' : kind, reason: `${option} ${reason}`, at })
    addRisk(risks, reason, isJudged)
  }
  // The shell itself looks for the files that a glob stands for, whatever the program makes of them.
  for (const index of new Set([...look.paths, ...globs].slice(0, MAX_PATHS))) see(shown(words[index]), globs.has(index))
  for (const value of look.pathValues.slice(0, MAX_PATHS)) see(value)
  // What git reads from a revision is named from the top of the repository, which may be any folder above.
  for (const { path, isGlob } of look.gitPaths)
    for (const found of inFoldersAbove(path, folders ?? [], facts.place))
      if (isGlob) fileGlobs.push(found.replaceAll('*', '**'))
      else if (paths.length < MAX_PATHS && !paths.includes(found)) paths.push(found)
  if (look.paths.length + look.pathValues.length + globs.size > MAX_PATHS)
    doubts.push(reach(`it names more than ${MAX_PATHS} files`))
  for (const word of draft.reads ?? []) {
    if (word.value === undefined) doubts.push(reach(`what ${word.source} names is only known when it runs`))
    else see(word.value)
  }
  const { optionsEnd = words.length } = look
  const unknown = words.find((word, index) => index > 0 && isUnknown(word, words[0], index > optionsEnd))
  if (unknown !== undefined) doubts.push(reach(`what ${shown(unknown)} stands for is only known when it runs`))
  for (const { reason } of doubts) addRisk(risks, reason)
  const carried = draft.carried?.map(({ at, draft: inner }) => ({ at, part: finishPart(inner, facts) }))
  const code = findCode(draft, look, folders, facts.place)
  const found = risks.size === 0 ? undefined : [...risks].sort((a, b) => rankOf(a) - rankOf(b))
  return {
    words: words.map(({ value }) => value),
    text,
    where,
    through,
    paths,
    globs: fileGlobs.length === 0 ? undefined : fileGlobs.slice(0, MAX_PATHS),
    doubts,
    risks: found,
    carried,
    isWriting: look.isWriting || undefined,
    // What is done with an input that was not seen is known of programs that have no hazards.
    shape: hasInput(draft, facts.place) && (code || look.hazards.length > 0) ? undefined : shapeOf(words, look),
    code,
  }
}

/** A word that needs no quotes to be read back, and is not a mark. */
const PLAIN_WORD = /^[\w./@:+=%,^-]+$/

/** Commands of one shape differ only in the files and messages they are given; what they read may be code. */
function shapeOf(words: readonly ShellWord[], { free }: ProgramLook): string | undefined {
  const shown: string[] = []
  for (const [index, { value }] of words.entries()) {
    if (value === undefined) return undefined
    const mark = free.get(index)
    if (mark === undefined) shown.push(PLAIN_WORD.test(value) ? value : `'${value.replaceAll("'", "'\\''")}'`)
    else if (mark !== '<files>' || shown.at(-1) !== mark) shown.push(mark)
  }
  return shown.join(' ')
}

function hasInput({ hasInput: isPiped, reads = [], input }: CommandDraft, { stdin }: CommandPlace): boolean {
  return isPiped || stdin || reads.length > 0 || input !== undefined
}

function addRisk(risks: Set<Risk>, reason: string, isJudged = false): void {
  const risk = riskOfReason(reason, isJudged)
  if (risk !== undefined) risks.add(risk)
}

/** That it runs another program hides nothing once that program is judged by itself. */
function isShown({ words, isUnwrapped }: CommandDraft, at: number): boolean {
  const name = baseName(words[0]?.value ?? '')
  if (!isUnwrapped || NAMING.has(name)) return false
  return at === 0 || name === 'find' || SHELLS.has(name) || words[at]?.value?.startsWith('-') === false
}

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

/** Every folder that a command of the line may run in, as its `cd` may run or fail; `undefined` if they are not known. */
function findFolders(drafts: readonly CommandDraft[], place: CommandPlace): readonly string[] | undefined {
  let folders: readonly string[] = [place.cwd]
  for (const draft of drafts) {
    const move = readMove(draft.words)
    // A name that is only known at run time is doubtful by itself.
    if (move === 'none' || draft.words[0]?.value === undefined) continue
    // What runs again, or at a time of its own, may add up to any folder.
    if (move === 'unknown' || draft.isRepeated || draft.through.length > 0) return undefined
    const moved = foldersOf(draft, folders).map((folder) => posix.resolve(folder, move.to))
    if (!moved.every((folder) => isInsideRoots(folder, place))) return undefined
    folders = [...new Set([...folders, ...moved])]
    if (folders.length > MAX_FOLDERS) return undefined
  }
  return folders
}

/** Where a command may run, of all the folders of its line. */
function foldersOf({ within }: Pick<CommandDraft, 'within'>, folders: readonly string[]): readonly string[] {
  return within === undefined ? folders : folders.map((folder) => posix.resolve(folder, within))
}

/** A file that a command names: where it may be, and why an allow does not reach it. */
interface SeenPath {
  readonly paths: readonly string[]
  readonly doubt?: string
}

/**
 * Finds the file that a word names, in each folder that the command may run in; names that end in a glob count by what
 * stands before it.
 */
function seePath(word: string, place: CommandPlace, folders: readonly string[] | undefined, isGlob: boolean): SeenPath {
  if (word === '/dev/null') return { paths: [] }
  const text = word.startsWith('~') ? expandHome(word, place) : word
  if (text === undefined) return { paths: [], doubt: `where ${word} is is not known` }
  if (folders === undefined && !text.startsWith('/'))
    return { paths: [], doubt: `where ${word} is depends on a cd before it` }
  const starts = folders ?? [place.cwd]
  const paths = [...new Set(starts.map((folder) => posix.resolve(folder, text)))]
  const end = isGlob ? globFolder(text) : text.length
  const fixed = starts.map((folder) => posix.resolve(folder, text.slice(0, end)))
  const isInside = fixed.every((path) => isInsideRoots(path, place)) && !text.slice(end).split('/').includes('..')
  return isInside ? { paths } : { paths, doubt: `${word} is outside the folders it may touch` }
}

/** Where the folder ends that a glob looks in. */
function globFolder(text: string): number {
  return text.slice(0, text.search(/[*?[]/)).lastIndexOf('/') + 1
}

function expandHome(word: string, { home }: CommandPlace): string | undefined {
  if (home === undefined || !/^~(\/|$)/.test(word)) return undefined
  return `${home}${word.slice(1)}`
}

/** Control, format and invisible characters, lone surrogates, and blanks that separate no words; tab and line break are none. */
const ODD = /[^\P{Cc}\t\n]|[\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}]|[^\P{Zs} ]/gu

const MAX_SHOWN = 3

/** Says which characters of a text a person would not see as they are; undefined when there are none. */
export function findOddCharacters(text: string): string | undefined {
  const found = new Set<string>()
  for (const [character] of text.matchAll(ODD)) {
    found.add(character)
    if (found.size === MAX_SHOWN) break
  }
  if (found.size === 0) return undefined
  return `it has characters that do not show: ${[...found].map(show).join(', ')}`
}

function show(character: string): string {
  return character === '\r' ? '\\r' : `\\u{${character.codePointAt(0)!.toString(16)}}`
}
