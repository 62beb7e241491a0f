import { figure, ratioFigure } from '../lib/figure.mjs'
import { langchainWait } from '../lib/langchain.mjs'
import { measureInRounds, microsecondsAtOnce } from '../lib/measure.mjs'
import { dataOf, governedHub, wait } from '../lib/ours.mjs'
import { withTempFolder } from '../lib/temp-folder.mjs'

const CALLS = 10_000
const WAIT_MS = 10

/** 10,000 calls in flight of a tool that waits 10 ms: the time until the last is back. */
export default async function callsInFlight({ rounds }) {
  return withTempFolder(async (runs) => {
    const hub = governedHub({ runs, tools: [wait] })
    const milliseconds = async (call) => (await microsecondsAtOnce(CALLS, call)) / 1_000
    const samples = await measureInRounds(
      {
        ours: () => milliseconds((value) => dataOf(hub.call(wait, { ms: WAIT_MS, value }))),
        langchain: () => milliseconds((value) => langchainWait.invoke({ ms: WAIT_MS, value })),
      },
      { rounds, warmUps: 2 },
    )
    await hub.close()
    return [
      ratioFigure('audited : LangChain', samples.ours, samples.langchain, { goal: 0.7 }),
      figure('audited', samples.ours, { unit: 'ms' }),
      figure('LangChain', samples.langchain, { unit: 'ms' }),
    ]
  })
}
