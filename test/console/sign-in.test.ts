import { describe, expect, it } from 'vitest'
import { useConsole } from '../support/console-page.ts'
import { fillIndex, MANY_CALLS } from '../support/fill-index.ts'

const WRONG = `th_${'x'.repeat(43)}`

describe('the console, signing in and watching', () => {
  const web = useConsole(fillIndex)

  it('signs in by the link, and takes the token out of the address', async () => {
    const page = await web.open('/health?from=link')
    await page.getByRole('heading', { name: 'Health', level: 1 }).waitFor()
    await page.getByText('owner', { exact: true }).waitFor()
    expect(page.url()).toBe(`${web.service.url}/health?from=link`)
    await page.reload()
    await page.getByRole('heading', { name: 'Health', level: 1 }).waitFor()
  })

  it('signs in by a link that is opened in the tab of the sign-in page', async () => {
    const page = await web.open('/health', { token: '' })
    await page.getByRole('heading', { name: 'Sign in to tool-hub' }).waitFor()
    await page.goto(`${web.service.url}/health#sign-in=${WRONG}`)
    await page.getByText('This token is unknown').waitFor()
    expect(page.url()).toBe(`${web.service.url}/health`)
    await page.goto(`${web.service.url}/health#sign-in=${web.service.ownerToken}`)
    await page.getByRole('heading', { name: 'Health', level: 1 }).waitFor()
    expect(page.url()).toBe(`${web.service.url}/health`)
  })

  it('says that a token is wrong, and takes the right one', async () => {
    const page = await web.open('/runs', { token: '' })
    const field = page.getByLabel('Token')
    await field.fill(WRONG)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('This token is unknown').waitFor()
    await field.fill(web.service.ownerToken)
    await field.press('Enter')
    await page.getByRole('heading', { name: 'Runs', level: 1 }).waitFor()
  })

  it('goes back to the sign-in when the session is lost, and returns to where one was', async () => {
    const token = await web.service.newToken('caller', ['read'])
    const page = await web.open('/audit?view=calls', { token })
    await page.getByText('token:caller', { exact: true }).waitFor()
    const { id } = (await web.service.owner.tokens.list()).find(({ name }) => name === 'caller')!
    await web.service.owner.tokens.revoke(id)
    await page.keyboard.press('g')
    await page.keyboard.press('h')
    await page.getByText('The session has ended').waitFor()
    const address = page.url()
    await page.getByLabel('Token').fill(web.service.ownerToken)
    await page.getByLabel('Token').press('Enter')
    await page.getByRole('heading', { level: 1, name: address.endsWith('/health') ? 'Health' : 'Audit' }).waitFor()
    expect(page.url()).toBe(address)
  })

  it('shows a call of an agent as it happens, with tool, caller and outcome, and a filter hides it', async () => {
    const page = await web.open('/live')
    await page.getByRole('status').filter({ hasText: 'connected' }).waitFor()
    await web.service.agent.call('test/fails', {})
    await web.service.agent.call('test/nests', {})
    const calls = page.getByRole('grid', { name: 'Calls' })
    const failed = calls.getByRole('row', { name: 'test/fails' })
    await failed.filter({ hasText: 'error' }).filter({ hasText: 'token:agent' }).waitFor()
    const made = calls.getByRole('row', { name: 'test/nests' })
    await made.filter({ hasText: 'ok' }).waitFor()
    await page.getByLabel('Status').selectOption('Any failure')
    await made.waitFor({ state: 'hidden' })
    await failed.waitFor()
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await made.click()
    const details = page.getByRole('dialog', { name: 'test/nests' })
    await details.getByRole('link', { name: 'test/echo' }).waitFor()
  })

  it(`scrolls through ${MANY_CALLS.toLocaleString('en')} calls with few rows on the page`, async () => {
    const page = await web.open('/live', { profile: { viewport: { width: 700, height: 400 } } })
    const calls = page.getByRole('grid', { name: 'Calls' })
    await calls.waitFor()
    const most = await page.evaluate<number>(SCROLL_TO_THE_END)
    expect(Number(await calls.getAttribute('aria-rowcount'))).toBeGreaterThan(MANY_CALLS)
    expect(most).toBeLessThan(200)
    await calls.getByRole('row').filter({ hasText: 'seen/often' }).last().waitFor()
  })

  it('says that the server is lost, finds it again, and continues; sessions survive a restart', async () => {
    const stays = await web.open('/live', { token: await web.service.newToken('watcher', ['read']), hasClock: true })
    const owner = await web.open('/live')
    await stays
      .getByRole('status')
      .filter({ hasText: /^connected/ })
      .waitFor()
    await web.service.kill()
    await stays.getByRole('status').filter({ hasText: 'reconnecting' }).waitFor()
    await stays.clock.fastForward(10_000)
    await stays.getByRole('status').filter({ hasText: 'server lost' }).waitFor()
    await stays.getByRole('alert').filter({ hasText: 'The server does not respond' }).waitFor()

    await web.service.restart()
    const connected = stays.getByRole('status').filter({ hasText: /^connected/ })
    const retried = stays.getByRole('button', { name: 'Try now' }).click()
    // On a busy machine, an attempt that was under way connects before the button is pressed.
    await Promise.race([retried.catch(() => {}), connected.waitFor()])
    await connected.waitFor()
    await owner
      .getByRole('status')
      .filter({ hasText: /^connected/ })
      .waitFor()
    await web.service.agent.call('test/typed', { path: 'after' })
    for (const page of [stays, owner]) await page.getByRole('row', { name: 'test/typed' }).waitFor()
  })
})

/** Scrolls to the end of the list, as often as it grows, until all are in it; gives the most rows that were drawn. */
const SCROLL_TO_THE_END = `new Promise((resolve) => {
  const grid = document.querySelector('[role=grid]')
  let most = 0
  const step = () => {
    most = Math.max(most, grid.querySelectorAll('[role=row]').length)
    if (Number(grid.getAttribute('aria-rowcount')) > ${MANY_CALLS}) resolve(most)
    grid.scrollTop = grid.scrollHeight
  }
  new MutationObserver(step).observe(grid, { attributeFilter: ['aria-rowcount'] })
  step()
})`
