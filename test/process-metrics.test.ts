import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { openPostgresStore } from '@tool-hub/library/stores'
import { startService, startWorker } from '@tool-hub/server'
import { afterEach, expect, it } from 'vitest'
import { eventually } from './support/eventually.ts'
import { startPostgres } from './support/postgres.ts'
import { readSeries, type Series } from './support/read-series.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

const ends: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

/** A service, and its metrics by name. */
async function start() {
  const home = temporaryFolder()
  const service = await startService(
    { runs: join(home, 'runs'), data: join(home, 'data') },
    { port: 0, shutdownMs: 1_000 },
  )
  ends.push(() => service.close())
  const headers = { authorization: `Bearer ${service.token}` }
  const ask = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(`${service.url}${path}`, { headers, ...init })
    await response.text()
    return response.status
  }
  const metrics = async () => readSeries(await (await fetch(`${service.url}/metrics`, { headers })).text())
  return { ask, metrics, headers }
}

const read = (all: readonly Series[], name: string, labels: Readonly<Record<string, string>> = {}) =>
  all.find((each) => each.name === name && Object.entries(labels).every(([key, value]) => each.labels[key] === value))
    ?.value

it('a service reports memory, CPU, event loop, descriptors, start and version of its process', async () => {
  const { metrics } = await start()
  const all = await metrics()
  expect(read(all, 'process_resident_memory_bytes')).toBeGreaterThan(10_000_000)
  expect(read(all, 'process_cpu_seconds_total')).toBeGreaterThan(0)
  expect(read(all, 'nodejs_eventloop_lag_p99_seconds')).toBeGreaterThanOrEqual(0)
  expect(read(all, 'process_open_fds')).toBeGreaterThan(3)
  expect(read(all, 'process_max_fds')).toBeGreaterThan(read(all, 'process_open_fds')!)
  expect(read(all, 'process_start_time_seconds')).toBeGreaterThan(1_600_000_000)
  const { version } = JSON.parse(readFileSync('packages/tool-hub/package.json', 'utf8'))
  expect(read(all, 'tool_hub_build_info', { version, node: process.versions.node })).toBe(1)
  const names = all.map(({ name, labels }) => `${name}${JSON.stringify(labels)}`)
  expect(new Set(names).size).toBe(names.length)
})

it('requests are counted by method, route and status, whatever is in their paths', async () => {
  const { ask, metrics } = await start()
  for (let id = 0; id < 20; id++) {
    expect(await ask(`/v1/calls/none-${id}`)).toBe(404)
    expect(await ask(`/v1/nowhere/${id}`)).toBe(404)
  }
  expect(await ask('/v1/tools/core%2Futil.time.now/call', { method: 'POST', body: '{' })).toBe(415)
  expect(await ask('/v1/runs', { method: 'PROPFIND' })).toBeGreaterThan(399)
  await eventually(async () => {
    const all = await metrics()
    const requests = (labels: Readonly<Record<string, string>>) => read(all, 'tool_hub_http_requests_total', labels)
    expect(requests({ method: 'GET', route: '/v1/calls/{callId}', status: '404' })).toBe(20)
    expect(requests({ method: 'GET', route: 'other', status: '404' })).toBe(20)
    expect(requests({ method: 'POST', route: '/v1/tools/{name}/call', status: '415' })).toBe(1)
    expect(requests({ method: 'other', route: 'other' })).toBe(1)
    const routes = new Set(all.flatMap(({ labels }) => labels.route ?? []))
    expect([...routes].filter((route) => /none|nowhere/.test(route))).toEqual([])
    const seconds = 'tool_hub_http_request_duration_seconds'
    const labels = { method: 'GET', route: '/v1/calls/{callId}' }
    expect(read(all, `${seconds}_count`, labels)).toBe(20)
    expect(read(all, `${seconds}_bucket`, { ...labels, le: '+Inf' })).toBe(20)
    expect(read(all, `${seconds}_sum`, labels)).toBeGreaterThan(0)
  })
})

