import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { temporaryFolder } from '../../../test/support/temporary-folder.ts'
import { loadConfig } from './load-config.ts'

afterEach(() => {
  delete process.env.TOOL_HUB_TEST_ADDRESS
})

async function allowedHostsOf(list: string) {
  const file = join(temporaryFolder(), 'tool-hub.yaml')
  writeFileSync(file, `service:\n  allowedHosts: ${list}\n`)
  return (await loadConfig({ file })).service.allowedHosts
}

it('the names of a service may contain variables, so that each machine adds its own address', async () => {
  process.env.TOOL_HUB_TEST_ADDRESS = '10.1.2.3'
  const written = '[tools.example.org, "${env:TOOL_HUB_TEST_ADDRESS}", "${env:TOOL_HUB_TEST_ADDRESS}:8443"]'
  expect(await allowedHostsOf(written)).toEqual(['tools.example.org', '10.1.2.3', '10.1.2.3:8443'])
})

it('a name with a variable that is not set, or with a secret, is refused with its place', async () => {
  await expect(allowedHostsOf('[a.example, "${env:TOOL_HUB_TEST_ADDRESS}"]')).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
    message: expect.stringMatching(/tool-hub\.yaml:2:\d+ service\.allowedHosts\[1\]: .*TOOL_HUB_TEST_ADDRESS/),
    fix: { hint: expect.stringContaining('${env:NAME:-default}') },
  })
  await expect(allowedHostsOf('["${secret:name}"]')).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
})
