import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { Client, ProtocolError, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { serveMcp } from '../../packages/server/src/mcp/serve.ts'
import type { TestHub } from '../../packages/testing/src/tool-contract.ts'
import type { ScriptedCall, Turn } from './agent-script.ts'
import type { Conversation } from './conversation.ts'

/** Has a scripted model drive a client of MCP, of the newest protocol, over HTTP. */
export async function driveMcp(hub: TestHub, turns: readonly Turn[]): Promise<Conversation> {
  const server = await serveMcp(hub, { dialect: 'coding', elicitation: false, graceMs: 0 })
  const client = new Client(
    { name: 'agent', version: '1.0.0' },
    { versionNegotiation: { mode: { pin: '2026-07-28' } }, capabilities: { elicitation: { form: {} } } },
  )
  client.setRequestHandler('elicitation/create', () => {
    throw new Error('The hub has somebody to ask, and is configured not to ask the client.')
  })
  try {
    await client.connect(new StreamableHTTPClientTransport(new URL(server.url)))
    // From now on the client checks what comes back against what the tools promise.
    await client.listTools()
    const heard: Conversation['heard'][number][] = []
    let said = ''
    for (const { says, calls } of turns) {
      said = says
      if (calls.length > 0) heard.push(await Promise.all(calls.map((call) => make(client, call))))
    }
    return { caller: 'mcp:agent', run: runOf(hub), said, heard }
  } finally {
    await client.close()
    await server.close()
  }
}

async function make(client: Client, { name, args }: ScriptedCall): Promise<Conversation['heard'][number][number]> {
  try {
    const { content, isError } = await client.callTool({ name, arguments: args })
    const texts = content.flatMap((block) => (block.type === 'text' ? [block.text] : []))
    return { isError: isError === true, text: texts.join('\n') }
  } catch (error) {
    if (ProtocolError.isInstance(error)) return { isError: true, text: error.message }
    throw error
  }
}

/** One client has one run. */
function runOf({ folder }: TestHub): string {
  const runs = readdirSync(join(folder, 'runs'))
  if (runs.length === 1) return runs[0]!
  throw new Error(`One client made ${runs.length} runs: ${runs.join(', ')}.`)
}
