/** What a text may hold before reading it takes noticeable time: both parsers are quadratic in some of these. */
const LIMITS = [
  { what: 'here-documents', sign: /<</g, most: 50 },
  { what: 'backticks', sign: /`/g, most: 500 },
] as const

const LONGEST = 65_536
const MOST_BRACKETS = 1_000
const DEEPEST_BRACKETS = 40

/** Why a text is not read at all: it is too long, or would take too long. */
export function findComplexity(text: string): string | undefined {
  if (text.length > LONGEST) return `it has ${text.length} characters, the most that are read are ${LONGEST}`
  for (const { what, sign, most } of LIMITS) {
    if (hasMore(text, sign, most)) return `it has more than ${most} ${what}`
  }
  return bracketsOf(text, '(', ')') ?? bracketsOf(text, '{', '}')
}

function hasMore(text: string, sign: RegExp, most: number): boolean {
  sign.lastIndex = 0
  for (let count = 0; count <= most; count++) if (sign.exec(text) === null) return false
  return true
}

/** Quotes are not looked at: a text with so many brackets is rare enough to ask for. */
function bracketsOf(text: string, open: string, close: string): string | undefined {
  let count = 0
  let depth = 0
  for (const character of text) {
    if (character === close && depth > 0) depth--
    if (character !== open) continue
    count++
    depth++
    if (depth > DEEPEST_BRACKETS) return `it has ${open} more than ${DEEPEST_BRACKETS} deep`
    if (count > MOST_BRACKETS) return `it has ${open} more than ${MOST_BRACKETS} times`
  }
  return undefined
}
