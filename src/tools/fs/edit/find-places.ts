import { findRuns } from '../lines/find-runs.ts'
import { MAX_PLACES } from './edit.ts'

/** Enough to say that a text is not unique. */
const MAX_COUNTED = 1_000
/** Up to here `indexOf` is quick in any text; for longer ones it may take the product of both lengths. */
const SHORT_CHARS = 64

/**
 * Where something stands. To replace all of it the places must not overlap; to know that it is unique those that do
 * count too: `aa` stands twice in `aaa`.
 */
export function findPlaces(text: string, wanted: string, replaceAll: boolean): number[] {
  if (wanted === '') return []
  const step = replaceAll ? wanted.length : 1
  const most = replaceAll ? MAX_PLACES + 1 : MAX_COUNTED
  if (wanted.length > SHORT_CHARS) return findRuns(units(text), units(wanted), { most, mayOverlap: !replaceAll })
  const places: number[] = []
  for (let at = text.indexOf(wanted); at !== -1 && places.length < most; at = text.indexOf(wanted, at + step)) {
    places.push(at)
  }
  return places
}

function units(text: string): Uint16Array {
  const bytes = Buffer.from(text, 'utf16le')
  return new Uint16Array(bytes.buffer, bytes.byteOffset, text.length)
}
