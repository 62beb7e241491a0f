import type { RuleSource } from '../rule.ts'
import { formatPlace, type KeyPath, type Position } from './problem.ts'

/** Where a key or its value stands; nothing when the format does not tell. */
export type Locate = (path: KeyPath, part?: 'key' | 'value') => Position | undefined

/** A parsed file: its data, nothing checked yet, and how to find a place in it again. */
export interface ConfigDocument {
  /** Absolute. */
  readonly file: string
  /** How messages and rules name it: relative to the working folder when it is below. */
  readonly label: string
  readonly value: unknown
  readonly locate: Locate
}

/** The source that a rule at `path` carries for the rest of its life. */
export function sourceOf({ label, locate }: ConfigDocument, path: KeyPath): RuleSource {
  const position = locate(path)
  return position ? { file: label, line: position.line } : { file: formatPlace(label, path, undefined) }
}
