import { lazyModule, type Store } from '@tool-hub/core'
import { family, VERSION } from '@tool-hub/core/lib'

const loadPrometheus = lazyModule(() => import('prom-client'))

/** Memory, CPU, descriptors, start and event loop of a process: one for all services in it, because it cannot be stopped. */
let registry: Promise<{ metrics(): Promise<string> }> | undefined

/** What every process of tool-hub reports of itself without asking its store, in the text format of Prometheus. */
export async function processMetrics(store: Pick<Store, 'poolUse'>): Promise<string> {
  registry ??= openRegistry()
  // Without them the other metrics are still there.
  const own = await registry.then((each) => each.metrics()).catch(() => '')
  const labels = { version: VERSION, node: process.versions.node }
  const build = family('gauge', 'tool_hub_build_info', 'The version of tool-hub, and the one of Node.js.', [
    { labels, value: 1 },
  ])
  return [own, build, ...poolFamilies(store)].join('')
}

async function openRegistry() {
  const { Registry, collectDefaultMetrics } = await loadPrometheus()
  const register = new Registry()
  collectDefaultMetrics({ register, eventLoopMonitoringPrecision: 50 })
  return register
}

function poolFamilies(store: Pick<Store, 'poolUse'>): string[] {
  const use = store.poolUse?.()
  if (!use) return []
  const gauge = (name: string, help: string, value: number) =>
    family('gauge', `tool_hub_store_pool_${name}`, help, [{ value }])
  return [
    gauge('size', 'How many connections to PostgreSQL the process may open.', use.max),
    gauge('open', 'Open connections to PostgreSQL.', use.open),
    gauge('idle', 'Open connections that nothing uses.', use.idle),
    gauge('waiting', 'Pieces of work that wait for a connection.', use.waiting),
  ]
}
