import { figure, ratioFigure } from '../lib/figure.mjs'
import { langchainAdd } from '../lib/langchain.mjs'
import { collectAllGarbage, measureInRounds, microsecondsEach } from '../lib/measure.mjs'
import { add, dataOf, governedHub } from '../lib/ours.mjs'
import { withTempFolder } from '../lib/temp-folder.mjs'

const CALLS = 5_000

/** The governed call after a full collection, which discards optimised code whose objects are gone, beside the same before it. */
export default async function fullCollection({ rounds }) {
  return withTempFolder(async (runs) => {
    const hub = governedHub({ runs })
    let a = 0
    const ours = () => microsecondsEach(CALLS, async () => void (await dataOf(hub.call(add, { a: ++a, b: 1 }))))
    const langchain = () => microsecondsEach(CALLS, async () => void (await langchainAdd.invoke({ a: ++a, b: 1 })))
    const warm = async (measure) => {
      await measure()
      return measure()
    }
    const collected = (measure) => {
      collectAllGarbage()
      return measure()
    }
    const samples = await measureInRounds(
      {
        before: () => warm(ours),
        after: () => collected(ours),
        langchainBefore: () => warm(langchain),
        langchainAfter: () => collected(langchain),
      },
      { rounds },
    )
    await hub.close()
    return [
      ratioFigure('audited, after : before', samples.after, samples.before, { goal: 1.15 }),
      ratioFigure('LangChain, after : before', samples.langchainAfter, samples.langchainBefore),
      figure('audited, after', samples.after, { unit: 'us' }),
      figure('audited, before', samples.before, { unit: 'us' }),
    ]
  })
}
