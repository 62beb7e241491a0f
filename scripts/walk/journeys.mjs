import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { PassThrough } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'

/** The only modules of the sources that are named here, so that everything behind them can move. */
const ENTRY_POINTS = {
  library: '../../packages/library/src/index.ts',
  service: '../../packages/tool-hub/src/serve.ts',
  mcp: '../../packages/tool-hub/src/mcp.ts',
}

/** How often the owner looks for an approval. */
const POLL_MS = 20

const FILE = { name: 'notes.txt', text: 'One line.\n' }

/**
 * What is measured. `open` starts a journey in an empty folder; each `prepare` then does what comes before the measured
 * part and returns that part. The clients are not part of tool-hub, so only what the server does is counted.
 */
export const JOURNEYS = [
  { name: 'library', title: "hub.call('core/fs.readText')", open: openLibrary },
  { name: 'http', title: 'core/fs.readText over HTTP', open: openHttp },
  { name: 'approval', title: 'an approval answered over HTTP, until its call has ended', open: openApproval },
  { name: 'mcp', title: "exec 'echo hi' over MCP stdio", open: openMcp },
]

async function openLibrary(home) {
  const { createToolHub } = await import(ENTRY_POINTS.library)
  const hub = createToolHub(await optionsFor(home))
  const travel = async () => succeed(await hub.call('core/fs.readText', { path: FILE.name }))
  return { prepare: () => travel, close: () => hub.close() }
}

async function openHttp(home) {
  const { service, agent } = await startServiceFor(home)
  const travel = async () => succeed(await agent.post('/v1/tools/core%2Ffs.readText/call', readCall()))
  return { prepare: () => travel, close: () => service.close() }
}

async function openApproval(home) {
  const { service, owner, agent } = await startServiceFor(home, [{ ask: 'read:fs', reason: 'A person looks first.' }])
  const prepare = async () => {
    const call = agent.post('/v1/tools/core%2Ffs.readText/call', readCall())
    const id = await Promise.race([pendingApproval(owner), call.then(endedEarly)])
    return async () => {
      const [answer, result] = await Promise.all([owner.post(`/v1/approvals/${id}`, { decision: 'allow' }), call])
      if (!answer.won) throw new Error(`The approval was not answered: ${JSON.stringify(answer)}`)
      succeed(result)
    }
  }
  return { prepare, close: () => service.close() }
}

async function openMcp(home) {
  const { createToolHub } = await import(ENTRY_POINTS.library)
  const { serveMcpStdio } = await import(ENTRY_POINTS.mcp)
  const hub = createToolHub(await optionsFor(home, [{ allow: 'exec' }]))
  const [stdin, stdout] = [new PassThrough(), new PassThrough()]
  const server = await serveMcpStdio(hub, { dialect: 'coding', stdin, stdout })
  const client = lineClient(stdin, stdout)
  await client.request('initialize', {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'walk', version: '1.0.0' },
  })
  client.notify('notifications/initialized')
  const travel = async () => {
    const result = await client.request('tools/call', { name: 'exec', arguments: { command: 'echo hi' } })
    if (result.isError || !JSON.stringify(result).includes('hi')) throw new Error(JSON.stringify(result))
  }
  const close = async () => {
    await server.close()
    await hub.close()
  }
  return { prepare: () => travel, close }
}

/** A hub whose tools work on a folder with one file. */
async function optionsFor(home, policy = []) {
  const root = join(home, 'work')
  await mkdir(root)
  await writeFile(join(root, FILE.name), FILE.text)
  return { sandbox: { root }, policy, runs: join(home, 'runs'), data: join(home, 'data') }
}

/** A service on loopback, with its owner and an agent that may call tools. */
async function startServiceFor(home, policy) {
  const { startService } = await import(ENTRY_POINTS.service)
  const service = await startService(await optionsFor(home, policy), { port: 0 })
  const owner = httpClient(service.url, service.token)
  const { secret } = await owner.post('/v1/tokens', { name: 'agent', scopes: ['call'] })
  return { service, owner, agent: httpClient(service.url, secret) }
}

function readCall() {
  return { input: { path: FILE.name } }
}

/** The id of the approval that is pending, as soon as there is one. */
async function pendingApproval(owner) {
  for (;;) {
    const { approvals } = await owner.get('/v1/approvals')
    if (approvals.length > 0) return approvals[0].id
    await sleep(POLL_MS)
  }
}

function endedEarly(result) {
  throw new Error(`The call did not wait for an approval: ${JSON.stringify(result)}`)
}

function succeed(result) {
  if (!result.ok) throw new Error(`The call failed: ${JSON.stringify(result)}`)
}

function httpClient(url, token) {
  const send = async (method, path, body) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const response = await fetch(`${url}${path}`, { method, headers, body: JSON.stringify(body) })
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
    return response.json()
  }
  return { get: (path) => send('GET', path), post: (path, body) => send('POST', path, body) }
}

/** A client that speaks JSON-RPC in lines, one request at a time. */
function lineClient(stdin, stdout) {
  const lines = createInterface({ input: stdout })[Symbol.asyncIterator]()
  const write = (message) => stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  let id = 0
  return {
    notify: (method) => write({ method }),
    async request(method, params) {
      write({ id: ++id, method, params })
      for (;;) {
        const { value, done } = await lines.next()
        if (done) throw new Error(`The server ended before it answered ${method}.`)
        const message = JSON.parse(value)
        if (message.id !== id) continue
        if (message.error !== undefined) throw new Error(`${method}: ${JSON.stringify(message.error)}`)
        return message.result
      }
    },
  }
}
