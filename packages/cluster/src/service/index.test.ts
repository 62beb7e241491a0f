import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { serveMember } from '../../../../test/support/cluster-served.ts'
import { eventually } from '../../../../test/support/eventually.ts'
import { temporaryFolder } from '../../../../test/support/temporary-folder.ts'
import type { StartServiceOptions } from '../../../server/src/index.ts'
import { startService } from '../../../server/src/start-service.ts'

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
    [{ listen: '0.0.0.0:4041' }, 'cluster.address', /http:\/\/HOST:4041$/],
    [{ listen: '10.0.0.7:4041' }, 'cluster.address', /http:\/\/10\.0\.0\.7:4041$/],
    [{ listen: '0.0.0.0:4041', address: 'http://0.0.0.0:4041' }, 'cluster.address', /name or address of this machine/],
    [{ address: 'http://10.0.0.7:4042' }, 'cluster.listen', /0\.0\.0\.0:4042$/],
    [{ listen: '192.0.2.1:4041', address: 'http://192.0.2.1:4041' }, 'cluster.listen', /an address of this machine/],
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

  it('is refused with the fix if another program listens there, or if the store is not shared', async () => {
    const first = await serve()
    const [{ address = '' } = {}] = await first.store.processes.list()
    await expect(serve({ cluster: { listen: new URL(address).host } })).rejects.toMatchObject({
      message: expect.stringContaining('EADDRINUSE'),
      fix: { key: 'cluster.listen', hint: expect.stringContaining('use another port') },
      cause: { code: 'CONFIG_INVALID' },
    })
    const folder = temporaryFolder()
    const alone = { data: join(folder, 'data'), runs: join(folder, 'runs') }
    await expect(startService(alone, { port: 0, cluster: { listen: '127.0.0.1:0' } })).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      fix: { key: 'cluster', hint: 'Set store to a PostgreSQL URL, or remove cluster.' },
    })
  })

  it('warns if its address leads to another process, or nowhere', async () => {
    const first = await serve()
    const [{ address = '' } = {}] = await first.store.processes.list()
    for (const [wrong, why] of [
      [address, 'another process answers there'],
      ['http://127.0.0.1:1', 'ECONNREFUSED'],
    ] as const) {
      const service = await serve({ cluster: { listen: '127.0.0.1:0', address: wrong } })
      await eventually(async () =>
        expect(service.log.find(({ event }) => event === 'cluster-unreachable')?.message).toContain(why),
      )
    }
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
