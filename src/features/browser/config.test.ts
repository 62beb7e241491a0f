import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { loadConfig } from '../../config/load-config.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tool-hub-config-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

async function load(section: string) {
  const file = join(folder, 'tool-hub.yaml')
  await writeFile(file, `browser: ${section}\n`)
  return (await loadConfig({ file, home: folder })).options.browser
}

it('reads the section browser, with units and paths from the file on', async () => {
  const written =
    '{ executable: ./chrome/chrome, sandbox: jail, idle: 1m, timeout: 10s, tabs: 3, traffic: 1MB, download: 2KB }'
  expect(await load(written)).toEqual({
    executable: join(folder, 'chrome/chrome'),
    sandbox: 'jail',
    idleMs: 60_000,
    timeoutMs: 10_000,
    tabs: 3,
    trafficBytes: 1_000_000,
    downloadBytes: 2_000,
  })
  expect(await load('{}')).toEqual({})
})

it('refuses what it does not know: switches of Chromium are not an owner’s to forget', async () => {
  await expect(load('{ args: ["--no-sandbox"] }')).rejects.toThrow(/args/)
  await expect(load('{ sandbox: maybe }')).rejects.toThrow(/sandbox/)
})
