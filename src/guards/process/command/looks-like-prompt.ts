import { plainText } from '../output/plain-text.ts'

// A sign that asks, a choice or a default in brackets, or words that say so; each looked for at the end of a short text only.
const ASKS = /[?:>$#»❯][ \t]?$/u
const CHOICE = /[[(][A-Za-z][A-Za-z0-9 ]{0,20}(?:[/|,] ?[A-Za-z][A-Za-z0-9 ]{0,20})+[\])][ \t]*$/u
const DEFAULT = /[?:] ?[[(][^\])\n]{1,40}[\])][ \t]*$/u
const WORDS = /\b(?:press|hit) [^\n]{1,60}$|\bpass(?:word|phrase|code)\b[^\n]{0,60}$/iu
// Percentages, counts and dots are how waiting looks from the other side: it works.
const WORKS = /(?:\d ?%|\.{2,}|\d+\/\d+|…)[\])]?[ \t]*$/u

/** The end of what a command wrote reads as if it waited for an answer: a last line without an end that asks. */
export function looksLikePrompt(end: Uint8Array): boolean {
  const line = plainText(Buffer.from(end).toString('utf8')).split('\n').at(-1)!
  if (line.trim() === '' || (WORKS.test(line) && !WORDS.test(line))) return false
  return ASKS.test(line) || CHOICE.test(line) || DEFAULT.test(line) || WORDS.test(line)
}
