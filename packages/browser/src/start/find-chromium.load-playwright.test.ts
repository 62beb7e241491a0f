import { expect, it, vi } from 'vitest'
import { loadPlaywright } from './find-chromium.ts'
import { examineBrowser } from './start-chromium.ts'

it('says what to install where playwright-core is missing, and so does doctor', async () => {
  vi.doMock('playwright-core', () => {
    throw new Error("Cannot find package 'playwright-core'")
  })
  await expect(loadPlaywright()).rejects.toMatchObject({
    code: 'SANDBOX_UNAVAILABLE',
    fix: { hint: 'npm install playwright-core' },
  })
  expect(await examineBrowser({})).toMatchObject({ state: 'weak', fix: 'npm install playwright-core' })
  vi.doUnmock('playwright-core')
  expect((await loadPlaywright()).chromium.name()).toBe('chromium')
})
