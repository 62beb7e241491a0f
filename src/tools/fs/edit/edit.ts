/** One replacement in a text. */
export interface Edit {
  readonly oldText: string
  readonly newText: string
  readonly replaceAll?: boolean
}

/** A part of a text, from a character to the one after its last, and what takes its place. */
export interface Replacement {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** How exactly a text was found; each step forgives more than the one before. */
export type Rung = 'exact' | 'trailing-space' | 'unicode' | 'indentation'

/** The most places of one text that are looked at. */
export const MAX_PLACES = 100_000
