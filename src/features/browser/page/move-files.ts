import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Download } from 'playwright-core'
import { ToolError } from '../../../core/index.ts'
import type { ActionContext } from '../perform.ts'
import type { PageFile } from '../types.ts'

const MAX_UPLOAD_BYTES = 25_000_000
const MAX_NAME_CHARS = 200
const LOOK_EVERY_MS = 200
const UNKNOWN_TYPE = 'application/octet-stream'

/** Gives files to a field of a page, or to the dialog that a click opens. */
export async function uploadFiles(
  { tab, timeout, signal }: ActionContext,
  { ref, files }: { readonly ref: string; readonly files: readonly PageFile[] },
): Promise<void> {
  const bytes = files.reduce((sum, file) => sum + file.bytes.length, 0)
  if (bytes > MAX_UPLOAD_BYTES) {
    throw new ToolError('FILE_TOO_LARGE', `The files have ${bytes} bytes, the limit is ${MAX_UPLOAD_BYTES}.`, {
      hint: 'Upload fewer or smaller files.',
    })
  }
  const payload = files.map(({ name, bytes }) => ({ name, mimeType: UNKNOWN_TYPE, buffer: Buffer.from(bytes) }))
  const element = await tab.element(ref)
  const isField = await element.evaluate((node) => node.matches('input[type=file]'))
  if (isField) return element.setInputFiles(payload, { timeout, signal })
  const choosing = tab.page.waitForEvent('filechooser', { timeout })
  choosing.catch(() => {})
  await element.click({ timeout, signal })
  await (await choosing).setFiles(payload, { timeout })
}

/** Clicks what starts a download, and reads what comes. */
export async function receiveDownload(
  { tab, run, timeout, signal }: ActionContext,
  { ref, maxBytes }: { readonly ref: string; readonly maxBytes: number },
): Promise<{ readonly file: PageFile; readonly from: string }> {
  const element = await tab.element(ref)
  let cancel = () => {}
  const starting = new Promise<Download>((resolve, reject) => {
    const timer = setTimeout(() => reject(nothingCame(timeout)), timeout)
    cancel = () => clearTimeout(timer)
    tab.onDownload = resolve
  })
  starting.catch(() => {})
  try {
    await element.click({ timeout, signal })
    const download = await starting
    return await readDownload(download, run.chromium.folder, { maxBytes, signal })
  } finally {
    cancel()
    tab.onDownload = undefined
  }
}

async function readDownload(
  download: Download,
  folder: string,
  { maxBytes, signal }: { readonly maxBytes: number; readonly signal: AbortSignal },
): Promise<{ readonly file: PageFile; readonly from: string }> {
  let isTooLarge = false
  const stop = () => void download.cancel().catch(() => {})
  const watch = setInterval(async () => {
    isTooLarge ||= (await largestFile(folder)) > maxBytes
    if (isTooLarge) stop()
  }, LOOK_EVERY_MS)
  signal.addEventListener('abort', stop, { once: true })
  try {
    const path = await download.path().catch(() => undefined)
    const size = path === undefined ? 0 : (await stat(path)).size
    if (isTooLarge || size > maxBytes) throw tooLarge(maxBytes)
    if (path === undefined) throw broken(await download.failure())
    const file = {
      name: download.suggestedFilename().slice(0, MAX_NAME_CHARS),
      bytes: new Uint8Array(await readFile(path)),
    }
    return { file, from: download.url().slice(0, 2_000) }
  } finally {
    clearInterval(watch)
    signal.removeEventListener('abort', stop)
    // It goes with the browser otherwise.
    await download.delete().catch(() => {})
  }
}

async function largestFile(folder: string): Promise<number> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  const files = entries.filter((entry) => entry.isFile())
  // One that is gone meanwhile is no large one.
  const sizes = await Promise.all(
    files.map(({ name }) =>
      stat(join(folder, name)).then(
        ({ size }) => size,
        () => 0,
      ),
    ),
  )
  return Math.max(0, ...sizes)
}

function nothingCame(timeoutMs: number): ToolError {
  return new ToolError('TIMEOUT', `No download began within ${timeoutMs} ms of the click.`, {
    hint: 'Take a new snapshot; perhaps the link opens a page, or asks something first.',
  })
}

function tooLarge(maxBytes: number): ToolError {
  return new ToolError('FILE_TOO_LARGE', `The download is over ${maxBytes} bytes and was stopped.`, {
    fix: { key: 'browser.download', hint: 'Have the owner raise browser.download, or fetch a part.' },
  })
}

function broken(failure: string | null): ToolError {
  const code = /^[a-z_A-Z]{1,60}$/.exec(failure ?? '')?.[0]
  return new ToolError('UPSTREAM_ERROR', `The download broke off${code ? ` (${code})` : ''}.`, { hint: 'Try again.' })
}
