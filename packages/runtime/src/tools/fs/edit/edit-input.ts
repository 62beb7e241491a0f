import { z } from 'zod'
import { pathSchema } from '../file-arguments.ts'

/** One replacement in a text. */
export interface Edit {
  readonly oldText: string
  readonly newText: string
  readonly replaceAll?: boolean
}

/** A range of a text, end exclusive, and its replacement. */
export interface Replacement {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** How exactly a text was found; each level tolerates more than the one before. */
export type MatchLevel = 'exact' | 'trailing-space' | 'unicode' | 'indentation'

/** Maximum number of places in one text. */
export const MAX_PLACES = 100_000

const MAX_CHARS = 1_048_576
const text = z.string().max(MAX_CHARS)

const oldText = text
  .min(1)
  .describe('The text to replace, exactly as it stands in the file, line breaks and indentation included.')
const newText = text.describe('The text to put in its place.')
const replaceAll = z
  .boolean()
  .optional()
  .describe('Replace every place where the old text stands; else it must be unique.')

const DIFFERENT = { message: 'the new text must be different from the old text' }

const edits = z
  .array(z.strictObject({ oldText, newText, replaceAll }).refine((edit) => edit.oldText !== edit.newText, DIFFERENT))
  .min(1)
  .max(100)
  .optional()
  .describe('Several edits in one call, each matched against the file as it is; all of them happen or none.')

/** Arguments of an edit: one replacement, or several in `edits`. */
export const editInput = z
  .strictObject({
    path: pathSchema('The file to edit.'),
    oldText: oldText.optional(),
    newText: newText.optional(),
    replaceAll,
    edits,
    indentation: z
      .boolean()
      .optional()
      .describe('Find the old text in another indentation, too, and keep the one of the file.'),
  })
  .refine((input) => input.oldText === undefined || input.oldText !== input.newText, DIFFERENT)
  .refine(isOneForm, { message: 'needs either the old and the new text, or edits' })

/** The same arguments with the names of the coding dialect. */
export const codingEditInput = z.strictObject({
  path: pathSchema('The file to edit.'),
  oldString: oldText.optional(),
  newString: newText.optional(),
  replaceAll,
  edits: z
    .array(z.preprocess(useOwnNames, z.strictObject({ oldText, newText, replaceAll })))
    .min(1)
    .max(100)
    .optional()
    .describe('Several edits in one call, each matched against the file as it is; all of them happen or none.'),
})

/** The two forms of arguments for edits. */
interface EditForms extends Partial<Edit> {
  readonly edits?: readonly Edit[]
}

/** The edits of a call, from either form. */
export function editsOf({ oldText, newText, replaceAll, edits }: EditForms): readonly Edit[] {
  return edits ?? [{ oldText: oldText!, newText: newText!, replaceAll }]
}

function isOneForm({ oldText, newText, replaceAll, edits }: EditForms): boolean {
  if (edits) return oldText === undefined && newText === undefined && replaceAll === undefined
  return oldText !== undefined && newText !== undefined
}

const OWN_NAMES = new Map([
  ['oldString', 'oldText'],
  ['old_string', 'oldText'],
  ['newString', 'newText'],
  ['new_string', 'newText'],
  ['replace_all', 'replaceAll'],
])

function useOwnNames(edit: unknown): unknown {
  if (typeof edit !== 'object' || edit === null || Array.isArray(edit)) return edit
  return Object.fromEntries(Object.entries(edit).map(([key, value]) => [OWN_NAMES.get(key) ?? key, value]))
}
