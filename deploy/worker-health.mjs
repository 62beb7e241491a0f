// The health check of a worker, which listens on no port: exits with 0 if the store has a current heartbeat of it.
//   node deploy/worker-health.mjs     in the folder of its tool-hub.yaml, with the variables that the config names
import { hostname } from 'node:os'
import { openStoreOf } from 'tool-hub'
import { loadConfig } from 'tool-hub/config'

const { options } = await loadConfig({ plugins: false })
const store = openStoreOf(options)
try {
  const processes = await store.processes.list()
  const isOwn = ({ kind, host }) => kind === 'worker' && host === hostname()
  if (!processes.some((each) => isOwn(each) && each.isAlive)) {
    console.error(`The store has no current heartbeat of a worker on ${hostname()}.`)
    process.exitCode = 1
  }
} finally {
  await store.close()
}
