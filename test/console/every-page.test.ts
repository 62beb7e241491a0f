import axe from 'axe-core'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { useConsole } from '../support/console-page.ts'
import type { ConsoleService } from '../support/console-service.ts'

/** Every page with something on it: what is done there, and seen when it is there. */
const PAGES: readonly (readonly [path: string, ready: (page: Page) => Promise<unknown>])[] = [
  ['/live', (page) => page.getByRole('grid', { name: 'Calls' }).waitFor()],
  ['/approvals', (page) => page.getByRole('figure', { name: 'Changes of asked.txt' }).waitFor()],
  ['/approvals', (page) => openDialog(page, 'Edit', 'Edit and allow core/fs.edit')],
  ['/approvals', (page) => openScript(page)],
  [
    '/approvals',
    async (page) => {
      await openScript(page)
      await openDialog(page, 'Deny all 2', 'Deny 2 calls of the script?')
    },
  ],
  ['/inbox', (page) => page.getByRole('link', { name: 'Unread: Done' }).click()],
  ['/inbox?view=channels', (page) => page.getByRole('table', { name: 'Channels' }).waitFor()],
  ['/runs', (page) => page.getByRole('grid', { name: 'Runs' }).waitFor()],
  ['/runs/shown', (page) => page.getByRole('treegrid').getByRole('row', { name: 'test/echo' }).click()],
  ['/agents', (page) => page.getByRole('grid', { name: 'Agents' }).waitFor()],
  ['/agents?who=token%3Aagent', (page) => page.getByRole('dialog', { name: 'token:agent' }).waitFor()],
  ['/agents?view=sessions', (page) => page.getByRole('grid', { name: 'Sessions' }).waitFor()],
  ['/agents/shown', (page) => page.getByRole('list', { name: 'History' }).waitFor()],
  ['/memory', (page) => page.getByRole('figure', { name: 'Note' }).waitFor()],
  ['/memory', (page) => openDialog(page, 'Edit', 'Edit and promote')],
  ['/memory?view=notes', (page) => page.getByRole('heading', { name: 'No notes yet' }).waitFor()],
  ['/schedules', (page) => page.getByRole('grid', { name: 'Schedules' }).getByRole('row', { name: 'asked' }).click()],
  ['/schedules', (page) => openDialog(page, 'New schedule', 'New schedule')],
  ['/tools', (page) => page.getByRole('navigation', { name: 'Tools' }).waitFor()],
  ['/tools/core%2Ffs.readText?tab=try', (page) => page.getByLabel('path').waitFor()],
  ['/policy', (page) => page.getByRole('table', { name: 'Rules: yours' }).waitFor()],
  ['/policy?view=explain', (page) => page.getByRole('form', { name: 'Explain a call' }).waitFor()],
  ['/policy?view=suggestions', (page) => page.getByRole('heading', { name: 'There is nothing to suggest' }).waitFor()],
  ['/policy?view=edit', (page) => page.getByLabel(/as YAML$/).waitFor()],
  ['/policy?view=shadow', (page) => page.getByRole('heading', { name: 'No shadow policy' }).waitFor()],
  ['/audit?view=calls', (page) => page.getByRole('grid', { name: 'Calls on record' }).waitFor()],
  ['/tokens', (page) => openDialog(page, 'New token', 'New token')],
  ['/machines', (page) => page.getByRole('table', { name: 'Processes' }).waitFor()],
  ['/health', (page) => page.getByRole('figure', { name: 'Calls per minute' }).waitFor()],
]

const SCRIPT = `const words = ['1', '2']
await Promise.all(words.map((text) => tools.core.fs.writeText({ path: \`\${text}.txt\`, text })))`

