import { toAiSdk } from '../../packages/tool-hub/dist/ai-sdk.js'
import { toAnthropic } from '../../packages/tool-hub/dist/anthropic.js'
import { toLangChain } from '../../packages/tool-hub/dist/langchain.js'
import { toOpenAi } from '../../packages/tool-hub/dist/openai.js'
import { figure } from '../lib/figure.mjs'
import { measureInRounds, microsecondsEach } from '../lib/measure.mjs'
import { dataOf, governedHub } from '../lib/ours.mjs'
import { withTempFolder } from '../lib/temp-folder.mjs'

const CALLS = 5_000
const WIRE = 'bench_math_add'

/** What an adapter adds to a call of the hub, its framework left out. */
export default async function adapters({ rounds }) {
  return withTempFolder(async (runs) => {
    const hub = governedHub({ runs })
    const names = ['bench/math.add']
    const { execute } = toAiSdk(hub, { names, approvals: 'hub' })[WIRE]
    const [tool] = toLangChain(hub, { names, DynamicStructuredTool: Fields, ToolMessage: Fields })
    const { chat } = toOpenAi(hub, { names, strict: true })
    const claude = toAnthropic(hub, { names })
    let a = 0
    const input = () => ({ a: ++a, b: 1 })
    const chatCall = () => [
      { id: `call-${a}`, type: 'function', function: { name: WIRE, arguments: JSON.stringify(input()) } },
    ]
    const claudeCall = () => [{ type: 'tool_use', id: `call-${a}`, name: WIRE, input: input() }]
    const samples = await measureInRounds(
      {
        hub: () => microsecondsEach(CALLS, () => dataOf(hub.callDynamic(WIRE, input()))),
        aiSdk: () => microsecondsEach(CALLS, () => last(execute(input(), { toolCallId: 'x', messages: [] }))),
        langchain: () => microsecondsEach(CALLS, () => tool.fields.func(input(), undefined, { toolCall: { id: 'x' } })),
        openai: () => microsecondsEach(CALLS, () => chat.run(chatCall())),
        anthropic: () => microsecondsEach(CALLS, () => claude.run(claudeCall())),
      },
      { rounds },
    )
    await hub.close()
    const over = (name) => samples[name].map((cost, round) => cost - samples.hub[round])
    return [
      figure('AI SDK, over the hub', over('aiSdk'), { unit: 'us', goal: 3 }),
      figure('LangChain, over the hub', over('langchain'), { unit: 'us', goal: 3 }),
      figure('OpenAI strict, over the hub', over('openai'), { unit: 'us', goal: 3 }),
      figure('Anthropic, over the hub', over('anthropic'), { unit: 'us', goal: 3 }),
      figure('hub.callDynamic', samples.hub, { unit: 'us' }),
    ]
  })
}

/** Stands for a class of the framework: keeps what it is given. */
class Fields {
  constructor(fields) {
    this.fields = fields
  }
}

/** The AI SDK takes a promise, or results as they come. */
async function last(execution) {
  if (!execution?.[Symbol.asyncIterator]) return execution
  let value
  for await (value of execution);
  return value
}
