import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { startProcess } from './service-process.mjs'

const POLL_MS = 100
const MAX_TRIES = 600

/** A service ends what a kill left open in the background, unless it is stopped before: on a busy machine, the next one does. */
export async function endOpenRuns(folder) {
  const service = await startProcess(folder)
  for (let tries = 0; tries < MAX_TRIES && (await hasOpenRun(folder)); tries++) await wait(POLL_MS)
  await service.stop()
}

async function hasOpenRun(folder) {
  const runs = join(folder, 'runs')
  for (const run of await readdir(runs)) {
    const events = await stat(join(runs, run, 'events.jsonl')).catch(() => undefined)
    const head = await readFile(join(runs, run, 'head.json'), 'utf8').catch(() => '{}')
    if (events && JSON.parse(head).bytes !== events.size) return true
  }
  return false
}
