import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { temporaryFolder } from '../../../test/support/temporary-folder.ts'
import { loadConfig } from './load-config.ts'

afterEach(() => {
  delete process.env.TOOL_HUB_TEST_HOST
})

async function clusterOf(section: string) {
  const file = join(temporaryFolder(), 'tool-hub.yaml')
  writeFileSync(file, `cluster: ${section}\n`)
  return (await loadConfig({ file })).service.cluster
}

it('all machines can have the same cluster section, because it may name variables', async () => {
  process.env.TOOL_HUB_TEST_HOST = 'hub-1'
  expect(await clusterOf('{ listen: "0.0.0.0:4041", address: "http://${env:TOOL_HUB_TEST_HOST}:4041" }')).toEqual({
    ...{ listen: '0.0.0.0:4041', address: 'http://hub-1:4041' },
  })
})

it('a variable that is not set, and an address that is no URL, are refused with their place', async () => {
  await expect(clusterOf('{ address: "http://${env:TOOL_HUB_TEST_HOST}:4041" }')).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
    message: expect.stringMatching(/tool-hub\.yaml:1:\d+ cluster\.address: .*TOOL_HUB_TEST_HOST/),
  })
  for (const wrong of ['hub-1:4041', 'ftp://hub-1:4041', 'http://'])
    await expect(clusterOf(`{ address: "${wrong}" }`)).rejects.toThrow(/cluster\.address: must be a URL such as/)
})