describe('every page of the console', () => {
  const web = useConsole()
  const waitingCalls = (count: number) =>
    vi.waitFor(async () => expect(await web.service.owner.approvals.list()).toHaveLength(count), 300_000)
  beforeAll(async () => {
    const { agent, folder } = web.service
    await agent.call('test/nests', {}, { run: 'shown' })
    await agent.call('test/fails', {}, { run: 'shown' })
    await agent.call(
      'core/memory.write',
      { content: 'Releases are on Thursdays.', tags: ['release'] },
      { run: 'shown' },
    )
    await agent.call('core/message.send', { channel: 'console', title: 'Done', text: 'It works.' }, { run: 'shown' })
    await addSchedule(web.service)
    folder.write('asked.txt', 'one\n')
    // It waits for an answer as long as these tests run.
    void agent.call('core/fs.edit', { path: 'asked.txt', oldText: 'one', newText: '1' })
    await waitingCalls(1)
    void agent.call('core/code.run', { code: SCRIPT })
    await waitingCalls(3)
  })
  afterAll(async () => {
    const { approvals } = web.service.owner
    for (const { id } of await approvals.list()) await approvals.answer(id, { decision: 'deny', remember: 'once' })
  })

  it('has no serious barrier by axe in light and in dark, and fits a phone of 360 pixels', async () => {
    const page = await web.open('/', { token: '', profile: { reducedMotion: 'reduce' } })
    await page.getByLabel('Token').waitFor()
    await page.evaluate(axe.source)
    const found = await examine(page, 'sign-in')
    await page.getByLabel('Token').fill(web.service.ownerToken)
    await page.getByLabel('Token').press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Live' }).waitFor()
    for (const [path, ready] of PAGES) {
      await goWithin(page, path)
      await ready(page)
      found.push(...(await examine(page, path)))
    }
    expect(found).toEqual([])
  })
})

async function addSchedule({ url, ownerToken }: ConsoleService): Promise<void> {
  const headers = { authorization: `Bearer ${ownerToken}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ name: 'asked', when: { cron: '0 9 * * *' }, calls: [{ tool: 'test/echo' }] })
  expect((await fetch(`${url}/v1/schedules`, { method: 'POST', headers, body })).status).toBe(201)
}

/** As a link does, without loading everything anew. */
async function goWithin(page: Page, path: string): Promise<void> {
  await page.evaluate(
    `history.pushState(null, '', ${JSON.stringify(path)}); dispatchEvent(new PopStateEvent('popstate'))`,
  )
}

async function openScript(page: Page): Promise<void> {
  await page.getByRole('link', { name: 'Script: 2 calls' }).click()
  await page.getByRole('figure', { name: 'Script' }).getByText('2 wait').waitFor()
}

async function openDialog(page: Page, button: string, dialog: string): Promise<void> {
  await page.getByRole('button', { name: button }).click()
  await page.getByRole('dialog', { name: dialog }).waitFor()
}

/** What is wrong with the page as it is: everything in light, the colours in dark, the width on a phone. */
async function examine(page: Page, name: string): Promise<string[]> {
  // A button that has just appeared is dimmed for half a second; what is half dimmed has no colour of its own.
  await page.locator('[aria-disabled="true"]').first().waitFor({ state: 'detached' })
  await show(page, 'light')
  const light = await findBarriers(page)
  await show(page, 'dark')
  const dark = await findBarriers(page, 'color-contrast')
  await page.setViewportSize({ width: 360, height: 740 })
  const over = await page.evaluate<number>('document.scrollingElement.scrollWidth - innerWidth')
  await page.setViewportSize({ width: 1280, height: 800 })
  return [...light, ...dark, ...(over > 0 ? [`scrolls ${over} px sideways`] : [])].map((words) => `${name}: ${words}`)
}

async function show(page: Page, colorScheme: 'light' | 'dark'): Promise<void> {
  await page.emulateMedia({ colorScheme })
  // Colours between the two are of no scheme.
  await page.evaluate('Promise.allSettled(document.getAnimations().map((animation) => animation.finished))')
}

async function findBarriers(page: Page, ...rules: string[]): Promise<string[]> {
  const options = { resultTypes: ['violations'], ...(rules.length > 0 && { runOnly: rules }) }
  const { violations } = await page.evaluate<axe.AxeResults>(`axe.run(document, ${JSON.stringify(options)})`)
  const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')
  return serious.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id} ${html} ${failureSummary}`))
}
