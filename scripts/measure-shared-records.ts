/**
 * Measures what a call with side effects costs with `durability: shared` against `effects`, on this machine:
 *
 *   node --import ./test/support/load-typescript.mjs scripts/measure-shared-records.ts [postgres://…]
 *
 * Without a URL it starts a PostgreSQL server of its own, which writes its commits to disk.
 */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Store } from '../src/core/index.ts'
import { openPostgresStore, openStore } from '../src/store/index.ts'
import { startPostgres } from '../test/support/postgres.ts'
import { addLine, sharedHub } from '../test/support/shared-hub.ts'

const CALLS = 200
const AT_ONCE = 50

const base = mkdtempSync(join(realpathSync(tmpdir()), 'measure-shared-'))
const server = process.argv[2] ? undefined : await startPostgres({ fsync: true })
const url = process.argv[2] ?? server!.url

async function measure(name: string, store: Store, durability: 'effects' | 'shared'): Promise<void> {
  const folder = join(base, name.replaceAll(/\W+/g, '-'))
  const hub = sharedHub(folder, store, { durability, run: 'measured' })
  const call = async (index: number, run: string) => {
    const started = performance.now()
    const result = await hub.call(addLine, { path: `${index}.txt`, line: 'x' }, { run })
    if (!result.ok) throw new Error(result.error.message)
    return performance.now() - started
  }
  for (let index = 0; index < 20; index++) await call(index, 'warm')
  const alone: number[] = []
  for (let index = 0; index < CALLS; index++) alone.push(await call(index, 'alone'))
  const started = performance.now()
  const many = Array.from({ length: AT_ONCE }, async (_, worker) => {
    for (let index = 0; index < 4; index++) await call(worker * 4 + index, `many-${worker}`)
  })
  await Promise.all(many)
  const perSecond = (AT_ONCE * 4 * 1_000) / (performance.now() - started)
  alone.sort((a, b) => a - b)
  const [p50, p95] = [alone[CALLS / 2]!, alone[Math.floor(CALLS * 0.95)]!]
  const shown = [
    `p50 ${p50.toFixed(2)} ms`,
    `p95 ${p95.toFixed(2)} ms`,
    `${perSecond.toFixed(0)} calls/s in ${AT_ONCE} runs`,
  ]
  process.stdout.write(`${name.padEnd(28)} ${shown.join('   ')}\n`)
  await hub.close()
  await store.close()
}

try {
  await measure('effects, SQLite', openStore(join(base, 'store')), 'effects')
  await measure('effects, PostgreSQL', openPostgresStore(url, { schema: 'measure_effects' }), 'effects')
  await measure('shared, PostgreSQL', openPostgresStore(url, { schema: 'measure_shared' }), 'shared')
} finally {
  await server?.close()
  rmSync(base, { recursive: true, force: true })
}
