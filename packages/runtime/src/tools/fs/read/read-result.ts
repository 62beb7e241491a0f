import { hash } from 'node:crypto'
import type { Content, Evidence, ModelLimit } from '@tool-hub/core'
import { z } from 'zod'
import { isSecondHalf } from '../../util/cut-text.ts'

const count = z.int().min(0)

/** Result of reading; `page`, `range` and `image` only if a part or an image was requested. */
export const readResult = z.strictObject({
  path: z.string().describe('The path as it was given.'),
  text: z.string().describe('The text; of a page, its lines without the last line end.'),
  bytes: count.describe('Bytes of the whole file.'),
  encoding: z
    .string()
    .optional()
    .describe('utf-8-bom, utf-16le, utf-16be or the one that was named; missing for UTF-8.'),
  page: z
    .strictObject({
      from: count.describe('1-based number of the first line.'),
      to: count.describe('1-based number of the last line; smaller than from when there is none.'),
      totalLines: count.describe('Lines of the whole file.'),
      next: count.optional().describe('The line to go on with; missing at the end.'),
      tooLong: z
        .strictObject({ line: count, byteOffset: count, bytes: count })
        .optional()
        .describe('A line that is over the limit by itself; byteOffset and byteLimit read it.'),
    })
    .optional(),
  range: z
    .strictObject({
      byteOffset: count.describe('Where the text begins in the file.'),
      bytes: count.describe('Bytes of the text in the file.'),
      next: count.optional().describe('The byte to go on with; missing at the end.'),
    })
    .optional(),
  image: z
    .strictObject({
      mediaType: z.enum(['image/png', 'image/jpeg', 'image/gif', 'image/webp']),
      width: count.describe('Pixels.'),
      height: count.describe('Pixels.'),
      data: z.string().describe('The file in base64.'),
    })
    .optional(),
})

/** The content of a file as tools return it. */
export type ReadResult = z.infer<typeof readResult>

/** What fits into the text that a model receives of one call, with a note. */
export const RANGE_BYTES = 25_600

/** Space for the note about the part that is shown. */
const NOTE_CHARS = 500

/** The default form: the text, and what is left out. */
export function showPlain(result: ReadResult, limit: ModelLimit): Content {
  const { text, page, range } = result
  if (page) return showPage(result, page, { ...limit, key: 'offset' })
  if (range) return withNotes(text, rangeNotes(range, result.bytes))
  const whole = withNotes(text, encodingNotes(result))
  if (whole.length <= limit.maxChars) return whole
  const room = Math.max(1, limit.maxChars - NOTE_CHARS)
  const shown = text.slice(0, text.lastIndexOf('\n', room - 1) + 1 || wholeEnd(text, room))
  const left = `${text.length - shown.length} of ${text.length} characters left out. ${restNote(shown, result)}`
  return withNotes(shown, [left, ...encodingNotes(result)])
}

/** How to continue reading: by lines, or within a first line that is itself too long. */
function restNote(shown: string, { encoding }: ReadResult): string {
  if (shown.endsWith('\n')) return `Use offset=${shown.split('\n').length} to read on.`
  if (isConverted(encoding)) return 'Use offset=2 to read on after its first line.'
  const byteOffset = Buffer.byteLength(shown) + (encoding === 'utf-8-bom' ? 3 : 0)
  return `Use byteOffset=${byteOffset} to read on.`
}

/** A position to cut at that does not split a character. */
function wholeEnd(text: string, end: number): number {
  return isSecondHalf(text, end) ? end - 1 : end
}

/** The form of the coding dialect: numbered lines, and images. */
export function showNumbered(result: ReadResult, limit: ModelLimit): Content {
  const { path, text, bytes, page, range, image } = result
  if (image) {
    const { mediaType, data } = image
    return [
      { type: 'text', text: `MEDIA:${path}` },
      { type: 'image', data, mediaType },
    ]
  }
  if (range) return withNotes(text, rangeNotes(range, bytes))
  if (!page) return text
  return showPage(result, page, { ...limit, key: 'offset', isNumbered: true })
}

