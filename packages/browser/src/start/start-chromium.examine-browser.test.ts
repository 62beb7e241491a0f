import { expect, it } from 'vitest'
import { examineBrowser } from './start-chromium.ts'

it('says which browser agents would use, and how it is kept from the machine', async () => {
  const finding = await examineBrowser({})
  expect(finding).toMatchObject({ state: 'good', what: 'browser' })
  const isRoot = process.geteuid?.() === 0
  expect(finding.detail).toMatch(isRoot ? /inside the sandbox of commands: the hub runs as root/ : /sandbox/)
  expect((await examineBrowser({ sandbox: 'own' })).detail).toMatch(/in Chromium's own sandbox/)
})

it('is uneasy without a sandbox, and says how to install what is missing', async () => {
  expect(await examineBrowser({ sandbox: 'none' })).toMatchObject({
    state: 'weak',
    fix: expect.any(String),
  })
  expect(await examineBrowser({ executable: '/there/is/none' })).toMatchObject({
    state: 'weak',
    detail: '"/there/is/none" at browser.executable is not an executable file.',
    fix: expect.stringMatching(/apt-get install chromium, or npx playwright-core install chromium/),
  })
})
