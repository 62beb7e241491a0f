import { ToolError } from '@tool-hub/core'
import type { Page } from 'playwright-core'
import type { Tab } from './tab.ts'
import type { ActionLimits } from './take-snapshot.ts'

/** What to capture. */
export interface ScreenshotRequest {
  readonly ref?: string
  readonly isFullPage?: boolean
  readonly type?: 'png' | 'jpeg'
}

const MAX_PIXELS = 8_000_000
const MAX_WIDTH = 4_000
const MAX_BYTES = 5_000_000
const QUALITY = 70
const MAX_PDF_BYTES = 20_000_000
const PDF_CHUNK_BYTES = 1_000_000

/** Takes a screenshot of a page or one element, of bounded size: a PNG that is too large becomes a JPEG. */
export async function takeScreenshot(tab: Tab, request: ScreenshotRequest, patience: ActionLimits) {
  const { clip, isCut } = await areaOf(tab, request)
  const shoot = async (type: 'png' | 'jpeg') =>
    tab.page.screenshot({
      ...patience,
      type,
      ...(type === 'jpeg' && { quality: QUALITY }),
      clip,
      fullPage: request.isFullPage === true || request.ref !== undefined,
      animations: 'disabled',
      caret: 'hide',
    })
  const asked = await shoot(request.type ?? 'png')
  const isJpeg = request.type === 'jpeg' || asked.length > MAX_BYTES
  const bytes = asked.length > MAX_BYTES ? await shoot('jpeg') : asked
  if (bytes.length > MAX_BYTES) throw tooLarge(bytes.length)
  const mediaType = isJpeg ? ('image/jpeg' as const) : ('image/png' as const)
  return { bytes: new Uint8Array(bytes), mediaType, width: clip.width, height: clip.height, isCut }
}

/** The area to capture, in whole pixels and bounded. */
async function areaOf(tab: Tab, { ref, isFullPage = false }: ScreenshotRequest) {
  const whole = ref === undefined ? await pageArea(tab, isFullPage) : await elementArea(tab, ref)
  const width = Math.max(1, Math.min(Math.ceil(whole.width), MAX_WIDTH))
  const height = Math.max(1, Math.min(Math.ceil(whole.height), Math.floor(MAX_PIXELS / width)))
  const clip = { x: Math.max(0, whole.x), y: Math.max(0, whole.y), width, height }
  return { clip, isCut: width < Math.floor(whole.width) || height < Math.floor(whole.height) }
}

async function pageArea(tab: Tab, isFullPage: boolean) {
  const { width, height } = viewportOf(tab.page)
  if (!isFullPage) return { x: 0, y: 0, width, height }
  // From the browser, because a page could report anything.
  const { cssContentSize } = await (await tab.session()).send('Page.getLayoutMetrics')
  return { x: 0, y: 0, width: cssContentSize.width, height: cssContentSize.height }
}

async function elementArea(tab: Tab, ref: string) {
  const element = await tab.element(ref)
  const [box, { cssVisualViewport: at }] = await Promise.all([
    element.boundingBox(),
    tab.session().then((session) => session.send('Page.getLayoutMetrics')),
  ])
  if (box) return { ...box, x: box.x + at.pageX, y: box.y + at.pageY }
  throw new ToolError('CONFLICT', `The element ${ref} is not shown, so it has no picture.`, {
    hint: 'Take a new snapshot, or a picture of the whole page.',
  })
}

function viewportOf(page: Page): { readonly width: number; readonly height: number } {
  return page.viewportSize() ?? { width: 1_280, height: 720 }
}

function tooLarge(bytes: number): ToolError {
  return new ToolError('FILE_TOO_LARGE', `The picture has ${bytes} bytes, the limit is ${MAX_BYTES}.`, {
    hint: 'Make a picture of one element by its ref, or of the visible part only.',
  })
}

/** Prints the page to PDF and reads it in chunks, so that memory use is bounded even if the PDF is too large. */
export async function printPdf(tab: Tab): Promise<Uint8Array> {
  const session = await tab.session()
  const { stream } = await session.send('Page.printToPDF', { printBackground: true, transferMode: 'ReturnAsStream' })
  if (stream === undefined)
    throw new ToolError('UPSTREAM_ERROR', 'The browser returned no PDF.', { hint: 'Try again.' })
  const pieces: Buffer[] = []
  try {
    for (let bytes = 0; ; ) {
      const piece = await session.send('IO.read', { handle: stream, size: PDF_CHUNK_BYTES })
      const read = Buffer.from(piece.data, piece.base64Encoded ? 'base64' : 'utf8')
      pieces.push(read)
      bytes += read.length
      if (bytes > MAX_PDF_BYTES) throw pdfTooLarge()
      if (piece.eof) return new Uint8Array(Buffer.concat(pieces))
    }
  } finally {
    // If this fails, the stream is released with the page.
    await session.send('IO.close', { handle: stream }).catch(() => {})
  }
}

function pdfTooLarge(): ToolError {
  return new ToolError('FILE_TOO_LARGE', `The PDF has more than ${MAX_PDF_BYTES} bytes.`, {
    hint: 'Take a screenshot, or a snapshot of the part that you need.',
  })
}
