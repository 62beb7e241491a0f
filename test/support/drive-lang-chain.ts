import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from '@langchain/core/messages'
import { fakeModel } from '@langchain/core/testing'
import { DynamicStructuredTool } from '@langchain/core/tools'
import { toLangChain } from '../../packages/adapters/src/langchain.ts'
import type { Hub } from '../../packages/runtime/src/hub/hub.ts'
import type { Turn } from './agent-script.ts'
import type { Conversation } from './conversation.ts'

/** Has a scripted model drive a loop of LangChain's models and tools. */
export async function driveLangChain(hub: Hub, turns: readonly Turn[]): Promise<Conversation> {
  const caller = 'langchain'
  const tools = toLangChain(hub, { DynamicStructuredTool, ToolMessage, caller, dialect: 'coding' })
  const model = turns.reduce((fake, turn, index) => fake.respond(messageOf(turn, index)), fakeModel()).bindTools(tools)
  const messages: BaseMessage[] = [new HumanMessage('Mend the greeting.')]
  const heard: ToolMessage[][] = []
  for (;;) {
    const message = await model.invoke(messages)
    messages.push(message)
    const calls = message.tool_calls ?? []
    if (calls.length === 0) break
    const answers = await Promise.all(
      calls.map(async (call) => {
        const tool = tools.find(({ name }) => name === call.name)
        if (tool) return (await tool.invoke({ ...call, type: 'tool_call' })) as ToolMessage
        // LangChain leaves tools that there are not to the loop; the audit must know of them.
        const { summary } = await hub.callDynamic(call.name, call.args, { caller })
        return new ToolMessage({ status: 'error', tool_call_id: call.id!, name: call.name, content: summary })
      }),
    )
    messages.push(...answers)
    heard.push(answers)
  }
  return {
    caller,
    run: hub.run,
    said: messages.at(-1)!.text,
    heard: heard.map((answers) => answers.map(({ status, text }) => ({ isError: status === 'error', text }))),
  }
}

function messageOf({ says, calls }: Turn, index: number): AIMessage {
  const tool_calls = calls.map(({ name, args }, place) => ({ name, args, id: `call-${index}-${place}` }))
  return new AIMessage({ content: says, tool_calls })
}
