import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { commandHub, runTrue, spawnTrue } from '../lib/commands.mjs'

/** Runs `true`, by a hub or plainly, in a process that holds so much memory. */
export default async function execTrue(how, heapMb) {
  globalThis.held = Array.from({ length: Number(heapMb) }, (_, index) => Array.from({ length: 125_000 }, () => index))
  if (how === 'spawn') return spawnTrue
  const folder = mkdtempSync(join(tmpdir(), 'tool-hub-bench-'))
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  const hub = await commandHub(folder, { prepared: 0 })
  return () => runTrue(hub)
}
