import { RE2JS } from 're2js'
import type { Meter } from '../meter.ts'
import { invalidPath } from './invalid-path.ts'

const LONGEST_PATTERN = 1000
const MOST_REPEATS = 1000

const ESCAPE = String.raw`\\[()*+\-.?[\\\]^nrt{|}]`
const CATEGORY = String.raw`\\[pP]\{(?:L[lmotu]?|M[cen]?|N[dlo]?|P[cdefios]?|Z[lps]?|S[ckmo]?|C[cfno]?)\}`
const MEMBER = String.raw`(?:[^\-[\\\]\ud800-\udfff]|${ESCAPE})`
const MEMBERS = `(?:${MEMBER}(?:-${MEMBER})?|${CATEGORY})`
const CLASS = String.raw`\[\^?(?:-|${MEMBERS})${MEMBERS}*-?\]`
const NORMAL = String.raw`[^()*+.?[\\\]{|}\ud800-\udfff]`
const REPEAT = String.raw`[*+?]|\{(?<least>\d+)(?:,(?<most>\d*))?\}`

/** One step through a pattern by the grammar of RFC 9485; this regular expression is ours and takes linear time. */
const PIECE = new RegExp(
  `(?<open>\\()|(?<bar>\\|)|(?:(?<close>\\))|(?<dot>\\.)|${ESCAPE}|${CATEGORY}|${CLASS}|${NORMAL})(?<repeat>${REPEAT})?`,
  'uy',
)

/** The `match` and `search` functions of JSONPath: I-Regexp, run by an engine that takes linear time on any pattern. */
export class IRegexp {
  readonly #compiled = new Map<string, RE2JS | undefined>()
  readonly #meter: Meter

  constructor(meter: Meter) {
    this.#meter = meter
  }

  /** Whether the text as a whole (`match`) or a part of it (`search`) fits; a pattern that is no I-Regexp fits nothing. */
  fits(text: unknown, pattern: unknown, { whole }: { whole: boolean }): boolean {
    if (typeof text !== 'string' || typeof pattern !== 'string') return false
    const regexp = this.#compile(pattern)
    if (!regexp) return false
    this.#meter.spend(1 + (text.length * regexp.programSize()) / 4)
    const matcher = regexp.matcher(text)
    return whole ? matcher.matches() : matcher.find()
  }

  #compile(pattern: string): RE2JS | undefined {
    if (this.#compiled.has(pattern)) return this.#compiled.get(pattern)
    this.#meter.spend(500)
    const translated = translate(pattern)
    const regexp = translated === undefined ? undefined : compileLinear(translated)
    this.#meter.spend((regexp?.programSize() ?? 0) * 40)
    this.#compiled.set(pattern, regexp)
    return regexp
  }
}

/** I-Regexp as RE2 spells it, or nothing when the pattern does not follow the grammar. */
function translate(pattern: string): string | undefined {
  if (pattern.length > LONGEST_PATTERN)
    throw tooLarge(`has ${pattern.length} characters, the limit is ${LONGEST_PATTERN}`)
  let translated = ''
  let depth = 0
  let repeats = 0
  PIECE.lastIndex = 0
  while (PIECE.lastIndex < pattern.length) {
    const piece = PIECE.exec(pattern)
    if (!piece) return undefined
    const { open, close, dot, repeat = '', least = '0', most } = piece.groups!
    if (open) depth++
    if (close && --depth < 0) return undefined
    if (most && Number(most) < Number(least)) return undefined
    repeats += Number(most || least)
    translated += open ? '(?:' : dot ? `[^\\n\\r]${repeat}` : piece[0]
  }
  if (repeats > MOST_REPEATS) throw tooLarge(`repeats ${repeats} times in all, the limit is ${MOST_REPEATS}`)
  return depth === 0 ? translated : undefined
}

function compileLinear(translated: string): RE2JS {
  try {
    return RE2JS.compile(translated)
  } catch (cause) {
    // The grammar was checked, so this is the engine's own bound on repeats inside repeats.
    throw tooLarge(`cannot be used (${(cause as Error).message})`)
  }
}

function tooLarge(problem: string): Error {
  return invalidPath(`a pattern of match() or search() ${problem}.`)
}