it('refused tokens and sign-ins are counted, and requests without a token are not', async () => {
  const { ask, metrics } = await start()
  expect(await ask('/v1/me', { headers: {} })).toBe(401)
  for (let guess = 0; guess < 3; guess++)
    expect(await ask('/v1/me', { headers: { authorization: `Bearer th_${guess}` } })).toBe(401)
  const body = JSON.stringify({ token: 'th_wrong' })
  expect(await ask('/v1/sessions', { method: 'POST', body, headers: { 'content-type': 'application/json' } })).toBe(401)
  const all = await metrics()
  const failures = all.filter(({ name }) => name === 'tool_hub_auth_failures_total')
  expect(failures.map(({ labels, value }) => [labels, value])).toEqual([
    [{ kind: 'request', code: 'UNAUTHENTICATED' }, 3],
    [{ kind: 'sign-in', code: 'UNAUTHENTICATED' }, 1],
  ])
})

it('a worker serves its metrics at the address it is given, with its connections to PostgreSQL, and nowhere by default', async () => {
  const database = await startPostgres({ tcp: true })
  ends.push(() => database.close())
  const store = openPostgresStore(database.url, { pool: 7 })
  ends.push(async () => store.close())
  const options = () => ({ store, runs: join(temporaryFolder(), 'runs'), data: join(temporaryFolder(), 'data') })
  const silent = await startWorker(options())
  ends.push(() => silent.close())
  expect(silent.metricsUrl).toBeUndefined()
  const worker = await startWorker(options(), { concurrency: 3, metrics: '127.0.0.1:0' })
  ends.push(() => worker.close())
  const url = worker.metricsUrl!
  const response = await fetch(url)
  expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
  const all = readSeries(await response.text())
  expect(read(all, 'tool_hub_worker_concurrency')).toBe(3)
  expect(read(all, 'tool_hub_worker_running')).toBe(0)
  expect(read(all, 'tool_hub_calls_in_flight')).toBe(0)
  expect(read(all, 'tool_hub_store_pool_size')).toBe(7)
  expect(read(all, 'tool_hub_store_pool_open')).toBeGreaterThan(0)
  expect(read(all, 'tool_hub_store_pool_waiting')).toBe(0)
  expect(read(all, 'process_resident_memory_bytes')).toBeGreaterThan(10_000_000)
  expect(await (await fetch(new URL('/healthz', url))).text()).toBe('ok\n')
  for (const [path, init] of [['/v1/tools'], ['/metrics', { method: 'POST' }]] as const)
    expect((await fetch(new URL(path, url), init)).status).toBe(404)
  await worker.drain({ timeoutMs: 1_000 })
  await expect(fetch(url)).rejects.toThrow('fetch failed')
})

it('a service and a worker that have lost PostgreSQL say so, and how long records have not been shared', async () => {
  const database = await startPostgres({ tcp: true })
  ends.push(() => database.close())
  const open = () => {
    const store = openPostgresStore(database.url)
    ends.push(async () => store.close())
    return { store, runs: join(temporaryFolder(), 'runs'), data: join(temporaryFolder(), 'data') }
  }
  const service = await startService(open(), { port: 0, shutdownMs: 1_000 })
  ends.push(() => service.close())
  const worker = await startWorker(open(), { metrics: '127.0.0.1:0' })
  ends.push(() => worker.close())
  const headers = { authorization: `Bearer ${service.token}` }
  const ofBoth = (name: string) =>
    Promise.all(
      [`${service.url}/metrics`, worker.metricsUrl!].map(async (url) => {
        const response = await fetch(url, { headers })
        return read(readSeries(await response.text()), name)
      }),
    )
  expect(await ofBoth('tool_hub_cluster_cut_off')).toEqual([0, 0])
  await database.stop('immediate')
  await eventually(async () => expect(await ofBoth('tool_hub_cluster_cut_off')).toEqual([1, 1]))
  expect((await ofBoth('tool_hub_store_ok'))[0]).toBe(0)
  expect((await ofBoth('tool_hub_records_share_lag_seconds'))[0]).toBeGreaterThanOrEqual(0)
})

it.each(['9464', ':9464', '127.0.0.1:99999', 'http://127.0.0.1:9464'])(
  'a worker refuses to serve metrics at %s',
  async (metrics) => {
    const database = await startPostgres({ tcp: true })
    ends.push(() => database.close())
    const store = openPostgresStore(database.url)
    ends.push(async () => store.close())
    const home = temporaryFolder()
    await expect(
      startWorker({ store, runs: join(home, 'runs'), data: join(home, 'data') }, { metrics }),
    ).rejects.toMatchObject({ code: 'CONFIG_INVALID', message: expect.stringContaining('worker.metrics') })
  },
)
