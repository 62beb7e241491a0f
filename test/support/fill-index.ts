import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { IndexedCall } from '../../packages/core/src/store.ts'
import { CLI_MAIN } from './cli.ts'

/** How many calls `fillIndex` puts in. */
export const MANY_CALLS = 100_000

/** Puts calls into the index of a service that is yet to start, as they would be there after a busy month. */
export async function fillIndex(folder: string): Promise<void> {
  // The built one, as the service is: what it writes the service reads.
  const built: typeof import('../../packages/library/src/index.ts') = await import(
    pathToFileURL(resolve(CLI_MAIN, '../../index.js')).href
  )
  const store = built.openStore(join(folder, '.tool-hub'))
  const calls = Array.from({ length: MANY_CALLS }, (_, index): IndexedCall => {
    const tool = index === 0 ? 'seen/first' : 'seen/often'
    const startedAt = Date.now() - 86_400_000 - (MANY_CALLS - index) * 10
    return {
      callId: `many-${index}`,
      run: 'many',
      seq: index,
      tool,
      caller: 'agent',
      status: 'ok',
      startedAt,
      durationMs: 3,
    }
  })
  await store.calls.put({ calls, runs: [] })
  await store.close()
}
