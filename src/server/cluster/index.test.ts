import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { serveMember } from '../../../test/support/cluster-served.ts'
import { temporaryFolder } from '../../../test/support/temporary-folder.ts'
import type { StartServiceOptions } from '../index.ts'

async function serve(options: StartServiceOptions = {}) {
  const folder = temporaryFolder()
  const service = await serveMember(folder, 'm', {}, options)
  onTestFinished(() => service.close())
  return service
}

describe('cluster', () => {
  it('listens on loopback, and says where in the heartbeats', async () => {
    const service = await serve()
    const [own] = await service.store.processes.list()
    expect(own).toMatchObject({ kind: 'service', address: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/) })
    expect(own!.address).not.toBe(service.url)
  })

  it('is reached at the address that the owner sets', async () => {
    const service = await serve({ cluster: { listen: '0.0.0.0:0', address: 'https://tools-1.example.org/' } })
    expect(await service.store.processes.list()).toMatchObject([{ address: 'https://tools-1.example.org' }])
  })

  it.each([
    [{ listen: '0.0.0.0:4041' }, 'cluster.address', /http:\/\/0\.0\.0\.0:4041/],
    [{ listen: 'tools.example.org:4041' }, 'cluster.address', /Set the URL/],
    [{ listen: '4041' }, 'cluster.listen', /10\.0\.0\.7:4041/],
    [{ listen: '127.0.0.1:99999' }, 'cluster.listen', /10\.0\.0\.7:4041/],
    [{ address: 'http://tools.example.org/path' }, 'cluster.address', /Set it to http:\/\/tools\.example\.org$/],
  ])('is refused with the fix: %j', async (cluster, key, hint) => {
    await expect(serve({ cluster })).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      fix: { key, hint: expect.stringMatching(hint) },
    })
  })
})

describe('the rules of several processes', () => {
  it('are not saved by one of them, and their hash is in its heartbeats', async () => {
    const folder = temporaryFolder()
    const configFile = join(folder, 'tool-hub.yaml')
    writeFileSync(configFile, 'policy:\n  - deny: exec\n')
    const service = await serveMember(folder, 'm', {}, { configFile })
    onTestFinished(() => service.close())
    const { yaml, version, readOnly } = (await (await service.fetch('/v1/policy')).json()) as Record<string, string>
    expect(readOnly).toMatch(/deploy it to all machines/)
    const saved = await service.fetch('/v1/policy', {
      method: 'PUT',
      body: JSON.stringify({ yaml, version }),
      headers: { 'content-type': 'application/json' },
    })
    expect([saved.status, await saved.json()]).toMatchObject([400, { error: { message: readOnly } }])
    const [{ policy } = {}] = await service.store.processes.list()
    expect(policy).toMatch(/^[0-9a-f]{64}$/)
  })
})
