/** A character of a word, or something that only the run would tell. */
export interface Atom {
  /** Undefined where only the run would tell. */
  readonly text: string | undefined
  /** It was not quoted: `{`, `,` and `}` mean braces. */
  readonly isBare: boolean
  /** It stands for file names. */
  readonly isGlob?: boolean
  /** Nobody should rely on it. */
  readonly isGuess?: boolean
}

const MOST_WORDS = 64
const LONGEST_NUMBER = 9

/** Braces as bash expands them, `a{b,c}` to `ab` and `ac`; undefined where that would be too many words. */
export function expandBraces(atoms: readonly Atom[]): readonly (readonly Atom[])[] | undefined {
  for (let open = 0; open < atoms.length; open++) {
    if (!isBare(atoms[open], '{')) continue
    const choices = choicesAt(atoms, open)
    if (choices === undefined) continue
    return combine(atoms.slice(0, open), choices.items, atoms.slice(choices.end + 1))
  }
  return [atoms]
}

interface Choices {
  readonly items: readonly (readonly Atom[])[]
  /** Where the closing brace stands. */
  readonly end: number
}

function combine(
  before: readonly Atom[],
  items: readonly (readonly Atom[])[],
  after: readonly Atom[],
): readonly (readonly Atom[])[] | undefined {
  const tails = expandBraces(after)
  if (tails === undefined || items.length * tails.length > MOST_WORDS) return undefined
  const words: (readonly Atom[])[] = []
  for (const item of items) {
    const middles = expandBraces(item)
    if (middles === undefined || words.length + middles.length * tails.length > MOST_WORDS) return undefined
    for (const middle of middles) for (const tail of tails) words.push([...before, ...middle, ...tail])
  }
  return words
}

/** What stands between this brace and its closing one, when that is a list or a range. */
function choicesAt(atoms: readonly Atom[], open: number): Choices | undefined {
  let depth = 0
  let from = open + 1
  const items: (readonly Atom[])[] = []
  for (let at = open; at < atoms.length; at++) {
    if (isBare(atoms[at], '{')) depth++
    if (isBare(atoms[at], ',') && depth === 1) {
      items.push(atoms.slice(from, at))
      from = at + 1
    }
    if (!isBare(atoms[at], '}') || --depth > 0) continue
    const last = atoms.slice(from, at)
    const list = items.length > 0 ? [...items, last] : rangeOf(last)
    return list && { items: list, end: at }
  }
  return undefined
}

function rangeOf(atoms: readonly Atom[]): (readonly Atom[])[] | undefined {
  const text = atoms.every((atom) => atom.isBare && atom.text !== undefined)
    ? atoms.map((atom) => atom.text).join('')
    : ''
  const match = /^(?:(-?\d+)\.\.(-?\d+)|([a-zA-Z])\.\.([a-zA-Z]))(?:\.\.(-?\d+))?$/.exec(text)
  if (match === null) return undefined
  const [, low, high, first, last, step] = match
  const isLetters = first !== undefined
  const from = isLetters ? first.charCodeAt(0) : Number(low)
  const to = isLetters ? last!.charCodeAt(0) : Number(high)
  const by = Math.abs(Number(step ?? 1)) || 1
  const count = Math.floor(Math.abs(to - from) / by) + 1
  // More than can be looked at, or than bash may count to: a word that nobody knows, which `combine` gives up on.
  if (count > MOST_WORDS || [low, high, step].some((number = '') => number.length > LONGEST_NUMBER))
    return Array.from({ length: MOST_WORDS + 1 }, () => [])
  const width = isLetters ? 0 : widthOf(low!, high!)
  return Array.from({ length: count }, (_, index) => {
    const value = from + (to < from ? -1 : 1) * by * index
    const word = isLetters ? String.fromCharCode(value) : pad(value, width)
    return [...word].map((character) => ({ text: character, isBare: false }))
  })
}

/** `{01..10}` keeps its zeros. */
function widthOf(...ends: string[]): number {
  return ends.some((end) => /^-?0\d/.test(end)) ? Math.max(...ends.map((end) => end.length)) : 0
}

function pad(value: number, width: number): string {
  const sign = value < 0 ? '-' : ''
  return sign + String(Math.abs(value)).padStart(width - sign.length, '0')
}

function isBare(atom: Atom | undefined, text: string): boolean {
  return atom?.isBare === true && atom.text === text
}
