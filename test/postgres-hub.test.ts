import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createToolHub, defineTool, openPostgresStore } from '../packages/library/src/index.ts'
import { startPostgres, type TestPostgres } from './support/postgres.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

let server: TestPostgres
let executed = 0
const count = defineTool({
  name: 'demo/count',
  description: 'Counts.',
  capabilities: [],
  input: z.object({ by: z.number() }),
  output: z.object({ total: z.number() }),
  execute: async ({ by }) => {
    executed += by
    return { total: executed }
  },
})

beforeAll(async () => {
  server = await startPostgres()
})
afterAll(() => server.close())

async function withHub(schema: string, work: (hub: ReturnType<typeof createToolHub>) => Promise<void>): Promise<void> {
  const store = openPostgresStore(server.url, { schema })
  const hub = createToolHub({
    store,
    data: temporaryFolder('pg-hub'),
    tools: [count],
    policy: [
      { allow: 'demo/*' },
      { allow: 'core/memory.*' },
      { allow: 'core/code.run' },
      { ask: 'core/util.time.now' },
    ],
    limits: { run: { calls: 20 } },
    approve: () => ({ decision: 'allow', by: 'anna', remember: 'always' }),
  })
  try {
    await work(hub)
  } finally {
    await hub.close()
    await store.close()
  }
}

describe('a hub with a store in PostgreSQL', () => {
  it('makes calls with keys, approvals, notes and scripts, and the next one knows of them', async () => {
    await withHub('hub_one', async (hub) => {
      executed = 0
      const options = { run: 'run-one', idempotencyKey: 'k' }
      const [first, second] = await Promise.all([
        hub.callDynamic('demo/count', { by: 1 }, options),
        hub.callDynamic('demo/count', { by: 1 }, options),
      ])
      expect([first, second]).toMatchObject([{ ok: true }, { ok: true }])
      expect(executed).toBe(1)
      expect(await hub.callDynamic('core/util.time.now', {})).toMatchObject({ ok: true })
      const note = { content: 'Tea is hot.', scope: 'run' }
      expect(await hub.callDynamic('core/memory.write', note)).toMatchObject({ ok: true, data: { state: 'candidate' } })
      const script = { code: 'return await tools.demo.count({ by: 2 })' }
      expect(await hub.callDynamic('core/code.run', script)).toMatchObject({ ok: true, data: { value: { total: 3 } } })
    })
    await withHub('hub_one', async (hub) => {
      expect(await hub.callDynamic('demo/count', { by: 1 }, { run: 'run-one', idempotencyKey: 'k' })).toMatchObject({
        ok: true,
      })
      expect(executed).toBe(3)
    })
  })

  it('keeps to the budget of a run, however many calls are made concurrently', async () => {
    await withHub('hub_two', async (hub) => {
      const results = await Promise.all(
        Array.from({ length: 40 }, () => hub.callDynamic('demo/count', { by: 1 }, { run: 'run-two' })),
      )
      expect(results.filter(({ ok }) => ok)).toHaveLength(20)
      const codes = new Set(results.flatMap((result) => (result.ok ? [] : [result.error.code])))
      expect(codes).toEqual(new Set(['BUDGET_EXCEEDED']))
    })
  })

  it('executes no call with a key while the server is away, and continues when it is back', async () => {
    await withHub('hub_three', async (hub) => {
      const make = (key: string) => hub.callDynamic('demo/count', { by: 1 }, { run: 'run-three', idempotencyKey: key })
      expect(await make('before')).toMatchObject({ ok: true })
      executed = 0
      await server.stop('immediate')
      try {
        expect(await make('away')).toMatchObject({ ok: false, error: { code: 'RECORDS_UNAVAILABLE', retryable: true } })
        expect(executed).toBe(0)
      } finally {
        await server.start()
      }
      await expect.poll(async () => (await make('back')).ok).toBe(true)
      expect(executed).toBe(1)
    })
  })
})
