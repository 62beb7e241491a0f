import { chmod, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { testHub } from '../../../testing/src/tool-contract.ts'
import { findChromium, loadPlaywright } from './find-chromium.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'chromium-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

it('takes the one that the owner names, by its real path, and looks no further', async () => {
  const playwright = await loadPlaywright()
  const program = join(folder, 'chrome')
  await writeFile(program, '')
  await expect(findChromium({ executable: program }, playwright)).rejects.toThrow(/is not an executable file/)
  await chmod(program, 0o755)
  await symlink(program, join(folder, 'link'))
  expect(await findChromium({ executable: join(folder, 'link') }, playwright)).toBe(program)
  expect(await findChromium({}, playwright)).toMatch(/chrom/)
})

it('says how to install one where there is none, and the call that needed it says so too', async () => {
  const hub = testHub({ browser: { executable: '/there/is/none' } })
  const { error } = await hub.callDynamic('core/browser', { action: 'start' })
  expect(error).toMatchObject({
    code: 'SANDBOX_UNAVAILABLE',
    fix: { key: 'browser.executable', hint: expect.stringMatching(/apt-get install chromium/) },
  })
  await hub.close()
})

it('tells a browser from a program that is not one', async () => {
  const program = join(folder, 'liar')
  await writeFile(program, '#!/bin/sh\necho "FATAL: no display" >&2\nexit 1\n', { mode: 0o755 })
  const hub = testHub({ browser: { executable: program, sandbox: 'none' } })
  const { error } = await hub.callDynamic('core/browser', { action: 'start' })
  expect(error).toMatchObject({ code: 'UPSTREAM_ERROR', message: expect.stringMatching(/did not start/) })
  await hub.close()
})
