import { figure, ratioFigure } from '../lib/figure.mjs'
import { langchainOrder } from '../lib/langchain.mjs'
import { measureInRounds, microsecondsEach } from '../lib/measure.mjs'
import { orderOf, totalOf } from '../lib/order.mjs'
import { dataOf, governedHub, placeOrder } from '../lib/ours.mjs'
import { withTempFolder } from '../lib/temp-folder.mjs'

const CALLS = 2_000

/** A governed call with nested arguments of about 3 KB, one after another, beside the same tool in LangChain. */
export default async function richArguments({ rounds }) {
  return withTempFolder(async (runs) => {
    const audited = governedHub({ runs, tools: [placeOrder] })
    const unrecorded = governedHub({ runs: false, tools: [placeOrder] })
    const orders = Array.from({ length: CALLS }, (_, id) => orderOf(id))
    const total = totalOf(orders[0])
    const each = (call) => {
      let next = 0
      return microsecondsEach(CALLS, async () => check(await call(orders[next++]), total))
    }
    const samples = await measureInRounds(
      {
        ours: () => each((order) => dataOf(audited.call(placeOrder, order))),
        unrecorded: () => each((order) => dataOf(unrecorded.call(placeOrder, order))),
        langchain: () => each((order) => langchainOrder.invoke(order)),
      },
      { rounds },
    )
    await Promise.all([audited.close(), unrecorded.close()])
    return [
      ratioFigure('audited : LangChain', samples.ours, samples.langchain, { goal: 1 }),
      ratioFigure('without records : LangChain', samples.unrecorded, samples.langchain),
      figure('audited', samples.ours, { unit: 'us' }),
      figure('without records', samples.unrecorded, { unit: 'us' }),
      figure('LangChain', samples.langchain, { unit: 'us' }),
    ]
  })
}

function check(data, total) {
  if (data?.total !== total) throw new Error(`expected ${total}, got ${JSON.stringify(data)}`)
}
