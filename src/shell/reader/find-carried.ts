import { findTable } from './programs/find-table.ts'
import { type ShellWord, staticWord } from './read-word.ts'
import type { CommandDraft } from './shell-reader.ts'
import { isUnwrappable } from './unwrap.ts'

/** A command that an unknown program may run. */
export interface CarriedDraft {
  /** Index of the word that it begins at, or that holds it. */
  readonly at: number
  readonly draft: CommandDraft
}

/** Reads words, or a text for a shell, into commands. */
export interface CarriedReader {
  words(words: readonly ShellWord[]): readonly CommandDraft[]
  text(text: string): readonly CommandDraft[]
  /** It has read as much as it takes. */
  isFull(): boolean
}

/** Words of one such command; it may have more that nobody looks at. */
const MAX_WORDS = 32

/**
 * The commands that stand among the words of a program of which nothing is known: it may be a wrapper that nobody listed.
 * Every word may be the first of a command (`chronic rm -rf x`), be a text for a shell (`hyperfine 'rm -rf x'`), or hold
 * either behind an option (`--run=rm`).
 */
export function findCarried(words: readonly ShellWord[], read: CarriedReader): readonly CarriedDraft[] {
  const name = words[0]?.value
  if (name === undefined || !mayRunWords(name)) return []
  const found: CarriedDraft[] = []
  for (const [at, { value }] of words.entries()) {
    if (at === 0 || value === undefined) continue
    if (read.isFull()) break
    const rest = words.slice(at + 1, at + MAX_WORDS)
    if (at + MAX_WORDS < words.length) rest.push({ value: undefined, source: '…' })
    const add = (drafts: readonly CommandDraft[]) => found.push(...drafts.map((draft) => ({ at, draft })))
    for (const text of [value, /^--?[\w-]+=(.+)/s.exec(value)?.[1]]) {
      if (text === undefined || text === '') continue
      if (/[\s;&|]/.test(text)) add(read.text(text))
      else add(read.words([staticWord(text), ...rest]))
    }
  }
  return found
}

function mayRunWords(name: string): boolean {
  if (isUnwrappable(name)) return false
  return findTable(name)?.table.mayRunWords ?? findTable(name) === undefined
}
