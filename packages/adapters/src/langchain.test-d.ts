import type { BaseChatModel } from '@langchain/core/language_models/chat_models'
import { type AIMessage, type BaseMessage, ToolMessage } from '@langchain/core/messages'
import { DynamicStructuredTool, type StructuredToolInterface } from '@langchain/core/tools'
import type { Hub } from '../../runtime/src/hub/hub.ts'
import { toLangChain } from './langchain.ts'

/** Checked by the compiler: the answer to a call of a model is a message that goes back to the model. */
export async function answers(hub: Hub, model: BaseChatModel, messages: BaseMessage[]): Promise<void> {
  const tools = toLangChain(hub, { DynamicStructuredTool, ToolMessage })
  const answer = (await model.invoke(messages)) as AIMessage
  messages.push(answer)
  for (const call of answer.tool_calls ?? []) {
    const tool = tools.find(({ name }) => name === call.name)
    if (!tool) continue
    const message: ToolMessage = await tool.invoke({ ...call, type: 'tool_call' })
    messages.push(message)
  }
}

/** Checked by the compiler: LangChain's own classes fit, and what comes out is LangChain's own. */
export function fits(hub: Hub, model: BaseChatModel): void {
  const tools = toLangChain(hub, { DynamicStructuredTool, ToolMessage })
  const own: DynamicStructuredTool[] = tools
  const plain: StructuredToolInterface[] = tools
  model.bindTools?.(own)
  model.bindTools?.(plain)
  toLangChain(hub, { DynamicStructuredTool, ToolMessage, interrupt: <I, R = unknown>(_value: I): R => ({}) as R })
  // @ts-expect-error a failed call becomes a message of LangChain's
  toLangChain(hub, { DynamicStructuredTool })
}
