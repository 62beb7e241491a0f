import { ToolError } from '../../../errors.ts'
import type { Tab } from './tab.ts'

const MOST_BYTES = 20_000_000
const PIECE_BYTES = 1_000_000

/** The page as a PDF, read piece by piece: of one that is too large no more than that is ever here. */
export async function printPdf(tab: Tab): Promise<Uint8Array> {
  const session = await tab.session()
  const { stream } = await session.send('Page.printToPDF', { printBackground: true, transferMode: 'ReturnAsStream' })
  if (stream === undefined) throw new ToolError('UPSTREAM_ERROR', 'The browser gave no PDF.', { hint: 'Try again.' })
  const pieces: Buffer[] = []
  try {
    for (let bytes = 0; ; ) {
      const piece = await session.send('IO.read', { handle: stream, size: PIECE_BYTES })
      const read = Buffer.from(piece.data, piece.base64Encoded ? 'base64' : 'utf8')
      pieces.push(read)
      bytes += read.length
      if (bytes > MOST_BYTES) throw tooLarge()
      if (piece.eof) return new Uint8Array(Buffer.concat(pieces))
    }
  } finally {
    // It goes with the page otherwise.
    await session.send('IO.close', { handle: stream }).catch(() => {})
  }
}

function tooLarge(): ToolError {
  return new ToolError('FILE_TOO_LARGE', `The PDF has more than ${MOST_BYTES} bytes.`, {
    hint: 'Take a screenshot, or a snapshot of the part that you need.',
  })
}
