import { compileGlob } from './glob.ts'
import { type IgnoreLine, readIgnoreLine } from './ignore-rules.ts'

const MOST_CHARS = 65_536
const MOST_PARTS = 100

/**
 * Rewrites the rules of a folder above so that they hold from a folder below on, whose names are given:
 * `/packages/*\/dist` becomes `/dist` in `packages/a`.
 */
export function rebaseIgnoreRules(text: string, names: readonly string[]): string {
  const lines = beginning(text)
    .split('\n')
    .flatMap((line) => {
      const read = readIgnoreLine(line)
      if (!read) return []
      return read.isAnchored ? rebase(read, names) : [line]
    })
  return lines.join('\n')
}

/** Whole lines of it: rules of many people fit in, and nobody's take long. */
function beginning(text: string): string {
  return text.length <= MOST_CHARS ? text : text.slice(0, text.lastIndexOf('\n', MOST_CHARS) + 1)
}

function rebase({ glob, isKept, isFolderOnly }: IgnoreLine, names: readonly string[]): string[] {
  // `**` twice in a row says no more than once.
  const parts = glob.split('/').filter((part, index, all) => part !== '**' || all[index - 1] !== '**')
  if (parts.length > MOST_PARTS) return []
  // The places in the glob that the names may lead to: as many as it has parts at most, however many `**` it has.
  let places = new Set(skipAny(parts, 0))
  for (const name of names) places = new Set([...places].flatMap((place) => enter(parts, place, name)))
  // What stands behind a `**` is said by it.
  const said = [...places].filter((place) => !(parts[place - 1] === '**' && places.has(place - 1)))
  return said.map((place) => `${isKept ? '!' : ''}/${parts.slice(place).join('/')}${isFolderOnly ? '/' : ''}`)
}

/** Where one name leads from a place in the glob; nowhere when it cannot match below that name. */
function enter(parts: readonly string[], place: number, name: string): number[] {
  const part = parts[place]!
  if (part === '**') return skipAny(parts, place)
  // A glob that ends at this name is about the searched folder itself, and that one was asked for.
  return place + 1 < parts.length && matches(part, name) ? skipAny(parts, place + 1) : []
}

/** A place, and those behind it that are reached when `**` stands for nothing. */
function skipAny(parts: readonly string[], place: number): number[] {
  const isAny = parts[place] === '**' && place + 1 < parts.length
  return isAny ? [place, ...skipAny(parts, place + 1)] : [place]
}

function matches(glob: string, name: string): boolean {
  try {
    return compileGlob(glob)(name)
  } catch {
    return false
  }
}
