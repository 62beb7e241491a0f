import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { holdTool } from '../../../test/support/cluster-served.ts'
import { eventually } from '../../../test/support/eventually.ts'
import { temporaryFolder } from '../../../test/support/temporary-folder.ts'
import { type RunningService, type StartServiceOptions, startService } from './start-service.ts'

const { hold, held } = holdTool()
const services: RunningService[] = []
afterEach(() => Promise.all(services.splice(0).map((service) => service.close())))

async function start(options: StartServiceOptions = {}): Promise<RunningService> {
  const home = temporaryFolder('shutdown')
  const hubOptions = { runs: join(home, 'runs'), data: join(home, 'data'), tools: [hold] }
  const service = await startService(hubOptions, { port: 0, shutdownMs: 60_000, ...options })
  services.push(service)
  return service
}

function call({ url, token }: RunningService, tool: string): Promise<Response> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  return fetch(`${url}/v1/tools/${tool}/call`, { method: 'POST', headers, body: '{"input":{}}' })
}

const readyz = async ({ url }: RunningService) => {
  const response = await fetch(`${url}/readyz`)
  return [response.status, await response.json()]
}

describe('a service that is drained', () => {
  it('is immediately not ready, still answers, and closes its connections after each answer', async () => {
    const service = await start({ drainMs: 3_600_000 })
    expect(await readyz(service)).toEqual([200, { ok: true }])
    const drained = service.drain()
    expect(await readyz(service)).toMatchObject([503, { ok: false, part: 'draining' }])
    expect((await fetch(`${service.url}/healthz`)).status).toBe(200)
    const answered = await call(service, 'core%2Futil.time.now')
    expect([answered.status, answered.headers.get('connection')]).toEqual([200, 'close'])
    expect(await answered.json()).toMatchObject({ ok: true })
    const running = call(service, 'hold')
    await eventually(() => expect(held.begun).toBe(1))
    // What ends it early ends the wait, too.
    const closed = service.close()
    await drained
    held.release()
    expect(await (await running).json()).toMatchObject({ ok: true, data: 'released' })
    await closed
    await expect(fetch(`${service.url}/healthz`)).rejects.toThrow()
  })

  it('waits only if there may be a load balancer', async () => {
    const alone = await start()
    await alone.drain()
    expect(await readyz(alone)).toEqual([200, { ok: true }])
    const reachable = await start({ host: '0.0.0.0', publicUrl: 'https://tools.example.org' })
    void reachable.drain()
    const { port } = new URL(reachable.url)
    expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(503)
  })
})

describe('a call that still runs when the time of the shutdown is over', () => {
  it('ends with ABORTED, and may be repeated', async () => {
    const service = await start({ shutdownMs: 50 })
    const { begun } = held
    const running = call(service, 'hold')
    await eventually(() => expect(held.begun).toBe(begun + 1))
    await service.close()
    const response = await running
    expect([response.status, await response.json()]).toMatchObject([
      200,
      { ok: false, status: 'aborted', error: { code: 'ABORTED', retryable: true } },
    ])
  })
})
