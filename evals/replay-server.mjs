// An MCP server over stdio that answers each call with the recorded result: node replay-server.mjs FILE SUITE
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { annotationsOf } from './policies.mjs'
import { readSuiteFile } from './read-suites.mjs'

const [file, suite] = process.argv.slice(2)
const { tools, user, inj } = readSuiteFile(file)[suite]
const results = new Map()
for (const { calls } of [...Object.values(user), ...Object.values(inj)])
  for (const { tool, args, result } of calls) results.set(`${tool} ${JSON.stringify(args)}`, String(result ?? ''))

const server = new Server({ name: suite, version: '1.0.0' }, { capabilities: { tools: {} } })
server.setRequestHandler(ListToolsRequestSchema, () => ({
  tools: tools.map((tool) => ({
    name: tool.name,
    description: tool.description,
    inputSchema: { type: 'object', ...tool.params },
    annotations: annotationsOf(tool),
  })),
}))
server.setRequestHandler(CallToolRequestSchema, ({ params: { name, arguments: args } }) => ({
  content: [{ type: 'text', text: results.get(`${name} ${JSON.stringify(args)}`) ?? 'done' }],
}))
await server.connect(new StdioServerTransport())
