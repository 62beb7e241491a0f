import { figure } from '../lib/figure.mjs'
import { add, dataOf, governedHub } from '../lib/ours.mjs'
import { withTempFolder } from '../lib/temp-folder.mjs'

const CALLS = 20_000
/** Below one pointer and its slot a call, growth is noise of the engine and not something that a call leaves behind. */
const NOISE_BYTES = 16

/** Heap that a call leaves behind: what 20,000 calls add to a hub that is warm, after a full collection. */
export default async function heapKept({ rounds }) {
  return withTempFolder(async (runs) => {
    const hub = governedHub({ runs })
    let a = 0
    const samples = []
    for (let round = -1; round < rounds; round++) {
      const before = await settledHeap()
      for (let index = 0; index < CALLS; index++) await dataOf(hub.call(add, { a: ++a, b: 1 }))
      const kept = (await settledHeap()) - before
      if (round >= 0) samples.push(kept / CALLS)
    }
    await hub.close()
    return [figure('kept per audited call', samples, { unit: 'bytes', goal: NOISE_BYTES })]
  })
}

/** Two collections with a turn of the loop between them: finalizers free more. */
async function settledHeap() {
  for (let pass = 0; pass < 2; pass++) {
    globalThis.gc()
    await new Promise((resolve) => setImmediate(resolve))
  }
  return process.memoryUsage().heapUsed
}
