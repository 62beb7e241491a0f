import type { Content } from '../../../result.ts'
import type { ReadResult } from './read-result.ts'

/** What a model sees of a whole file; longer ones are read in parts. */
const MOST_CHARS = 30_000

/** The plain form: the text, and what is left out of it. */
export function showPlain(result: ReadResult): Content {
  const { text, page, range } = result
  if (page) return withNotes(text, [...pageNotes(page, 'offset'), ...encodingNotes(result)])
  if (range) return withNotes(text, rangeNotes(range, result.bytes))
  if (text.length <= MOST_CHARS) return withNotes(text, encodingNotes(result))
  const end = text.lastIndexOf('\n', MOST_CHARS) + 1 || MOST_CHARS
  const shown = text.slice(0, end)
  const line = shown.split('\n').length
  const left = `${text.length - end} of ${text.length} characters left out. Use offset=${line} to read on.`
  return withNotes(shown, [left, ...encodingNotes(result)])
}

/** The form of the coding dialect: numbered lines, images as they are. */
export function showNumbered(result: ReadResult): Content {
  const { path, text, bytes, page, range, image } = result
  if (image) {
    const { mediaType, width, height, data } = image
    const facts = `MEDIA:${path}\n${mediaType}, ${width} x ${height} pixels, ${bytes} bytes`
    return [
      { type: 'text', text: facts },
      { type: 'image', data, mediaType },
    ]
  }
  if (range) return withNotes(text, rangeNotes(range, bytes))
  if (!page) return text
  const numbered = page.to < page.from ? '' : numberLines(text, page.from, page.to)
  return withNotes(numbered, [...pageNotes(page, 'offset'), ...encodingNotes(result)])
}

/** The form of the files dialect: the text alone, and what is left out in its words. */
export function showLines(result: ReadResult): Content {
  const { text, page } = result
  return withNotes(text, [...(page ? pageNotes(page, 'start_line') : []), ...encodingNotes(result)])
}

function numberLines(text: string, from: number, to: number): string {
  const width = String(to).length
  return text
    .split('\n')
    .map((line, index) => `${String(from + index).padStart(width)}\t${line}`)
    .join('\n')
}

function pageNotes({ from, to, totalLines, next, tooLong }: NonNullable<ReadResult['page']>, key: string): string[] {
  if (totalLines === 0) return ['The file is empty.']
  if (from > totalLines) return [`The file has ${totalLines} lines; there is nothing from line ${from} on.`]
  const long = tooLong && longLineNote(tooLong, key)
  if (to < from) return long ? [long] : []
  const isAll = from === 1 && next === undefined
  const goOn = next === undefined || tooLong ? '' : ` Use ${key}=${next} to read on.`
  return [...(isAll ? [] : [`Showing lines ${from}-${to} of ${totalLines}.${goOn}`]), ...(long ? [long] : [])]
}

function longLineNote(
  { line, byteOffset, bytes }: { line: number; byteOffset: number; bytes: number },
  key: string,
): string {
  const past = `Use ${key}=${line + 1} to read on after it.`
  if (key !== 'offset') return `Line ${line} has ${bytes} bytes, too many to show. ${past}`
  return `Line ${line} has ${bytes} bytes, too many for one page. Use byteOffset=${byteOffset} byteLimit=${Math.min(bytes, 51_200)} to read in it. ${past}`
}

function rangeNotes({ byteOffset, bytes, next }: NonNullable<ReadResult['range']>, all: number): string[] {
  const goOn = next === undefined ? '' : ` Use byteOffset=${next} to read on.`
  return [`Showing bytes ${byteOffset}-${byteOffset + bytes} of ${all}.${goOn}`]
}

function encodingNotes({ encoding }: ReadResult): string[] {
  if (encoding === undefined) return []
  return [
    encoding === 'utf-8-bom' ? 'The file is UTF-8 with a byte order mark.' : `The file is ${encoding.toUpperCase()}.`,
  ]
}

function withNotes(text: string, notes: readonly string[]): string {
  if (notes.length === 0) return text
  const gap = text === '' || text.endsWith('\n\n') ? '' : text.endsWith('\n') ? '\n' : '\n\n'
  return `${text}${gap}[${notes.join(' ')}]`
}
