import { appendFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { useConsole } from '../support/console-page.ts'
import { startPostgres, type TestPostgres } from '../support/postgres.ts'

describe('the machines of a hub in the console', () => {
  let database: TestPostgres | undefined
  afterAll(() => database?.close())
  const web = useConsole(async (folder) => {
    database = await startPostgres({ tcp: true })
    await appendFile(join(folder, 'tool-hub.yaml'), `store: ${database.url}\n`)
  })

  it('are listed with their state and the runs that live there, also on a phone', async () => {
    const { agent } = web.service
    expect(await agent.call('test/echo', { text: 'hi' }, { run: 'lives-here' })).toMatchObject({ ok: true })
    const page = await web.open('/machines', { profile: { viewport: { width: 360, height: 740 } } })
    const processes = page.getByRole('table', { name: 'Processes' })
    const own = processes.getByRole('row', { name: hostname() })
    await own.getByText('answers this page').waitFor()
    await own.getByText('alive', { exact: true }).waitFor()
    const run = page.getByRole('table', { name: 'Open runs' }).getByRole('row', { name: 'lives-here' })
    await run.getByText('token:agent').waitFor()
    await page.getByText('No call waits for a worker or runs on one.').waitFor()
    expect(await page.evaluate<number>('document.scrollingElement.scrollWidth - innerWidth')).toBe(0)
    await run.getByRole('link', { name: 'lives-here' }).click()
    await page.getByRole('heading', { level: 1 }).filter({ hasText: 'lives-here' }).waitFor()
  })
})
