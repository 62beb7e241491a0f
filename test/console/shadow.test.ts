import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { useConsole } from '../support/console-page.ts'

const CONFIG = `version: 1
plugins: [./plugin.mjs]
sandbox: { root: . }
policy:
  rules:
    - { deny: test/forbidden }
    - { allow: test/echo }
  shadow: ./next.yaml
`
const NEXT = `policy:
  - { allow: test/forbidden, reason: "no longer dangerous" }
  - { ask: test/echo }
`
const web = useConsole(async (folder) => {
  await writeFile(join(folder, 'tool-hub.yaml'), CONFIG)
  await writeFile(join(folder, 'next.yaml'), NEXT)
})

it('the policy page shows which calls the shadow policy would decide otherwise, as they happen', async () => {
  const page = await web.open('/policy?view=shadow')
  await page.getByText('No differences.').waitFor()
  const { agent } = web.service
  const { callId } = await agent.call('test/echo', { a: 1 }, { run: 'tried' })
  const table = page.getByRole('table', { name: /^Differences between/ })
  const echo = table.getByRole('row', { name: /test\/echo/ })
  await echo.waitFor()
  expect(await echo.innerText()).toContain('ask test/echo (next.yaml:3)')
  expect(await echo.getByText('looser').count()).toBe(0)
  expect((await agent.call('test/forbidden', {}, { run: 'tried' })).ok).toBe(false)
  const forbidden = table.getByRole('row', { name: /test\/forbidden/ })
  await forbidden.getByText('looser').waitFor()
  await page.getByText('1 of them would be decided less strictly than now').waitFor()
  await echo.getByRole('link').click()
  await page.waitForURL(`**/runs/tried/${callId}`)
})
