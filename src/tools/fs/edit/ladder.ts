import { foldCharacters } from '../lines/fold-line.ts'
import type { Edit, Replacement, Rung } from './edit.ts'
import type { EditSource } from './edit-source.ts'
import { findFolded } from './find-folded.ts'
import { findIndented } from './find-indented.ts'
import { findPlaces } from './find-places.ts'
import { keepLineEnds } from './keep-line-ends.ts'

/** Where an edit goes, and how exactly it was found; no place when nothing fits. */
interface Found {
  readonly rung: Rung
  readonly places: readonly Replacement[]
}

/**
 * Looks for the old text: exactly, then without blanks at line ends, then with plain quotes, dashes and spaces, then, if
 * asked, in any indentation.
 */
export function climb(source: EditSource, edit: Edit, options: { readonly indentation?: boolean } = {}): Found {
  for (const [rung, find] of RUNGS) {
    if (rung === 'indentation' && !options.indentation) continue
    const places = find(source, edit)
    if (places.length > 0) return { rung, places: places.map((place) => keepLineEnds(source.text, place, edit, rung)) }
  }
  return { rung: 'exact', places: [] }
}

type Find = (source: EditSource, edit: Edit) => Replacement[]

const RUNGS: readonly (readonly [Rung, Find])[] = [
  ['exact', findExact],
  ['trailing-space', ({ stripped }, edit) => findFolded(stripped, edit, (text) => text)],
  ['unicode', ({ plain }, edit) => findFolded(plain, edit, foldCharacters)],
  ['indentation', findIndented],
]

function findExact({ text }: EditSource, { oldText, newText, replaceAll = false }: Edit): Replacement[] {
  return findPlaces(text, oldText, replaceAll).map((start) => ({ start, end: start + oldText.length, text: newText }))
}
