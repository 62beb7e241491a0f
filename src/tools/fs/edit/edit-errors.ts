import { ToolError } from '../../../core/index.ts'
import { countOf, quote } from '../quote.ts'
import { MAX_PLACES, type Replacement } from './edit.ts'
import { findNearest } from './find-nearest.ts'
import { lineNumbers } from './line-numbers.ts'

/** Which edit of a call is meant, and in which file. */
export interface EditName {
  readonly path: string
  /** As a sentence begins with it: `The old text`, or `The old text of edits[2]`; dialects call the argument otherwise. */
  readonly name: string
}

const MAX_LINES = 10
const LINE_CHARS = 120

/** The old text is nowhere: says where it nearly is, and what differs. */
export function notFound(file: string, oldText: string, { path, name }: EditName): ToolError {
  const near = findNearest(file, oldText).map(({ line, differs: { line: other, has, wanted } }) => {
    const own = has === undefined ? 'the file ends before it' : `the file has ${quote(has, LINE_CHARS)}`
    return `near line ${line}, where line ${other} differs: ${own}, the old text has ${quote(wanted, LINE_CHARS)}`
  })
  const where = near.length > 0 ? ` Nearest: ${near.join('; ')}.` : ' Nothing in the file is like it.'
  return new ToolError('NOT_FOUND', `${name} is not in ${quote(path)}.${where}`, {
    hint: 'Read the file there and copy the text exactly, without line numbers. Nothing was changed.',
  })
}

/** The old text stands at several places. */
export function notUnique(file: string, places: readonly Replacement[], { path, name }: EditName): ToolError {
  const numberOf = lineNumbers(file)
  const lines = places.slice(0, MAX_LINES).map(({ start }) => numberOf(start))
  const more = places.length > MAX_LINES ? ', …' : ''
  const many = places.length >= 1_000 ? 'at least 1000' : String(places.length)
  const message = `${name} stands ${many} times in ${quote(path)}, at lines ${lines.join(', ')}${more}.`
  return new ToolError('CONFLICT', message, {
    hint: 'Give more lines around the one you mean, or set replaceAll to change all of them. Nothing was changed.',
  })
}

/** Two edits want the same characters. */
export function overlapping(file: string, place: Replacement, names: readonly string[], path: string): ToolError {
  const line = lineNumbers(file)(place.start)
  return new ToolError('CONFLICT', `${names.join(' and ')} overlap at line ${line} of ${quote(path)}.`, {
    hint: 'All edits are matched against the file as it is; make one edit of the two. Nothing was changed.',
  })
}

/** Replacing everything would take too long or too much room. */
export function tooMuch(bytes: number, limit: number, path: string): ToolError {
  return new ToolError('FILE_TOO_LARGE', `${quote(path)} would have ${bytes} bytes, the limit is ${limit}.`, {
    hint: 'Make a smaller change. Nothing was changed.',
    details: { bytes, limit },
  })
}

/** More places than one call may change. */
export function tooMany({ path, name }: EditName): ToolError {
  return new ToolError(
    'INPUT_SCHEMA_INVALID',
    `${name} stands more than ${countOf(MAX_PLACES, 'time')} in ${quote(path)}.`,
    {
      hint: 'Give a longer text to replace. Nothing was changed.',
    },
  )
}

/** What would be written is what is there. */
export function nothingChanges(path: string): ToolError {
  return new ToolError('INPUT_SCHEMA_INVALID', `${quote(path)} would stay as it is.`, {
    hint: 'The new text, with the line ends of the file, is what the file has already.',
  })
}
