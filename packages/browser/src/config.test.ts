import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { loadConfig } from '../../config/src/load-config.ts'

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
    '{ executable: ./chrome/chrome, sandbox: command, idle: 1m, timeout: 10s, tabs: 3, traffic: 1MB, download: 2KB }'
  expect(await load(written)).toEqual({
    executable: join(folder, 'chrome/chrome'),
    sandbox: 'command',
    idleMs: 60_000,
    timeoutMs: 10_000,
    tabs: 3,
    trafficBytes: 1_000_000,
    downloadBytes: 2_000,
  })
  expect(await load('{}')).toEqual({})
})

it('accepts the former name jail of the sandbox of commands, with a warning', async () => {
  const file = join(folder, 'former.yaml')
  await writeFile(file, 'browser: { sandbox: jail }\n')
  const { options, warnings } = await loadConfig({ file, home: folder })
  expect(options.browser).toEqual({ sandbox: 'command' })
  expect(warnings).toEqual([expect.stringContaining('browser.sandbox: jail is called command now.')])
})

it('refuses what it does not know: switches of Chromium are not an owner’s to forget', async () => {
  await expect(load('{ args: ["--no-sandbox"] }')).rejects.toThrow(/args/)
  await expect(load('{ sandbox: maybe }')).rejects.toThrow(/sandbox/)
})
