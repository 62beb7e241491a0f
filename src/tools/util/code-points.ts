/** Compares two texts by code points, as RFC 9535 and JMESPath order them; UTF-16 order differs above U+D7FF. */
export function compareText(left: string, right: string): number {
  const shorter = Math.min(left.length, right.length)
  for (let index = 0; index < shorter; index++) {
    const difference = rank(left.charCodeAt(index)) - rank(right.charCodeAt(index))
    if (difference !== 0) return difference
  }
  return left.length - right.length
}

/** How many code points a text has. */
export function countCodePoints(text: string): number {
  let count = text.length
  for (let index = 1; index < text.length; index++) if (isSecondHalf(text, index)) count--
  return count
}

/** True when the unit at `index` is the second half of a code point. */
export function isSecondHalf(text: string, index: number): boolean {
  const unit = text.charCodeAt(index)
  if (!(unit >= 0xdc00 && unit <= 0xdfff)) return false
  const before = text.charCodeAt(index - 1)
  return before >= 0xd800 && before <= 0xdbff
}

/** Puts the surrogates, which stand for everything above U+FFFF, behind U+E000 to U+FFFF. */
function rank(unit: number): number {
  if (unit < 0xd800) return unit
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800
}
