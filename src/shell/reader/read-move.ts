import { baseName } from '../base-name.ts'
import type { ShellWord } from './read-word.ts'

/** What a command does to the folder that the shell is in. */
export type Move = 'none' | 'unknown' | { readonly to: string }

/** Reads `cd`; home, back, along the directory stack, and what only the run would tell is unknown. */
export function readMove(words: readonly ShellWord[]): Move {
  const [name, ...rest] = words
  if (name?.value === undefined) return words.length === 0 ? 'none' : 'unknown'
  const base = baseName(name.value)
  if (base !== 'cd' && base !== 'pushd' && base !== 'popd') return 'none'
  const [target, ...more] = rest.filter(({ value }) => value !== '--')
  const to = target?.value
  if (base === 'popd' || more.length > 0 || to === undefined || /^[-+~]|^$/.test(to)) return 'unknown'
  return { to }
}
