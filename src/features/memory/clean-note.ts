import { type FeatureHost, ToolError } from '../../core/index.ts'
import type { MemorySettings } from './memory-settings.ts'

const MAX_TAGS = 16
const MAX_TAG_LENGTH = 64

/** A text that a store can hold: whole characters, no secrets, not too long. */
export function cleanContent(
  content: string,
  { noteChars }: Pick<MemorySettings, 'noteChars'>,
  host: Pick<FeatureHost, 'redact'>,
): { readonly content: string; readonly hidSecret: boolean } {
  const clean = wholeText(content)
  const redacted = host.redact(clean)
  if (redacted.trim() === '')
    throw invalid('A note says something: this one is empty.', 'Write what is to be remembered.')
  if (redacted.length > noteChars) {
    const message = `The note has ${redacted.length} characters, the limit is ${noteChars}.`
    throw invalid(message, 'Write the gist of it, or several notes; keep long texts in a file.')
  }
  return { content: redacted, hidSecret: redacted !== clean }
}

/** Tags without blanks around them and without doubles. */
export function cleanTags(tags: readonly string[], host: Pick<FeatureHost, 'redact'>): readonly string[] {
  const clean = tags.map((tag) => host.redact(wholeText(tag)).trim()).filter((tag) => tag !== '')
  const distinct = [...new Set(clean)]
  if (distinct.length > MAX_TAGS)
    throw invalid(`A note has at most ${MAX_TAGS} tags, not ${distinct.length}.`, 'Use fewer tags.')
  const long = distinct.find((tag) => tag.length > MAX_TAG_LENGTH)
  if (long === undefined) return distinct
  throw invalid(`A tag has at most ${MAX_TAG_LENGTH} characters, not ${long.length}.`, 'Use a shorter one.')
}

/** Halves of characters and NUL, which no file holds as they are, become the mark of what was lost. */
export function wholeText(text: string): string {
  return text.replace(/[\0\p{Surrogate}]/gu, '\ufffd')
}

function invalid(message: string, hint: string): ToolError {
  return new ToolError('INPUT_SCHEMA_INVALID', message, { hint })
}
