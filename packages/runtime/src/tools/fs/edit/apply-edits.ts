import { type EditName, notFound, nothingChanges, notUnique, overlapping, tooMany, tooMuch } from './edit-errors.ts'
import { type Edit, MAX_PLACES, type MatchLevel, type Replacement } from './edit-input.ts'
import {
  bareLines,
  type FoldedText,
  findPlaces,
  findRuns,
  foldCharacters,
  foldLines,
  indentOf,
  stripEnd,
} from './lines.ts'

/** Enough to report that a text is not unique; each is compared line by line. */
const MAX_COUNTED = 20

const MATCH_LEVELS: readonly (readonly [MatchLevel, Find])[] = [
  ['exact', findExact],
  ['trailing-space', ({ stripped }, edit) => findFolded(stripped, edit, (text) => text)],
  ['unicode', ({ plain }, edit) => findFolded(plain, edit, foldCharacters)],
  ['indentation', findIndented],
]

/** A text after its edits. */
export interface Edited {
  readonly text: string
  /** Sorted and not overlapping, in positions of the original text. */
  readonly replacements: readonly Replacement[]
  /** What had to be tolerated to find the old texts. */
  readonly forgiven: readonly Exclude<MatchLevel, 'exact'>[]
}

/** Options of `applyEdits`. */
export interface EditOptions {
  /** For messages. */
  readonly path: string
  readonly indentation?: boolean
  /** Size of the text as UTF-8, if known; counting takes as long as the search. */
  readonly bytes?: number
  /** Limit for the text after the edits. */
  readonly maxBytes?: number
}

interface NamedReplacement extends Replacement {
  readonly name: string
}

const MAX_BYTES = 10_485_760

/** Applies all edits, each matched against the original text, or none. Throws with the reason if one does not fit. */
export function applyEdits(file: string, edits: readonly Edit[], options: EditOptions): Edited {
  const source = new EditSource(file)
  const forgiven = new Set<Exclude<MatchLevel, 'exact'>>()
  const named = edits.flatMap((edit, index) => {
    const name = `edits[${index}]`
    const { level, places } = findMatch(source, edit, options)
    checkPlaces(file, edit, places, {
      path: options.path,
      name: edits.length === 1 ? 'The old text' : `The old text of ${name}`,
    })
    if (level !== 'exact') forgiven.add(level)
    return places.map((place): NamedReplacement => ({ ...place, name }))
  })
  named.sort((left, right) => left.start - right.start || left.end - right.end)
  checkOverlaps(file, named, options.path)
  checkSize(file, named, options)
  return { text: assemble(file, named), replacements: named, forgiven: [...forgiven] }
}

function checkPlaces(file: string, edit: Edit, places: readonly Replacement[], name: EditName): void {
  if (places.length === 0) throw notFound(file, edit.oldText, name)
  if (places.length > 1 && !edit.replaceAll) throw notUnique(file, places, name)
  if (places.length > MAX_PLACES) throw tooMany(name)
}

function checkOverlaps(file: string, places: readonly NamedReplacement[], path: string): void {
  for (const [index, place] of places.entries()) {
    const before = places[index - 1]
    if (before && before.end > place.start) throw overlapping(file, place, [before.name, place.name], path)
  }
}

/** Checked first: a small file could grow without bounds. */
function checkSize(file: string, places: readonly Replacement[], options: EditOptions): void {
  const { path, bytes, maxBytes = MAX_BYTES } = options
  if (places.every(({ start, end, text }) => file.slice(start, end) === text)) throw nothingChanges(path)
  const sizes = new Map<string, number>()
  let size = bytes ?? Buffer.byteLength(file)
  for (const { start, end, text } of places) {
    const own = sizes.get(text) ?? Buffer.byteLength(text)
    sizes.set(text, own)
    size += own - Buffer.byteLength(file.slice(start, end))
  }
  if (size > maxBytes) throw tooMuch(size, maxBytes, path)
}

function assemble(file: string, places: readonly Replacement[]): string {
  // Not joined: the engine copies the parts only once, when the text is encoded.
  let result = ''
  let from = 0
  for (const { start, end, text } of places) {
    result += file.slice(from, start) + text
    from = end
  }
  return result + file.slice(from)
}

/** Where an edit applies, and how exactly it was found; no place if nothing fits. */
interface Match {
  readonly level: MatchLevel
  readonly places: readonly Replacement[]
}

/**
 * Looks for the old text: exactly, then ignoring whitespace at line ends, then with plain quotes, dashes and spaces,
 * then, if requested, in any indentation.
 */
function findMatch(source: EditSource, edit: Edit, options: { readonly indentation?: boolean } = {}): Match {
  for (const [level, find] of MATCH_LEVELS) {
    if (level === 'indentation' && !options.indentation) continue
    const places = find(source, edit)
    if (places.length > 0)
      return { level, places: places.map((place) => keepLineEnds(source.text, place, edit, level)) }
  }
  return { level: 'exact', places: [] }
}

type Find = (source: EditSource, edit: Edit) => Replacement[]

function findExact({ text }: EditSource, { oldText, newText, replaceAll = false }: Edit): Replacement[] {
  return findPlaces(text, oldText, replaceAll).map((start) => ({ start, end: start + oldText.length, text: newText }))
}

/**
 * The new text with the line ends of its place. Models write `\n`; a Windows file keeps its line ends. If the old text
 * contains `\r\n`, the caller knows the line ends, and the new text is taken as it is.
 */
