import { describe, expect, it } from 'vitest'
import { cutCells, useConsole } from '../support/console-page.ts'

const YEAR_MS = 31_536_000_000

describe('the console of a new service', () => {
  const web = useConsole()

  it('leads from the empty list of calls to the tokens', async () => {
    const page = await web.open('/live')
    await page.getByRole('heading', { name: 'No calls yet' }).waitFor()
    await page.getByRole('main').getByRole('link', { name: 'Tokens' }).click()
    await page.getByRole('heading', { level: 1, name: 'Tokens' }).waitFor()
  })

  it('shows the dates of tokens whole, on one line', async () => {
    await web.service.owner.tokens.create({ name: 'dated', scopes: ['call'], expiresAt: Date.now() + YEAR_MS })
    const page = await web.open('/tokens')
    const row = page.getByRole('grid', { name: 'Tokens' }).getByRole('row', { name: 'dated' })
    await row.locator('time').first().waitFor()
    const lines = await page.evaluate<number[]>(
      "[...document.querySelectorAll('[role=gridcell] time')].map((time) => time.getClientRects().length)",
    )
    expect(lines.length).toBeGreaterThan(1)
    expect(new Set(lines)).toEqual(new Set([1]))
    expect(await cutCells(page)).toEqual([])
  })

  it('shows the one process of a hub that shares its store with nobody', async () => {
    const page = await web.open('/machines')
    const row = page.getByRole('table', { name: 'Processes' }).getByRole('row', { name: 'this service' })
    await row.getByText('alive').waitFor()
    await row.getByText(new URL(web.service.url).host).waitFor()
    await page.getByText('This hub runs on one machine').waitFor()
  })

  it('counts wrong arguments in Health as errors of callers, not as failures of the tool', async () => {
    expect(await web.service.agent.call('core/fs.readText', { pth: 1 })).toMatchObject({ ok: false })
    const page = await web.open('/health')
    const row = page.getByRole('table', { name: 'Errors by tool' }).getByRole('row', { name: 'core/fs.readText' })
    await row.waitFor()
    expect(await row.getByRole('cell').allTextContents()).toEqual(
      expect.arrayContaining(['Failures0', 'Caller errors1']),
    )
    await page.getByText('Caller errors, last hour').waitFor()
  })

  it('names the caller of a run whose page was opened before its first call', async () => {
    const page = await web.open('/runs/early')
    await page.getByRole('heading', { level: 1, name: 'Run early' }).waitFor()
    expect(await web.service.agent.call('test/echo', { text: 'hi' }, { run: 'early' })).toMatchObject({ ok: true })
    await page.getByText('1 call by').filter({ hasText: /by \S/ }).waitFor()
  })
})
