import { openStore } from '../../packages/tool-hub/dist/index.js'
import { figure } from '../lib/figure.mjs'
import { measureInRounds } from '../lib/measure.mjs'
import { withTempFolder } from '../lib/temp-folder.mjs'

const KEYS = 1_000
const RESULT = JSON.stringify({ ok: true, status: 'ok', data: { text: 'x'.repeat(400) } })

/** An idempotency key in the store file: looked up, and put with the result of its call. */
export default async function storeKeys({ rounds }) {
  return withTempFolder(async (folder) => {
    const { keys, ...store } = openStore(folder)
    const owner = JSON.stringify({ pid: process.pid, space: 'bench' })
    let count = 0
    const claim = () => keys.claim(`key-${count}`, { argsHash: 'hash', owner, now: 0 })
    const put = () => keys.finish(`key-${count++}`, { owner, result: RESULT, expiresAt: 1e15 })
    const putSafely = async () => {
      const key = `key-${count++}`
      await keys.claim(key, { argsHash: 'hash', owner, now: 0 })
      await keys.finish(key, { owner, result: RESULT, expiresAt: 1e15 })
    }
    const samples = await measureInRounds(
      {
        claim: () => {
          const first = count
          const cost = medianOf(() => {
            void claim()
            count++
          })
          count = first
          return cost
        },
        put: () => medianOf(put),
        safe: () => meanInFlight(1, putSafely),
        safeAtOnce: () => meanInFlight(64, putSafely),
        look: () => medianOf(() => keys.look(`key-${count - 1}`)),
      },
      { rounds },
    )
    await store.close()
    const both = samples.look.map((look, round) => look + samples.put[round])
    return [
      figure('lookup and put', both, { unit: 'us', goal: 30 }),
      figure('claim', samples.claim, { unit: 'us' }),
      figure('put', samples.put, { unit: 'us' }),
      figure('lookup', samples.look, { unit: 'us' }),
      figure('claim and put, both on disk', samples.safe, { unit: 'us' }),
      figure('the same, 64 concurrent', samples.safeAtOnce, { unit: 'us' }),
    ]
  })
}

/** Microseconds of the middle one of many: now and then one waits for the disk. */
function medianOf(work) {
  const times = Array.from({ length: KEYS }, () => {
    const start = performance.now()
    work()
    return (performance.now() - start) * 1_000
  })
  return times.sort((a, b) => a - b)[KEYS / 2]
}

/** Microseconds of one, with so many under way all the time. */
async function meanInFlight(atOnce, work) {
  const each = 20
  const start = performance.now()
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (let n = 0; n < each; n++) await work()
    }),
  )
  return ((performance.now() - start) * 1_000) / (atOnce * each)
}
