// Every control but tab and line break (C0, DEL, C1), every format character (bidi, zero-width, tags), lone surrogates,
// characters without a meaning of their own (unassigned, private use), line separators, and everything else that is
// invisible. An emoji variation selector stays only where it changes how the character before it is drawn.
const HIDDEN =
  '[^\\P{C}\\t\\n]|[\\p{Zl}\\p{Zp}]|(?!\\uFE0F)\\p{Default_Ignorable_Code_Point}|(?<![^\\P{Emoji}\\p{Emoji_Presentation}\\0-\\x7F])\\uFE0F'
// Blank or invisible in common fonts: every space but the plain one, the empty Braille cell, fillers.
const BLANK = '[^\\P{Zs} ]|[\\u2800\\uFFFC\\u{16FE4}\\u{13441}\\u{13442}\\u{1D159}]'

const UNSAFE = new RegExp(HIDDEN, 'gu')
const UNSAFE_OR_BREAK = new RegExp(`${HIDDEN}|[\\t\\n]`, 'gu')
const UNCLEAR = new RegExp(`${HIDDEN}|${BLANK}`, 'gu')
const UNCLEAR_OR_BREAK = new RegExp(`${HIDDEN}|${BLANK}|[\\t\\n]`, 'gu')

/** Makes text of a tool, model or file safe for a terminal: it cannot control it, nor hide or reorder words. */
export function escapeText(text: string): string {
  return text.replace(UNSAFE, escapeCharacter)
}

/** Like `escapeText`, on one line, so that no text can fake a line of the hub. */
export function escapeLine(text: string): string {
  return text.replace(UNSAFE_OR_BREAK, escapeCharacter)
}

/** Like `escapeText` for JSON, whose meaning does not change. */
export function escapeJson(json: string): string {
  return json.replace(UNSAFE, escapeUnits)
}

/** Like `escapeText` for text that a person decides on: no other blank looks like a plain space. */
export function revealText(text: string): string {
  return text.replace(UNCLEAR, escapeCharacter)
}

/** Like `revealText`, on one line. */
export function revealLine(text: string): string {
  return text.replace(UNCLEAR_OR_BREAK, escapeCharacter)
}

/** Like `revealText` for JSON, whose meaning does not change. */
export function revealJson(json: string): string {
  return json.replace(UNCLEAR, escapeUnits)
}

/** Returns the text of `revealText` in segments: those shown unchanged, and those shown as character codes. */
export function revealParts(text: string): { readonly text: string; readonly isEscaped: boolean }[] {
  const segments: { text: string; isEscaped: boolean }[] = []
  const add = (part: string, isEscaped: boolean) => {
    const last = segments.at(-1)
    if (last?.isEscaped === isEscaped) last.text += part
    else if (part !== '') segments.push({ text: part, isEscaped })
  }
  let end = 0
  for (const { 0: character, index } of text.matchAll(UNCLEAR)) {
    add(text.slice(end, index), false)
    add(escapeCharacter(character), true)
    end = index + character.length
  }
  add(text.slice(end), false)
  return segments
}

function escapeCharacter(character: string): string {
  if (character === '\n') return '\\n'
  if (character === '\r') return '\\r'
  if (character === '\t') return '\\t'
  return `\\u{${character.codePointAt(0)!.toString(16)}}`
}

/** As JSON writes it, by UTF-16 unit. */
function escapeUnits(character: string): string {
  const units = [...Array(character.length).keys()].map((index) => character.charCodeAt(index))
  return units.map((code) => `\\u${code.toString(16).padStart(4, '0')}`).join('')
}
