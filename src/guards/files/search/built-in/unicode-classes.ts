const WORD = '\\p{L}\\p{M}\\p{Nd}\\p{Pc}'
const SPACE = '\\t-\\r \\x{85}\\p{Z}'

/** What the short classes mean in ripgrep, where they are not limited to ASCII. */
const CLASSES = new Map([
  ['w', WORD],
  ['d', '\\p{Nd}'],
  ['s', SPACE],
])

/** Writes `\w`, `\d`, `\s` and their opposites out for an engine in which they are ASCII. */
export function spellUnicodeClasses(pattern: string): string {
  let isInSet = false
  return pattern.replaceAll(/\\(.)|\[\^?\]?|\]/gsu, (part, escaped?: string) => {
    if (escaped === undefined) {
      isInSet = part !== ']'
      return part
    }
    const members = CLASSES.get(escaped.toLowerCase())
    if (members === undefined) return part
    if (escaped === escaped.toLowerCase()) return isInSet ? members : `[${members}]`
    // An opposite inside of a set cannot be written out; there it keeps its narrow meaning, but for digits.
    if (!isInSet) return `[^${members}]`
    return escaped === 'D' ? '\\P{Nd}' : part
  })
}
