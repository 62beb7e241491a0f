import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type Clock, ToolError } from '@tool-hub/core'
import type { Download } from 'playwright-core'
import type { ActionContext } from '../perform.ts'
import type { BrowserHandle, ClickOptions, PageFile, WaitOptions } from '../types.ts'

type Options<K extends keyof BrowserHandle> = Parameters<BrowserHandle[K]>[0]

/** Longer texts are inserted as a whole, not key by key. */
const MAX_KEYS = 500

/** Clicks an element. */
export async function clickElement({ tab, ...patience }: ActionContext, options: ClickOptions): Promise<void> {
  const { ref, button = 'left', isDouble = false, modifiers = [] } = options
  const element = await tab.element(ref)
  const how = { timeout: patience.timeout, signal: patience.signal, button, modifiers: [...modifiers] }
  await (isDouble ? element.dblclick(how) : element.click(how))
}

/** Types at the place of the cursor of an element. */
export async function typeInto({ tab, timeout, signal }: ActionContext, options: Options<'type'>): Promise<void> {
  const { ref, text, isSubmitted = false } = options
  const element = await tab.element(ref)
  if (text.length <= MAX_KEYS) await element.pressSequentially(text, { timeout, signal })
  else {
    await element.focus({ timeout, signal })
    await tab.page.keyboard.insertText(text)
  }
  if (isSubmitted) await element.press('Enter', { timeout, signal })
}

/** Presses a key or a chord such as Control+A, in an element or wherever the focus is. */
export async function pressKey({ tab, timeout, signal }: ActionContext, { key, ref }: Options<'press'>): Promise<void> {
  if (ref === undefined) return tab.page.keyboard.press(key)
  await (await tab.element(ref)).press(key, { timeout, signal })
}

/** Drags one element onto another. */
export async function dragElement(
  { tab, timeout, signal }: ActionContext,
  { ref, toRef }: Options<'drag'>,
): Promise<void> {
  const [from, to] = [await tab.element(ref), await tab.element(toRef)]
  await from.dragTo(to, { timeout, signal })
}

/** Chooses options of a list, by value or by label. */
export async function selectIn(
  { tab, timeout, signal }: ActionContext,
  { ref, values }: Options<'select'>,
): Promise<void> {
  await (await tab.element(ref)).selectOption([...values], { timeout, signal })
}

/** Fills fields one after the other: text and lists with texts, boxes with true or false. */
export async function fillFields({ tab, timeout, signal }: ActionContext, { fields }: Options<'fill'>): Promise<void> {
  for (const { ref, value } of fields) {
    const element = await tab.element(ref)
    if (typeof value === 'boolean') await element.setChecked(value, { timeout, signal })
    else if ((await element.evaluate(({ tagName }) => tagName, undefined, { timeout })) === 'SELECT') {
      await element.selectOption(value, { timeout, signal })
    } else await element.fill(value, { timeout, signal })
  }
}

/** Waits until every given condition holds. */
export async function waitForPage(
  { tab, timeout, signal }: ActionContext,
  options: WaitOptions,
  clock: Clock,
): Promise<void> {
  const { text, textGone, url, load, ms } = options
  const { page } = tab
  const waits: Promise<unknown>[] = []
  if (ms !== undefined) waits.push(pause(Math.min(ms, timeout), signal, clock))
  if (load !== undefined) waits.push(page.waitForLoadState(load, { timeout, signal }))
  if (url !== undefined)
    waits.push(page.waitForURL(({ href }) => href.includes(url), { timeout, signal, waitUntil: 'commit' }))
  if (text !== undefined) waits.push(page.getByText(text).first().waitFor({ state: 'visible', timeout, signal }))
  if (textGone !== undefined) waits.push(page.getByText(textGone).first().waitFor({ state: 'hidden', timeout, signal }))
  await Promise.all(waits)
}

function pause(ms: number, signal: AbortSignal, clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      cancel()
      signal.removeEventListener('abort', done)
      resolve()
    }
    const cancel = clock.after(ms, done)
    signal.addEventListener('abort', done, { once: true })
  })
}

const MAX_UPLOAD_BYTES = 25_000_000
const MAX_NAME_CHARS = 200
const LOOK_EVERY_MS = 200
const UNKNOWN_TYPE = 'application/octet-stream'

/** Puts files into a file field, or into the file chooser that a click opens. */
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

/** Clicks an element and reads the download that it starts. */
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
    // If this fails, the file is deleted with the browser's folder.
    await download.delete().catch(() => {})
  }
}

async function largestFile(folder: string): Promise<number> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  const files = entries.filter((entry) => entry.isFile())
  // A file that no longer exists counts as empty.
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
