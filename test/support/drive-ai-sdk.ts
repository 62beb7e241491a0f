import { generateText, NoSuchToolError, stepCountIs } from 'ai'
import { MockLanguageModelV3 } from 'ai/test'
import { toAiSdk } from '../../packages/adapters/src/ai-sdk.ts'
import type { Hub } from '../../packages/runtime/src/hub/hub.ts'
import type { Turn } from './agent-script.ts'
import type { Conversation } from './conversation.ts'

const USAGE = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
}

/** Has a scripted model drive the loop of the AI SDK. */
export async function driveAiSdk(hub: Hub, turns: readonly Turn[]): Promise<Conversation> {
  const model = new MockLanguageModelV3({ doGenerate: turns.map(stepOf) })
  const caller = 'ai-sdk'
  const { text } = await generateText({
    model,
    tools: toAiSdk(hub, { caller, dialect: 'coding', approvals: 'hub' }),
    stopWhen: stepCountIs(turns.length + 1),
    prompt: 'Mend the greeting.',
    // The SDK answers for tools that it does not have; the audit must know of them all the same.
    experimental_repairToolCall: async ({ toolCall, error }) => {
      if (NoSuchToolError.isInstance(error)) {
        await hub.callDynamic(toolCall.toolName, JSON.parse(toolCall.input), { caller })
      }
      return null
    },
  })
  return { caller, run: hub.run, said: text, heard: heardBy(model) }
}

type Step = Awaited<ReturnType<MockLanguageModelV3['doGenerate']>>

function stepOf({ says, calls }: Turn, index: number): Step {
  const made = calls.map(({ name, args }, place) => ({
    type: 'tool-call' as const,
    toolCallId: `call-${index}-${place}`,
    toolName: name,
    input: JSON.stringify(args),
  }))
  return {
    content: [{ type: 'text', text: says }, ...made],
    finishReason: { unified: made.length > 0 ? 'tool-calls' : 'stop', raw: undefined },
    usage: USAGE,
    warnings: [],
  }
}

/** The last request to the model contained everything. */
function heardBy(model: MockLanguageModelV3): Conversation['heard'] {
  const messages = model.doGenerateCalls.at(-1)!.prompt.filter(({ role }) => role === 'tool')
  return messages.map(({ content }) =>
    (content as readonly { output: { type: string; value: string } }[]).map(({ output: { type, value } }) => ({
      isError: type.startsWith('error'),
      text: value,
    })),
  )
}
