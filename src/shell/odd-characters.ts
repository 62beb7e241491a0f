import { escapeLine } from '../lib/escape-text.ts'

/** Control, format and invisible characters, lone surrogates, and blanks that separate no words; tab and line break are none. */
const ODD = /[^\P{Cc}\t\n]|[\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}]|[^\P{Zs} ]/gu

const MAX_SHOWN = 3

/** Says which characters of a text a person would not see as they are; undefined when there are none. */
export function findOddCharacters(text: string): string | undefined {
  const found = new Set<string>()
  for (const [character] of text.matchAll(ODD)) {
    found.add(character)
    if (found.size === MAX_SHOWN) break
  }
  if (found.size === 0) return undefined
  return `it has characters that do not show: ${[...found].map(show).join(', ')}`
}

function show(character: string): string {
  const escaped = escapeLine(character)
  return escaped === character ? `\\u{${character.codePointAt(0)!.toString(16)}}` : escaped
}
