import { figure, ratioFigure } from '../lib/figure.mjs'
import { invokeAsAgent, langchainAdd, langchainAddLater } from '../lib/langchain.mjs'
import { connectMcp } from '../lib/mcp.mjs'
import { measureInRounds, microsecondsEach } from '../lib/measure.mjs'
import { add, addLater, dataOf, governedHub } from '../lib/ours.mjs'
import { withTempFolder } from '../lib/temp-folder.mjs'

const CALLS = 5_000

/** A full governed call of a trivial pure tool, one after another, beside the same tool in LangChain and MCP. */
export default async function sequentialCall({ rounds }) {
  return withTempFolder(async (runs) => {
    const audited = governedHub({ runs, tools: [add, addLater] })
    const unrecorded = governedHub({ runs: false })
    const mcp = await connectMcp()
    let a = 0
    const samples = await measureInRounds(
      {
        ours: () => microsecondsEach(CALLS, async () => check(await dataOf(audited.call(add, { a: ++a, b: 1 })), a)),
        later: () =>
          microsecondsEach(CALLS, async () => check(await dataOf(audited.call(addLater, { a: ++a, b: 1 })), a)),
        unrecorded: () =>
          microsecondsEach(CALLS, async () => check(await dataOf(unrecorded.call(add, { a: ++a, b: 1 })), a)),
        langchain: () => microsecondsEach(CALLS, async () => check(await langchainAdd.invoke({ a: ++a, b: 1 }), a)),
        langchainLater: () =>
          microsecondsEach(CALLS, async () => check(await langchainAddLater.invoke({ a: ++a, b: 1 }), a)),
        langchainAgent: () =>
          microsecondsEach(CALLS, async () => {
            const message = await invokeAsAgent(langchainAdd, `call-${++a}`, { a, b: 1 })
            check(JSON.parse(message.content), a)
          }),
        mcp: () => microsecondsEach(CALLS, async () => check(await callMcp(mcp, { a: ++a, b: 1 }), a)),
      },
      { rounds },
    )
    await Promise.all([audited.close(), unrecorded.close(), mcp.close()])
    return [
      ratioFigure('audited : LangChain', samples.ours, samples.langchain, { goal: 0.45 }),
      ratioFigure('audited : LangChain, async tool', samples.later, samples.langchainLater, { goal: 0.5 }),
      ratioFigure('without records : LangChain', samples.unrecorded, samples.langchain, { goal: 0.2 }),
      ratioFigure('audited : LangChain, as an agent calls it', samples.ours, samples.langchainAgent),
      ratioFigure('audited : MCP in memory', samples.ours, samples.mcp),
      figure('audited', samples.ours, { unit: 'us' }),
      figure('audited, async tool', samples.later, { unit: 'us' }),
      figure('without records', samples.unrecorded, { unit: 'us' }),
      figure('LangChain', samples.langchain, { unit: 'us' }),
      figure('LangChain, as an agent calls it', samples.langchainAgent, { unit: 'us' }),
      figure('MCP in memory', samples.mcp, { unit: 'us' }),
    ]
  })
}

async function callMcp(client, args) {
  return (await client.callTool({ name: 'add', arguments: args })).structuredContent
}

function check(data, a) {
  if (data?.sum !== a + 1) throw new Error(`expected ${a + 1}, got ${JSON.stringify(data)}`)
}
