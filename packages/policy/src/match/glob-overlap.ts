/** A character of a glob, or what stands for several: one that is not a slash, a name, or anything. */
type Token = string | typeof ONE | typeof NAME | typeof ANYTHING
const ONE = 0
const NAME = 1
const ANYTHING = 2

/** Longer globs are not compared: they could mean any file. */
const MAX_TOKENS = 512

/**
 * Says whether a glob is about files of another one: some path could match both, and a character of it that is not a `*`
 * stands for one that the other spells out. `*.env` and `.e?v` are about `.env*`; `*.ts` is not, although there may be a
 * file .env.ts: like a folder, it does not ask for it. In doubt it is. Both are absolute.
 */
export function couldName(glob: string, denied: string): boolean {
  const left = tokensOf(glob)
  const right = tokensOf(denied)
  if (left.length > MAX_TOKENS || right.length > MAX_TOKENS) return true
  // For each position in `right`: how the rests of both globs could match the same text.
  let after = endsOf(right)
  for (const token of left.toReversed()) {
    const now = new Array<Match>(right.length + 1)
    for (let at = right.length; at >= 0; at--) {
      const other = right[at]
      now[at] = Math.max(
        isLong(token) ? after[at]! : NO_MATCH,
        isLong(token) && other !== undefined && canBe(token, other) ? now[at + 1]! : NO_MATCH,
        isLong(other) ? now[at + 1]! : NO_MATCH,
        isLong(other) && canBe(other!, token) ? after[at]! : NO_MATCH,
        !isLong(token) && other !== undefined && !isLong(other) && canBe(token, other)
          ? named(other, after[at + 1]!)
          : NO_MATCH,
      )
    }
    after = now
  }
  return after[0] === NAMED
}

type Match = number
const NO_MATCH = 0
const SOME_MATCH = 1
const NAMED = 2

/** What a character that is spelt out makes of the match behind it. */
function named(token: Token, rest: Match): Match {
  return rest !== NO_MATCH && typeof token === 'string' && token !== '/' ? NAMED : rest
}

/** Where in a glob nothing more is needed. */
function endsOf(tokens: readonly Token[]): Match[] {
  const ends = new Array<Match>(tokens.length + 1)
  ends[tokens.length] = SOME_MATCH
  for (let at = tokens.length - 1; at >= 0; at--) ends[at] = isLong(tokens[at]) ? ends[at + 1]! : NO_MATCH
  return ends
}

function isLong(token: Token | undefined): boolean {
  return token === NAME || token === ANYTHING
}

/** Says whether one token could stand for another, or for a part of it. */
function canBe(token: Token, other: Token): boolean {
  if (token === ANYTHING || other === ANYTHING || token === other) return true
  if (typeof token === 'string' && typeof other === 'string') return false
  return token !== '/' && other !== '/'
}

/** A set of characters counts as any one of them, and a list of choices as anything. */
function tokensOf(glob: string): Token[] {
  const parts = glob.matchAll(/\/\*\*+$|\*\*+\/?|\*|\?|\[[^\]/]+\]|\{[^}]*\}|\\.|./gs)
  return Array.from(parts, ([part]) => {
    if (part === '*') return NAME
    if (part === '?') return ONE
    if (part.length === 1) return part
    if (part.startsWith('\\')) return part.slice(1)
    return part.startsWith('[') ? ONE : ANYTHING
  })
}
