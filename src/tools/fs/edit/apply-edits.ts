import { type Edit, MOST_PLACES, type Replacement, type Rung } from './edit.ts'
import { type EditName, notFound, nothingChanges, notUnique, overlapping, tooMany, tooMuch } from './edit-errors.ts'
import { EditSource } from './edit-source.ts'
import { climb } from './ladder.ts'

/** A text after its edits. */
export interface Edited {
  readonly text: string
  /** Sorted, never overlapping, in places of the text as it was. */
  readonly replacements: readonly Replacement[]
  /** What had to be forgiven to find the old texts. */
  readonly forgiven: readonly Exclude<Rung, 'exact'>[]
}

/** What an edit may do. */
export interface EditOptions {
  /** For messages. */
  readonly path: string
  readonly indentation?: boolean
  /** Of the text as UTF-8, when it is known; counting takes as long as the search. */
  readonly bytes?: number
  /** Of the text after the edits. */
  readonly maxBytes?: number
}

interface Named extends Replacement {
  readonly name: string
}

const MOST_BYTES = 10_485_760

/** All edits, each matched against the text as it is, or none: throws and says why when one does not fit. */
export function applyEdits(file: string, edits: readonly Edit[], options: EditOptions): Edited {
  const source = new EditSource(file)
  const forgiven = new Set<Exclude<Rung, 'exact'>>()
  const named = edits.flatMap((edit, index) => {
    const name = `edits[${index}]`
    const { rung, places } = climb(source, edit, options)
    checkPlaces(file, edit, places, {
      path: options.path,
      name: edits.length === 1 ? 'The old text' : `The old text of ${name}`,
    })
    if (rung !== 'exact') forgiven.add(rung)
    return places.map((place): Named => ({ ...place, name }))
  })
  named.sort((left, right) => left.start - right.start || left.end - right.end)
  checkOverlaps(file, named, options.path)
  checkSize(file, named, options)
  return { text: assemble(file, named), replacements: named, forgiven: [...forgiven] }
}

function checkPlaces(file: string, edit: Edit, places: readonly Replacement[], name: EditName): void {
  if (places.length === 0) throw notFound(file, edit.oldText, name)
  if (places.length > 1 && !edit.replaceAll) throw notUnique(file, places, name)
  if (places.length > MOST_PLACES) throw tooMany(name)
}

function checkOverlaps(file: string, places: readonly Named[], path: string): void {
  for (const [index, place] of places.entries()) {
    const before = places[index - 1]
    if (before && before.end > place.start) throw overlapping(file, place, [before.name, place.name], path)
  }
}

/** Before anything is made: a small file could grow without bounds. */
function checkSize(file: string, places: readonly Replacement[], options: EditOptions): void {
  const { path, bytes, maxBytes = MOST_BYTES } = options
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
