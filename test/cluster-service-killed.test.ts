import { once } from 'node:events'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest'
import { WebSocket } from 'ws'
import { type CliFolder, cliFolder, type Running } from './support/cli.ts'
import { eventually } from './support/eventually.ts'
import { startPostgres, type TestPostgres } from './support/postgres.ts'

// Services of a cluster are killed and replaced, one after the other.
vi.setConfig({ testTimeout: 600_000 })

let database: TestPostgres
beforeAll(async () => {
  database = await startPostgres()
})
afterAll(() => database.close())

interface Machine {
  readonly folder: CliFolder
  readonly serving: Running
  readonly url: string
}

/** A service on a machine of its own: a process with its own folders. */
async function serve(): Promise<Machine> {
  const store = { url: database.url, schema: 'killed' }
  const folder = cliFolder(JSON.stringify({ store, plugins: ['./plugin.mjs'] }))
  onTestFinished(() => folder.remove())
  const serving = folder.start(['serve', '--port', '0', '--json'])
  onTestFinished(async () => {
    serving.child.kill('SIGKILL')
    await serving.ended
  })
  await serving.says('"url"')
  return { folder, serving, url: JSON.parse(serving.said().stdout.split('\n')[0]!).url }
}

it('a process that is killed leaves nobody waiting for its answer, over whatever protocol', async () => {
  const [owner, other] = await Promise.all([serve(), serve()])
  const added = await owner.folder.run(['tokens', 'add', 'ada', '--scopes', 'read,call'])
  const secret = added.stdout.trim()
  const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' }
  const call = (url: string, tool: string, accept = 'application/json') =>
    fetch(`${url}/v1/tools/${tool}/call`, {
      method: 'POST',
      headers: { ...headers, accept },
      body: JSON.stringify({ run: 'r', input: {} }),
    })
  expect(await (await call(owner.url, 'test_echo')).json()).toMatchObject({ ok: true })

  // An MCP session that the owner has, over the other process.
  let to = owner.url
  const client = new Client({ name: 'agent', version: '1' }, { versionNegotiation: { mode: 'legacy' } })
  onTestFinished(() => client.close())
  await client.connect(
    new StreamableHTTPClientTransport(new URL('/mcp', owner.url), {
      requestInit: { headers: { authorization: headers.authorization } },
      fetch: (url, init) => fetch(new URL(new URL(url).pathname, to), init),
    }),
  )
  to = other.url
  const overMcp = client.callTool({ name: 'test_hangs', arguments: {} }).then(
    (result) => result,
    (error: unknown) => ({ error }),
  )
  const plain = call(other.url, 'test_hangs')
  const socket = new WebSocket(`${other.url.replace('http', 'ws')}/v1/ws`, ['tool-hub.v1', `bearer.${secret}`])
  onTestFinished(() => socket.terminate())
  const messages: Record<string, unknown>[] = []
  socket.on('message', (data) => messages.push(JSON.parse(data.toString())))
  await once(socket, 'open')
  socket.send(JSON.stringify({ type: 'hello' }))
  socket.send(JSON.stringify({ type: 'call', id: 'c1', tool: 'test_hangs', input: {}, run: 'r', stream: true }))
  const streamed = await call(other.url, 'test_hangs', 'text/event-stream')
  let said = ''
  const reading = (async () => {
    for await (const chunk of streamed.body!.pipeThrough(new TextDecoderStream())) said += chunk
  })()
  // All four hang: the owner has begun every call.
  const begun = () => database.sql(`SELECT string_agg(lines, '') FROM killed.segments`).split('call-started').length - 1
  await eventually(() => expect(said).toContain('call-progressed'))
  await eventually(() => expect(messages.some(({ type }) => type === 'progress')).toBe(true))
  await eventually(() => expect(begun()).toBe(4), { interval: 200 })
  owner.serving.child.kill('SIGKILL')

  const response = await plain
  expect([response.status, response.headers.get('retry-after')]).toEqual([502, '2'])
  expect(await response.json()).toMatchObject({
    error: {
      code: 'UPSTREAM_ERROR',
      retryable: true,
      fix: { hint: expect.stringContaining('idempotency key') },
    },
  })
  await reading
  expect(said).toMatch(/event: error\ndata: \{.*"code":"UPSTREAM_ERROR".*"retryable":true.*\n\n$/)
  const result = await eventually(() => {
    const found = messages.find(({ type, id }) => id === 'c1' && type !== 'progress')
    expect(found, JSON.stringify(messages)).toBeDefined()
    return found!
  })
  expect(result).toMatchObject({ type: 'error', error: { code: 'UPSTREAM_ERROR', retryable: true } })
  // Not the time limit of the client.
  expect(await overMcp).toMatchObject({ error: { message: expect.stringContaining('was lost') } })

  // Nobody has to restart anything: the other process takes the run when the heartbeats have ended.
  await eventually(async () => expect(await (await call(other.url, 'test_echo')).json()).toMatchObject({ ok: true }), {
    interval: 250,
  })
})
