// C0 but tab and line break, DEL and C1, every format character (bidi, zero-width, tags), line separators, and whatever
// else is drawn as nothing; but for the selectors of emoji, which follow what they change.
const UNSAFE = /[^\P{Cc}\t\n]|\p{Cf}|\p{Zl}|\p{Zp}|\p{Cs}|(?![\uFE00-\uFE0F])\p{Default_Ignorable_Code_Point}/gu
const UNSAFE_OR_BREAK = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]|(?![\uFE00-\uFE0F])\p{Default_Ignorable_Code_Point}/gu

/** Text of a tool, a model or a file, made harmless for a terminal: it can neither drive it nor hide or reorder words. */
export function escapeText(text: string): string {
  return text.replace(UNSAFE, escapeCharacter)
}

/** The same on one line, so that no text can fake a line of ours. */
export function escapeLine(text: string): string {
  return text.replace(UNSAFE_OR_BREAK, escapeCharacter)
}

/** The same in JSON text, where it stays the same JSON. */
export function escapeJson(json: string): string {
  return json.replace(UNSAFE, (character) =>
    [...Array(character.length).keys()].map((index) => unit(character.charCodeAt(index))).join(''),
  )
}

function escapeCharacter(character: string): string {
  if (character === '\n') return '\\n'
  if (character === '\r') return '\\r'
  if (character === '\t') return '\\t'
  return `\\u{${character.codePointAt(0)!.toString(16)}}`
}

function unit(code: number): string {
  return `\\u${code.toString(16).padStart(4, '0')}`
}
