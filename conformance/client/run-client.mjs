import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createToolHub } from '../tool-hub.mjs'
import { makeArguments } from './make-arguments.mjs'
import { Person } from './person.mjs'

const SERVER = 'suite'
const PREFIX = `mcp/${SERVER}.`
/** The address of this client's metadata; the suite expects exactly this one. */
const OWN_METADATA = 'https://conformance-test.local/client-metadata.json'

/**
 * The client under test: a hub with the suite's server among its MCP servers, which calls every tool that it finds
 * there. Returns what happened, line by line.
 */
export async function runClient({ url, scenario, context }) {
  const oauth = oauthOf(scenario, context)
  const lines = []
  const person = new Person({ server: SERVER, url, oauth, say: (line) => lines.push(line) })
  const data = await mkdtemp(join(tmpdir(), 'tool-hub-conformance-'))
  const hub = createToolHub({
    mcpServers: { [SERVER]: { url, ...(oauth && { oauth }) } },
    sources: [person.source],
    policy: [{ allow: 'remote', on: `mcp:${SERVER}/*` }],
    onQuestion: (question) => person.answer(question),
    runs: false,
    data,
  })
  const call = async (tool, input) => {
    const result = await hub.callDynamic(PREFIX + tool, input)
    if (await person.help(result)) return call(tool, input)
    lines.push(`${tool}: ${result.ok ? result.summary : `${result.error.code}: ${result.error.message}`}`)
  }
  try {
    // A name that nobody has: the call ends when the server has brought its tools, or says why it does not.
    await call('nothing', {})
    await Promise.all(callsOf(hub.cards(), context).map(([tool, input]) => call(tool, input)))
  } catch (error) {
    lines.push(String(error))
  } finally {
    await hub.close()
    await rm(data, { recursive: true, force: true })
  }
  return lines
}

/** What the scenario wants to be called, or everything. Like a model, it leaves out what it has no value for. */
function callsOf(cards, { toolCalls }) {
  if (toolCalls) return toolCalls.map(({ name, arguments: input }) => [name, withoutNulls(input)])
  const ours = cards.filter(({ tool }) => tool.startsWith(PREFIX))
  const calls = new Map(ours.map(({ tool, parameters }) => [tool.slice(PREFIX.length), makeArguments(parameters)]))
  // It wants to see what became of the schema of another tool.
  const schema = ours.find(({ tool }) => tool === `${PREFIX}json_schema_2020_12_tool`)?.parameters
  if (calls.has('json_schema_echo')) calls.set('json_schema_echo', { schema })
  return [...calls]
}

function withoutNulls(input) {
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== null))
}

function oauthOf(scenario, { client_id: clientId, client_secret: clientSecret }) {
  if (scenario === 'auth/basic-cimd') return { clientId: OWN_METADATA }
  if (clientId === undefined) return undefined
  return { clientId, ...(clientSecret !== undefined && { clientSecret }) }
}