/** The form of the files dialect: the text alone, and a note on what is left out. */
export function showLines(result: ReadResult, limit: ModelLimit): Content {
  const { text, page } = result
  if (!page) return withNotes(text, encodingNotes(result))
  return showPage({ ...result, text: text + lastLineEnd(result, page) }, page, { ...limit, key: 'start_line' })
}

/** A page omits the end of its last line; the missing bytes of a whole file show which line end it has. */
function lastLineEnd({ text, bytes, encoding }: ReadResult, { from, to, totalLines }: Page): string {
  if (from !== 1 || to !== totalLines || isConverted(encoding)) return ''
  const missing = bytes - Buffer.byteLength(text) - (encoding === 'utf-8-bom' ? 3 : 0)
  return ['', '\n', '\r\n'][missing] ?? ''
}

type Page = NonNullable<ReadResult['page']>

/** Which lines of a page are shown, in which form, and the argument that continues. */
interface PageForm extends ModelLimit {
  readonly key: string
  readonly isNumbered?: boolean
}

/** As many whole lines of the page as fit, so that the model can continue after the last line it has seen. */
function showPage(result: ReadResult, page: Page, { maxChars, key, isNumbered = false }: PageForm): Content {
  const { from, to } = page
  if (to < from) return withNotes('', [...pageNotes(page, key), ...encodingNotes(result)])
  const width = String(to).length
  const number = (line: string, index: number) => `${String(from + index).padStart(width)}\t${line}`
  const lines = isNumbered ? result.text.split('\n').map(number) : result.text.split('\n')
  const whole = withNotes(lines.join('\n'), [...pageNotes(page, key), ...encodingNotes(result)])
  const count = whole.length <= maxChars ? lines.length : fitting(lines, maxChars - NOTE_CHARS)
  if (count === lines.length) return whole
  const shown = { ...page, to: from + count - 1, next: from + count, tooLong: undefined }
  return withNotes(lines.slice(0, count).join('\n'), [...pageNotes(shown, key), ...encodingNotes(result)])
}

/** How many of the lines fit; at least the first, which is cut like any text if it is too long. */
function fitting(lines: readonly string[], room: number): number {
  let chars = 0
  let count = 0
  for (const line of lines) {
    chars += line.length + 1
    if (chars > room && count > 0) break
    count += 1
  }
  return count
}

function pageNotes({ from, to, totalLines, next, tooLong }: Page, key: string): string[] {
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
  return `Line ${line} has ${bytes} bytes, too many for one page. Use byteOffset=${byteOffset} byteLimit=${Math.min(bytes, RANGE_BYTES)} to read in it. ${past}`
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

/** Whether the bytes of the file are not those of the text. */
function isConverted(encoding: string | undefined): boolean {
  return encoding !== undefined && encoding !== 'utf-8-bom'
}

function withNotes(text: string, notes: readonly string[]): string {
  if (notes.length === 0) return text
  const gap = text === '' || text.endsWith('\n\n') ? '' : text.endsWith('\n') ? '\n' : '\n\n'
  return `${text}${gap}[${notes.join(' ')}]`
}

const LINES = 20
/** Enough for the first lines of any text that people write. */
const MAX_CHARS = 65_536

/** Evidence that a text was read: its size, and the hash of its first lines. */
export function textEvidence(path: string, text: string, what: string): Evidence {
  let end = 0
  for (let line = 0; line < LINES && end !== -1; line++) end = text.indexOf('\n', end) + 1 || -1
  const head = text.slice(0, Math.min(end === -1 ? text.length : end, MAX_CHARS))
  const sha256 = hash('sha256', head, 'hex')
  return { type: 'file', ref: path, summary: `${what}, sha256 of the first ${LINES} lines ${sha256}` }
}
