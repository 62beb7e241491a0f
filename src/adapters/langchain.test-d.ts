import type { BaseChatModel } from '@langchain/core/language_models/chat_models'
import { ToolMessage } from '@langchain/core/messages'
import { DynamicStructuredTool, type StructuredToolInterface } from '@langchain/core/tools'
import type { Hub } from '../hub/hub.ts'
import { toLangChain } from './langchain.ts'

/** Checked by the compiler: LangChain's own classes fit, and what comes out is LangChain's own. */
export function fits(hub: Hub, model: BaseChatModel): void {
  const tools = toLangChain(hub, { DynamicStructuredTool, ToolMessage })
  const own: DynamicStructuredTool[] = tools
  const plain: StructuredToolInterface[] = tools
  model.bindTools?.(own)
  model.bindTools?.(plain)
  toLangChain(hub, { DynamicStructuredTool, ToolMessage, interrupt: <I, R = unknown>(_value: I): R => ({}) as R })
  // @ts-expect-error a failed call is told by a message of LangChain's
  toLangChain(hub, { DynamicStructuredTool })
}
