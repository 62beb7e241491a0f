import { createServer } from 'node:http'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { toNodeHandler } from '@modelcontextprotocol/node'
import { createMcpHandler, McpServer, Server } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { serveMcp } from '../../packages/tool-hub/dist/mcp.js'
import { answerEcho } from '../lib/answer-echo.mjs'
import { echoHub } from '../lib/echo-hub.mjs'
import { echoTools } from '../lib/echo-tools.mjs'
import { figure, ratioFigure } from '../lib/figure.mjs'
import { echo } from '../lib/mcp-stdio.mjs'
import { measureInRounds, microsecondsEach } from '../lib/measure.mjs'
import { withTempFolder } from '../lib/temp-folder.mjs'

const TOOLS = 60
const CALLS = 300

/** A call over streamable HTTP of the stateless era, on a server with 60 tools, beside the SDK's two ways to have them. */
export default async function mcpHttp({ rounds }) {
  return withTempFolder(async (folder) => {
    const hub = echoHub({ runs: join(folder, 'runs'), count: TOOLS })
    const own = await serveMcp(hub)
    const low = await listen(() => answerEcho(new Server(INFO, { capabilities: { tools: {} } }), TOOLS))
    const high = await listen(highLevel)
    const [ours, bare, zod] = await Promise.all([own.url, low.url, high.url].map(connect))
    let count = 0
    const samples = await measureInRounds(
      {
        ours: () => microsecondsEach(CALLS, () => echo(ours, 'echo', `say ${++count}`)),
        bare: () => microsecondsEach(CALLS, () => echo(bare, 'echo', `say ${++count}`)),
        zod: () => microsecondsEach(CALLS, () => echo(zod, 'echo', `say ${++count}`)),
      },
      { rounds },
    )
    await Promise.all([ours, bare, zod].map((client) => client.close()))
    await Promise.all([own.close(), low.close(), high.close()])
    await hub.close()
    return [
      ratioFigure('governed call : bare low-level server', samples.ours, samples.bare, { goal: 1.15 }),
      ratioFigure('governed call : McpServer with zod', samples.ours, samples.zod, { goal: 0.5 }),
      figure('governed call', samples.ours, { unit: 'us' }),
      figure('bare low-level server', samples.bare, { unit: 'us' }),
      figure('McpServer with zod', samples.zod, { unit: 'us' }),
    ]
  })
}

const INFO = { name: 'bench', version: '1.0.0' }

/** As its documentation shows it: the tools are registered in the factory, so for each request. */
function highLevel() {
  const server = new McpServer(INFO)
  for (const { name, description } of echoTools(TOOLS)) {
    const inputSchema = z.strictObject({ text: z.string().describe('What to say.'), times: z.int().min(1).optional() })
    server.registerTool(name, { description, inputSchema }, ({ text }) => ({ content: [{ type: 'text', text }] }))
  }
  return server
}

async function listen(factory) {
  const server = createServer(toNodeHandler(createMcpHandler(factory)))
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address()
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    close: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(resolve))
    },
  }
}

async function connect(url) {
  const client = new Client(INFO)
  await client.connect(new StreamableHTTPClientTransport(new URL(url)))
  return client
}
