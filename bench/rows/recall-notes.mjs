import { openStore } from '../../packages/tool-hub/dist/index.js'
import { figure } from '../lib/figure.mjs'
import { measureInRounds } from '../lib/measure.mjs'
import { dataOf, governedHub } from '../lib/ours.mjs'
import { withTempFolder } from '../lib/temp-folder.mjs'

const NOTES = 100_000
const CALLS = 200
const WORDS_A_NOTE = 30
const VOCABULARY = 20_000

/** A recall over 100,000 notes: the whole governed call, and the search alone. Words are as common as in real texts. */
export default async function recallNotes({ rounds }) {
  return withTempFolder(async (folder) => {
    const store = openStore(folder)
    const texts = fillNotes(store)
    const hub = governedHub({ runs: folder, store, policy: [{ allow: 'memory' }], tools: [] })
    const query = questions(texts)
    const search = { scopes: ['agent:library', 'shared'], tags: [], limit: 10, now: Date.now() }
    const samples = await measureInRounds(
      {
        call: () => medianOf(async () => dataOf(hub.callDynamic('core/memory.recall', { query: query() }))),
        search: () => medianOf(() => store.memory.search({ ...search, text: query() })),
      },
      { rounds, warmUps: 1 },
    )
    await hub.close()
    await store.close()
    return [
      figure('recall, p50', samples.call, { unit: 'ms', goal: 10 }),
      figure('search alone, p50', samples.search, { unit: 'ms' }),
    ]
  })
}

/** Half of them are the agent's own, half shared. */
function fillNotes(store) {
  const word = zipf(seeded(7))
  const texts = Array.from({ length: NOTES }, () => Array.from({ length: WORDS_A_NOTE }, word).join(' '))
  for (const [n, text] of texts.entries()) {
    const scope = n % 2 === 0 ? 'agent:library' : 'shared'
    const at = Date.now() - (NOTES - n) * 60_000
    const origin = JSON.stringify({ tainted: false, reviewed: true, at })
    store.memory.add({ id: `n${n}`, scope, text, tags: [], origin, createdAt: at, updatedAt: at })
  }
  return texts
}

/** Three words of some note, as an agent asks that half remembers. */
function questions(texts) {
  const random = seeded(11)
  const pick = (list) => list[Math.floor(random() * list.length)]
  return () => {
    const words = pick(texts).split(' ')
    return [pick(words), pick(words), pick(words)].join(' ')
  }
}

/** The n-th word is n times as rare as the first. */
function zipf(random) {
  const sums = []
  let sum = 0
  for (let rank = 1; rank <= VOCABULARY; rank++) {
    sum += 1 / rank
    sums.push(sum)
  }
  return () => {
    const wanted = random() * sum
    let [low, high] = [0, VOCABULARY - 1]
    while (low < high) {
      const middle = (low + high) >> 1
      if (sums[middle] < wanted) low = middle + 1
      else high = middle
    }
    return `w${low.toString(36)}x`
  }
}

/** The same numbers every time. */
function seeded(seed) {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
    return state / 0x7fffffff
  }
}

/** Milliseconds of the middle one of many. */
async function medianOf(work) {
  const times = []
  for (let call = 0; call < CALLS; call++) {
    const start = performance.now()
    await work()
    times.push(performance.now() - start)
  }
  return times.sort((a, b) => a - b)[CALLS / 2]
}