function keepLineEnds(file: string, found: Replacement, { oldText }: Edit, level: MatchLevel): Replacement {
  const place = wholeLineEnd(file, found, oldText)
  if (!place.text.includes('\n')) return place
  const knowsWindows = oldText.includes('\r\n')
  const isWindows = hasWindowsLineEnd(file, place)
  if (isWindows && !knowsWindows && !place.text.includes('\r'))
    return { ...place, text: place.text.replaceAll('\n', '\r\n') }
  if (!isWindows && knowsWindows && level !== 'exact') return { ...place, text: place.text.replaceAll('\r\n', '\n') }
  return place
}

/** A place that begins with the second half of a `\r\n` includes the first half. */
function wholeLineEnd(file: string, place: Replacement, oldText: string): Replacement {
  const isHalf = oldText.startsWith('\n') && file[place.start] === '\n' && file[place.start - 1] === '\r'
  return isHalf ? { ...place, start: place.start - 1 } : place
}

/** Whether the first line end in the place, or else the one after it, or else the one before it, is `\r\n`. */
function hasWindowsLineEnd(file: string, { start }: Replacement): boolean {
  const after = file.indexOf('\n', start)
  const at = after === -1 && start > 0 ? file.lastIndexOf('\n', start - 1) : after
  return at > 0 && file[at - 1] === '\r'
}

/**
 * Where the old text is in a folded text, both folded in the same way: whitespace at line ends and what `fold` changes
 * do not count. The places are those of the original text.
 */
function findFolded(source: FoldedText, edit: Edit, fold: (text: string) => string): Replacement[] {
  const { oldText, newText: text, replaceAll = false } = edit
  const lines = fold(oldText).split('\n')
  const last = lines.pop()!
  const head = lines.map((line) => `${stripEnd(line)}\n`).join('')
  const whole = head + last
  const places = findPlaces(source.text, whole, replaceAll)
  if (places.length > 0) {
    return places.map((at) => ({ start: source.original(at), end: source.original(at + whole.length), text }))
  }

  // Trailing whitespace of the old text is ignored, but only at the end of a line in the file.
  const wanted = head + stripEnd(last)
  if (wanted === whole) return []
  return findPlaces(source.text, wanted, replaceAll)
    .filter((at) => isLineEnd(source.text, at + wanted.length))
    .map((at) => ({ start: source.original(at), end: source.originalLineEnd(at + wanted.length), text }))
}

function isLineEnd(text: string, index: number): boolean {
  return index === text.length || text[index] === '\n'
}

/**
 * Where the lines of the old text are with another indentation. Each indentation of the old text must correspond to
 * one in the file; the new text is then indented like the file.
 */
function findIndented(source: EditSource, { oldText, newText, replaceAll = false }: Edit): Replacement[] {
  const { lines } = source
  const wanted = oldText.split('\n')
  const isClosed = wanted.at(-1) === ''
  if (isClosed) wanted.pop()
  const bare = bareLines(wanted.join('\n'))
  if (bare.every((line) => line === '')) return []

  const starts = lineStarts(lines)
  const options = { mayOverlap: !replaceAll, most: replaceAll ? MAX_PLACES + 1 : MAX_COUNTED }
  return findRuns(source.bareLines, bare, options).flatMap((first) => {
    const next = first + wanted.length
    const indents = pairIndents(wanted, lines.slice(first, next))
    // The last line of a file has no line end to replace.
    if (!indents || (isClosed && next === lines.length)) return []
    const end = isClosed ? starts[next]! : starts[next - 1]! + stripEnd(lines[next - 1]!).length
    return [{ start: starts[first]!, end, text: indentLike(newText, indents) }]
  })
}

function lineStarts(lines: readonly string[]): number[] {
  let next = 0
  return lines.map((line) => {
    const start = next
    next += line.length + 1
    return start
  })
}

/** Maps each indentation of the old text to that of the file; returns nothing if one would map to two. */
function pairIndents(wanted: readonly string[], lines: readonly string[]): ReadonlyMap<string, string> | undefined {
  const indents = new Map<string, string>()
  for (const [index, line] of wanted.entries()) {
    if (stripEnd(line) === '') continue
    const indent = indentOf(line)
    const known = indents.get(indent)
    const own = indentOf(lines[index]!)
    if (known !== undefined && known !== own) return undefined
    indents.set(indent, own)
  }
  return indents
}

function indentLike(text: string, indents: ReadonlyMap<string, string>): string {
  const known = [...indents.keys()].sort((left, right) => right.length - left.length)
  const lines = text.split('\n').map((line) => {
    const indent = indentOf(line)
    if (indent.length === line.length) return line
    const nearest = known.find((key) => indent.startsWith(key))
    return nearest === undefined ? line : indents.get(nearest) + line.slice(nearest.length)
  })
  return lines.join('\n')
}

/**
 * The text that edits are matched against; what a search derives from it is kept for the next edit of the same call.
 */
class EditSource {
  readonly text: string
  #stripped: FoldedText | undefined
  #plain: FoldedText | undefined
  #lines: readonly string[] | undefined
  #bareLines: readonly string[] | undefined

  constructor(text: string) {
    this.text = text
  }

  /** Without whitespace at line ends. */
  get stripped(): FoldedText {
    this.#stripped ??= foldLines(this.text, (text) => text)
    return this.#stripped
  }

  /** Also with plain quotes, dashes and spaces. */
  get plain(): FoldedText {
    this.#plain ??= foldLines(this.text, foldCharacters)
    return this.#plain
  }

  get lines(): readonly string[] {
    this.#lines ??= this.text.split('\n')
    return this.#lines
  }

  /** Plain lines, without whitespace around them. */
  get bareLines(): readonly string[] {
    this.#bareLines ??= bareLines(this.text)
    return this.#bareLines
  }
}
