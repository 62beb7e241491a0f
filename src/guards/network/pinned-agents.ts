import type { Agent } from 'undici'
import { ToolError } from '../../errors.ts'
import { connectPinned, type Dial } from './connect-pinned.ts'

const MOST_AGENTS = 64
// The deadline of the request is over all of it; undici's own timers would only add surprises.
const NO_OWN_LIMITS = { headersTimeout: 0, bodyTimeout: 0, maxHeaderSize: 32_768 }

/** Connections kept alive, by the address they are pinned to; undici keeps them apart by origin. */
export interface PinnedAgents {
  for(address: string): Promise<Agent>
  close(): Promise<void>
}

/** Makes the store of connections; the agent that was used longest ago is closed when there are too many. */
export function createPinnedAgents({ dial, ca }: { dial?: Dial; ca?: string }): PinnedAgents {
  const agents = new Map<string, Agent>()
  let undici: Promise<typeof import('undici')> | undefined
  let isClosed = false
  return {
    async for(address) {
      // Loaded by the first request: most hubs never make one.
      undici ??= import('undici')
      const { Agent } = await undici
      if (isClosed) throw new ToolError('ABORTED', 'The network guard is closed.')
      const agent = agents.get(address) ?? new Agent({ connect: connectPinned(address, dial, ca), ...NO_OWN_LIMITS })
      agents.delete(address)
      agents.set(address, agent)
      if (agents.size > MOST_AGENTS) closeOldest(agents)
      return agent
    },
    async close() {
      isClosed = true
      await Promise.all([...agents.values()].map((agent) => agent.destroy()))
      agents.clear()
    },
  }
}

/** A map keeps its order, and an agent goes to the end when it is used. */
function closeOldest(agents: Map<string, Agent>): void {
  const [address, agent] = agents.entries().next().value!
  agents.delete(address)
  // Requests under way end in their own time; nobody waits for them here.
  void agent.close()
}
