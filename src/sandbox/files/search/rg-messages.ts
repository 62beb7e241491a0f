/** What ripgrep says about a file, read from one line of its JSON. */
export type RgMessage =
  | { readonly type: 'begin'; readonly path: string | undefined }
  | { readonly type: 'match' | 'context'; readonly block: RgBlock }
  | { readonly type: 'end'; readonly isBinary: boolean }
  | { readonly type: 'summary' }
  /** More than is looked at in one piece. */
  | { readonly type: 'too-long' }

/** One line, or several that match together. */
export interface RgBlock {
  readonly bytes: Buffer
  /** Number of the first line. */
  readonly line: number
  /** Where the block begins in the file's text, its byte order mark not counted. */
  readonly offset: number
  /** Where the matches begin and end in `bytes`. */
  readonly spans: readonly { readonly start: number; readonly end: number }[]
}

interface Text {
  readonly text?: string
  readonly bytes?: string
}

interface Raw {
  readonly type: string
  readonly data: {
    readonly path?: Text
    readonly lines?: Text
    readonly line_number?: number
    readonly absolute_offset?: number
    readonly submatches?: readonly { readonly start: number; readonly end: number }[]
    readonly binary_offset?: number | null
  }
}

const MAX_LINE_BYTES = 16_000_000

/** Cuts what ripgrep writes into messages; `onMessage` returns false when it wants no more. */
export function readRgMessages(onMessage: (message: RgMessage) => boolean): (chunk: Buffer) => boolean {
  let parts: Buffer[] = []
  let length = 0
  return (chunk) => {
    let from = 0
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
      const rest = chunk.subarray(from, end)
      // After pieces that were not kept, the end would not fit to the beginning.
      const line =
        length > MAX_LINE_BYTES ? Buffer.concat(parts) : parts.length > 0 ? Buffer.concat([...parts, rest]) : rest
      const isWhole = length + end - from <= MAX_LINE_BYTES
      parts = []
      length = 0
      from = end + 1
      if (!onMessage(isWhole ? parse(line.toString()) : parseCut(line))) return false
    }
    // Of a line without an end only the beginning is kept.
    if (length <= MAX_LINE_BYTES) parts.push(chunk.subarray(from))
    length += chunk.length - from
    return true
  }
}

function parse(line: string): RgMessage {
  const { type, data } = JSON.parse(line) as Raw
  if (type === 'match' || type === 'context') return { type, block: toBlock(data) }
  if (type === 'begin') return { type, path: data.path?.text }
  if (type === 'end') return { type, isBinary: typeof data.binary_offset === 'number' }
  return { type: 'summary' }
}

/** A line with very many matches says where they are at its end: that list may be cut short. */
function parseCut(start: Buffer): RgMessage {
  const text = start.toString()
  const lastWhole = text.lastIndexOf(',{"match":')
  if (lastWhole === -1) return { type: 'too-long' }
  try {
    return parse(`${text.slice(0, lastWhole)}]}}`)
  } catch {
    // The cut was inside of the text, not of the list.
    return { type: 'too-long' }
  }
}

function toBlock({ lines = {}, line_number = 1, absolute_offset = 0, submatches = [] }: Raw['data']): RgBlock {
  const bytes = lines.text === undefined ? Buffer.from(lines.bytes ?? '', 'base64') : Buffer.from(lines.text)
  return { bytes, line: line_number, offset: absolute_offset, spans: submatches }
}
