import { Agent, type Tool, tool } from '@openai/agents-core'
import type { Hub } from '../../runtime/src/hub/hub.ts'
import { toOpenAiAgents } from './openai-agents.ts'

/** Checked by the compiler: the SDK's own `tool` fits, and what comes out is the SDK's own. */
export function fits(hub: Hub): Agent {
  const tools: Tool[] = toOpenAiAgents(hub, { tool, approvals: 'hub' })
  // @ts-expect-error the tools are made by the SDK of the caller
  toOpenAiAgents(hub, {})
  return new Agent({ name: 'Helper', tools: [...tools, ...toOpenAiAgents(hub, { tool })] })
}
