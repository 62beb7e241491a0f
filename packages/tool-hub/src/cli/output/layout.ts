import { revealLine } from '@tool-hub/core/lib'
import { eastAsianWidth } from 'get-east-asian-width'

/** A colour mark of ours, which takes no room, or one character. Foreign text is escaped before it comes here. */
const PIECE = /\u001b\[[0-9;]*m|./gsu
/** Marks, joiners, and the vowels and finals of a Korean syllable, which are drawn with the character before them. */
const WITHOUT_ROOM = /^[\p{M}\u200b-\u200d\u1160-\u11ff\ud7b0-\ud7ff]$/u

const EAST_ASIAN =
  '[\\p{scx=Han}\\p{scx=Hiragana}\\p{scx=Katakana}\\p{scx=Hangul}\\p{scx=Bopomofo}\\u3000-\\u303f\\uff01-\\uff60]'
/** Signs that close or lengthen what is before them: no line begins with one. */
const NEVER_FIRST =
  '[\\p{Pe}\\p{Pf}\\p{M}、。，．！？：；・ー～〜々〻ゝゞヽヾぁぃぅぇぉっゃゅょゎゕゖァィゥェォッャュョヮヵヶ｡､･ﾞﾟｰ]'
const NEVER_LAST = '[\\p{Ps}\\p{Pi}]'
/** Where a line of Chinese, Japanese or Korean may end, as such text has no blanks. */
const BETWEEN_CHARACTERS = new RegExp(
  `(?<=(?!${NEVER_LAST})${EAST_ASIAN}\\p{M}*)(?=(?!${NEVER_FIRST})${EAST_ASIAN})`,
  'u',
)
const AFTER_SIGN = /(?<=[、。，！？：；])(?![\p{Pe}\p{Pf}、。，！？：；])/u

/** For a terminal that does not report its width, as some serial lines and containers. */
const WITHOUT_WIDTH = 80

/** How many characters a line has room for: as many as the terminal says; in a pipe a line is as long as it is. */
export function lineWidth(
  stream: NodeJS.WriteStream = process.stdout,
  inPipe: number = Number.POSITIVE_INFINITY,
): number {
  return stream.isTTY ? stream.columns || WITHOUT_WIDTH : inPipe
}

/** Cuts a line that is too long for the terminal; its colours stay whole. */
export function fitLine(line: string, width = lineWidth()): string {
  if (widthOf(line) <= width) return line
  let room = width - 1
  const kept = pieces(line).filter((piece) => {
    const columns = columnsOf(piece)
    if (columns === 0) return true
    room -= columns
    return room >= 0
  })
  return `${kept.join('')}…`
}

/** Breaks a text between words, or East Asian characters, where the terminal ends; every line after the first begins with `indent` blanks. */
export function wrapText(text: string, indent = 0, width = lineWidth()): string {
  if (width === Number.POSITIVE_INFINITY) return text
  return text
    .split('\n')
    .map((line) => wrapLine(line, ' '.repeat(indent), width))
    .join('\n')
}

/** The columns that a text takes on a terminal. */
export function widthOf(text: string): number {
  return pieces(text).reduce((sum, piece) => sum + columnsOf(piece), 0)
}

function wrapLine(line: string, indent: string, width: number): string {
  const lines = ['']
  for (const word of line.split(/(?<=\S)(?= )/).flatMap(unbreakables)) {
    const last = lines.at(-1)!
    if (last.trim() === '' || widthOf(last + word) <= width) lines[lines.length - 1] = last + word
    else lines.push(indent + word.trimStart())
  }
  return lines.join('\n')
}

/** What stays on one line: a word without East Asian characters, and a clause that has a path in it, to be copied. */
function unbreakables(word: string): string[] {
  return word.split(AFTER_SIGN).flatMap((clause) => (/[/\\]/.test(clause) ? clause : clause.split(BETWEEN_CHARACTERS)))
}

function pieces(text: string): string[] {
  return text.match(PIECE) ?? []
}

function columnsOf(piece: string): number {
  if (piece.startsWith('\u001b') || WITHOUT_ROOM.test(piece)) return 0
  return eastAsianWidth(piece.codePointAt(0)!)
}

/** Rows as aligned columns; on a terminal each row keeps to one line. */
export function table(rows: readonly (readonly string[])[]): string {
  const safe = rows.map((row) => row.map(revealLine))
  const widths = (safe[0] ?? []).map((_, column) => Math.max(...safe.map((row) => widthOf(row[column]!))))
  return safe
    .map((row) => row.map((cell, column) => cell + ' '.repeat(widths[column]! - widthOf(cell))).join('  '))
    .map((line) => fitLine(line.trimEnd()))
    .join('\n')
}

/** A time to the minute, in UTC: `2027-01-31 09:00`. */
export function minuteOf(time: number): string {
  return new Date(time).toISOString().slice(0, 16).replace('T', ' ')
}

/** `1 call`, `2 calls`. */
export function countNoun(amount: number, noun: string): string {
  return `${amount} ${noun}${amount === 1 ? '' : 's'}`
}
