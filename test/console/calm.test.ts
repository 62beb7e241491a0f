import type { Locator, Page } from 'playwright-core'
import { afterEach, describe, expect, it } from 'vitest'
import { useConsole } from '../support/console-page.ts'

const PATIENCE = { timeout: 100_000 }
const GAPS = [60, 120, 200, 300, 450]

describe('a press in the console counts only for what could be seen', () => {
  const web = useConsole()
  const agentEdits = (file: string) => {
    web.service.folder.write(file, 'one\n')
    return web.service.agent.call('core/fs.edit', { path: file, oldText: 'one', newText: 'two' })
  }
  const waitingFiles = async () => (await web.service.owner.approvals.list()).map(({ targets }) => targets[0])

  /** Whatever still waits is denied, and the calls end. */
  let calls: Promise<unknown>[] = []
  let stopped: Page[] = []
  afterEach(async () => {
    await Promise.all(stopped.map((page) => page.clock.resume()))
    stopped = []
    const { owner } = web.service
    for (const { id } of await owner.approvals.list()) await owner.approvals.answer(id, { decision: 'deny' })
    for (const { id } of await owner.questions.list()) await owner.questions.answer(id, { answer: 'over' })
    await Promise.all(calls)
    calls = []
  })

  it.each(GAPS)('allows one of two calls by two clicks with %i ms between them', async (gap) => {
    calls = [agentEdits(`first-${gap}.txt`)]
    await expect.poll(waitingFiles, PATIENCE).toHaveLength(1)
    calls.push(agentEdits(`second-${gap}.txt`))
    await expect.poll(waitingFiles, PATIENCE).toHaveLength(2)
    const page = await openStopped('/approvals')
    const answers = countPosts(page, '/v1/approvals/')
    const figure = page.getByRole('figure', { name: /Changes of/ })
    const first = await figure.getAttribute('aria-label')
    const spot = await spotOf(page.getByRole('button', { name: 'Allow' }))
    await page.clock.runFor(600)
    await click(page, spot)
    await expect.poll(async () => [first, null].includes(await labelOf(figure)), PATIENCE).toBe(false)
    await page.clock.runFor(gap)
    await click(page, spot)
    await click(page, spot, 2)
    await page.keyboard.press('a')
    expect(answers()).toBe(1)
    expect(await waitingFiles()).toHaveLength(1)
    await page.clock.runFor(600)
    await click(page, spot)
    await expect.poll(answers, PATIENCE).toBe(2)
    await expect.poll(waitingFiles, PATIENCE).toEqual([])
  })

  it('denies several calls only by a click that comes 500 ms after the last look at them', async () => {
    calls = [agentEdits('one.txt'), agentEdits('two.txt')]
    await expect.poll(waitingFiles, PATIENCE).toHaveLength(2)
    const page = await openStopped('/approvals')
    const answers = countPosts(page, '/v1/approvals/')
    await page.getByRole('button', { name: 'Deny several' }).click()
    await page.getByRole('button', { name: 'Select all 2' }).click()
    const next = await spotOf(page.getByRole('button', { name: 'Continue with 2 calls' }))
    await page.clock.runFor(600)
    await click(page, next)
    const spot = await spotOf(page.getByRole('button', { name: 'Deny 2 calls' }))
    await page.clock.runFor(450)
    await click(page, spot)
    await click(page, spot, 2)
    expect(answers()).toBe(0)
    expect(await waitingFiles()).toHaveLength(2)
    await page.clock.runFor(100)
    await click(page, spot)
    await click(page, spot)
    await expect.poll(waitingFiles, PATIENCE).toEqual([])
    expect(answers()).toBe(2)
  })

  it('ignores the second click of a double click, however slow it is', async () => {
    calls = [agentEdits('slow.txt')]
    await expect.poll(waitingFiles, PATIENCE).toHaveLength(1)
    const page = await openStopped('/approvals')
    const answers = countPosts(page, '/v1/approvals/')
    const spot = await spotOf(page.getByRole('button', { name: 'Allow' }))
    await page.clock.runFor(600)
    await click(page, spot, 2)
    expect(answers()).toBe(0)
    await click(page, spot)
    await expect.poll(waitingFiles, PATIENCE).toEqual([])
  })

  it('counts again from the start when what is asked changes under the pointer', async () => {
    calls = [agentEdits('swapped.txt')]
    await expect.poll(waitingFiles, PATIENCE).toHaveLength(1)
    const page = await web.open('/live', { hasClock: true })
    let release = () => {}
    const gate = new Promise<void>((resolve) => {
      release = resolve
    })
    await page.route('**/v1/approvals/*', async (route) => {
      if (route.request().method() !== 'GET') return route.continue()
      await gate
      const response = await route.fetch()
      await route.fulfill({ response, json: { ...(await response.json()), purpose: 'another purpose' } })
    })
    const answers = countPosts(page, '/v1/approvals/')
    await page.getByRole('link', { name: 'Approvals 1 waiting' }).click()
    const allow = page.getByRole('button', { name: 'Allow' })
    await allow.waitFor()
    await stop(page)
    await page.clock.runFor(600)
    expect(await allow.isEnabled()).toBe(true)
    release()
    await page.getByText('another purpose').waitFor()
    expect(await allow.isEnabled()).toBe(false)
    const spot = await spotOf(allow)
    await page.clock.runFor(450)
    await click(page, spot)
    await page.keyboard.press('a')
    expect(answers()).toBe(0)
    await page.clock.runFor(100)
    await click(page, spot)
    await expect.poll(waitingFiles, PATIENCE).toEqual([])
  })

  it.each(GAPS)('answers one of two questions by two clicks with %i ms between them', async (gap) => {
    const ask = (question: string) => web.service.agent.call('core/ask.user', { question, options: ['yes', 'no'] })
    const waiting = async () => (await web.service.owner.questions.list()).length
    calls = [ask('First?')]
    await expect.poll(waiting, PATIENCE).toBe(1)
    calls.push(ask('Second?'))
    await expect.poll(waiting, PATIENCE).toBe(2)
    const page = await openStopped('/approvals')
    const answers = countPosts(page, '/v1/questions/')
    const words = page.getByRole('region', { name: 'The question' }).getByText(/^(First|Second)\?$/)
    const first = await words.textContent()
    const spot = await spotOf(page.getByRole('button', { name: 'yes' }))
    await page.clock.runFor(600)
    await click(page, spot)
    await expect.poll(async () => [first, null].includes(await textOf(words)), PATIENCE).toBe(false)
    await page.clock.runFor(gap)
    await click(page, spot)
    await page.keyboard.press('1')
    expect(answers()).toBe(1)
    expect(await waiting()).toBe(1)
    await page.clock.runFor(600)
    await click(page, spot)
    await expect.poll(waiting, PATIENCE).toBe(0)
  })

  it.each(GAPS)('promotes one of two notes by two clicks with %i ms between them', async (gap) => {
    const waiting = async () => {
      const headers = { authorization: `Bearer ${web.service.ownerToken}` }
      const response = await fetch(`${web.service.url}/v1/memory/candidates`, { headers })
      return ((await response.json()) as { candidates: unknown[] }).candidates.length
    }
    for (const content of [`First note ${gap}`, `Second note ${gap}`])
      await web.service.agent.call('core/memory.write', { content, scope: 'shared' })
    const page = await openStopped('/memory')
    const answers = countPosts(page, '/v1/memory/')
    const note = page.getByRole('figure', { name: 'Note' }).getByText(/^(First|Second) note/)
    const first = await note.textContent()
    const spot = await spotOf(page.getByRole('button', { name: 'Promote' }))
    await page.clock.runFor(600)
    await click(page, spot)
    await expect.poll(async () => [first, null].includes(await textOf(note)), PATIENCE).toBe(false)
    await page.clock.runFor(gap)
    await click(page, spot)
    await page.keyboard.press('a')
    expect(answers()).toBe(1)
    expect(await waiting()).toBe(1)
    await page.clock.runFor(600)
    await click(page, spot)
    await expect.poll(waiting, PATIENCE).toBe(0)
  })

  it('loses neither the secret of a new token nor the token by a second click', async () => {
    const gap = 450
    const page = await openStopped('/tokens')
    const hasToken = async () => (await web.service.owner.tokens.list()).some(({ name }) => name === `brief-${gap}`)
    await page.getByRole('button', { name: 'New token' }).click()
    await page.getByLabel('Name').fill(`brief-${gap}`)
    await page.clock.runFor(600)
    await page.getByRole('button', { name: 'Create the token' }).click()
    const secret = page.getByRole('dialog', { name: `Secret of brief-${gap}` })
    const copied = secret.getByRole('button', { name: 'I have copied it' })
    await copied.waitFor()
    await page.clock.runFor(gap)
    await click(page, await spotOf(copied))
    expect(await secret.isVisible()).toBe(true)
    await page.clock.runFor(600)
    await copied.click()
    await page.clock.runFor(600)
    await page.getByRole('button', { name: `Revoke brief-${gap}` }).click()
    const confirm = page.getByRole('dialog', { name: 'Revoke this token?' }).getByRole('button', { name: 'Revoke' })
    await confirm.waitFor()
    await page.clock.runFor(gap)
    await click(page, await spotOf(confirm))
    expect(await hasToken()).toBe(true)
    await page.clock.runFor(600)
    await confirm.click()
    await expect.poll(hasToken, PATIENCE).toBe(false)
  })

  it('switches a schedule off by a double click, not off and on again', async () => {
    const headers = { authorization: `Bearer ${web.service.ownerToken}`, 'content-type': 'application/json' }
    const body = JSON.stringify({
      name: 'hourly',
      when: { everyMs: 3_600_000 },
      calls: [{ tool: 'core/util.time.now', input: {} }],
    })
    const made = await fetch(`${web.service.url}/v1/schedules`, { method: 'POST', headers, body })
    const { id } = (await made.json()) as { id: string }
    const page = await openStopped(`/schedules/${id}`)
    const off = page.getByRole('button', { name: 'Switch off' })
    const spot = await spotOf(off)
    await page.clock.runFor(600)
    await off.click()
    await page.getByRole('button', { name: 'Switch on' }).waitFor()
    await page.clock.runFor(450)
    await click(page, spot)
    const shown = await fetch(`${web.service.url}/v1/schedules/${id}`, { headers })
    expect(await shown.json()).toMatchObject({ enabled: false })
  })

  /** A page whose clock stands still, so that nothing depends on how busy the machine is. */
  async function openStopped(path: string): Promise<Page> {
    const page = await web.open(path, { hasClock: true })
    await page
      .getByRole('button', { name: /^(Allow|yes|Promote|New token|Switch off)/ })
      .first()
      .waitFor()
    await stop(page)
    return page
  }

  async function stop(page: Page): Promise<void> {
    await page.clock.pauseAt(Date.now() + 10_000)
    stopped.push(page)
  }
})

interface Spot {
  readonly x: number
  readonly y: number
}

async function spotOf(button: Locator): Promise<Spot> {
  const box = await button.boundingBox()
  if (!box) throw new Error('The button is not shown.')
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 }
}

/** One click where the button was, whatever stands there now; `nth` of a series, as the browser counts them. */
async function click(page: Page, { x, y }: Spot, nth = 1): Promise<void> {
  await page.mouse.move(x, y)
  await page.mouse.down({ clickCount: nth })
  await page.mouse.up({ clickCount: nth })
  // What the click sends is sent when this has come back.
  await page.evaluate('0')
}

function countPosts(page: Page, path: string): () => number {
  let count = 0
  page.on('request', (request) => {
    if (request.method() === 'POST' && request.url().includes(path)) count++
  })
  return () => count
}

function labelOf(locator: Locator): Promise<string | null> {
  return locator.getAttribute('aria-label', { timeout: 1_000 }).catch(() => null)
}

function textOf(locator: Locator): Promise<string | null> {
  return locator.textContent({ timeout: 1_000 }).catch(() => null)
}
