import { MOST_PLACES } from './edit.ts'

/** Enough to say that a text is not unique. */
const MOST_COUNTED = 1_000

/**
 * Where something stands. To replace all of it the places must not overlap; to know that it is unique those that do
 * count too: `aa` stands twice in `aaa`.
 */
export function findPlaces(text: string, wanted: string, replaceAll: boolean): number[] {
  if (wanted === '') return []
  const step = replaceAll ? wanted.length : 1
  const most = replaceAll ? MOST_PLACES + 1 : MOST_COUNTED
  const places: number[] = []
  for (let at = text.indexOf(wanted); at !== -1 && places.length < most; at = text.indexOf(wanted, at + step)) {
    places.push(at)
  }
  return places
}
