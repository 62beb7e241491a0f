import type { Clock } from '../../../core/index.ts'
import type { ActionContext } from '../perform.ts'
import type { BrowserHandle, ClickOptions, WaitOptions } from '../types.ts'

type Options<K extends keyof BrowserHandle> = Parameters<BrowserHandle[K]>[0]

/** Longer texts are put in at once, not key by key. */
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
export async function dragElement({ tab, timeout, signal }: ActionContext, { ref, toRef }: Options<'drag'>): Promise<void> {
  const [from, to] = [await tab.element(ref), await tab.element(toRef)]
  await from.dragTo(to, { timeout, signal })
}

/** Chooses options of a list, by value or by label. */
export async function selectIn({ tab, timeout, signal }: ActionContext, { ref, values }: Options<'select'>): Promise<void> {
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

/** Waits until all that is asked for is true. */
export async function waitForPage({ tab, timeout, signal }: ActionContext, options: WaitOptions, clock: Clock): Promise<void> {
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
