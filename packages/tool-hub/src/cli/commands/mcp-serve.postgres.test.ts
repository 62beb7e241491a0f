import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { CLI_MAIN, type CliFolder, cliFolder, jsonLines } from '../../../../../test/support/cli.ts'
import { eventually } from '../../../../../test/support/eventually.ts'
import { startPostgres, type TestPostgres } from '../../../../../test/support/postgres.ts'

let database: TestPostgres
beforeAll(async () => {
  database = await startPostgres()
})
afterAll(() => database.close())

/** A machine of the hub. Without plugins, `tool-hub mcp` creates its hub only when the first call comes. */
function machine(config: object = {}): CliFolder {
  const policy = [{ ask: 'test/note' }, { ask: 'core/util.time.now' }]
  const store = { url: database.url, schema: 'hub' }
  const folder = cliFolder(
    JSON.stringify({ store, approvals: { inbox: true }, sandbox: { root: '.' }, policy, ...config }),
  )
  onTestFinished(() => folder.remove())
  return folder
}

/** A client of `tool-hub mcp` on a machine. */
async function connect({ path }: CliFolder): Promise<{ client: Client; transport: StdioClientTransport }> {
  const client = new Client({ name: 'editor', version: '1' })
  const env = { PATH: process.env.PATH ?? '', HOME: path, TMPDIR: path }
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [CLI_MAIN, 'mcp'],
    ...{ cwd: path, env, stderr: 'ignore' },
  })
  await client.connect(transport)
  onTestFinished(() => client.close())
  return { client, transport }
}

async function serve(folder: CliFolder) {
  const serving = folder.start(['serve', '--port', '0', '--json'])
  onTestFinished(() => void serving.child.kill('SIGKILL'))
  await serving.says('"url"')
  const { url } = JSON.parse(serving.said().stdout.split('\n')[0]!)
  const added = await folder.run(['tokens', 'add', 'ada', '--scopes', 'read,approve'])
  const headers = { authorization: `Bearer ${added.stdout.trim()}`, 'content-type': 'application/json' }
  const approvals = async () => {
    const response = await fetch(`${url}/v1/approvals`, { headers })
    return ((await response.json()) as { approvals: { id: string; tool: string; caller?: string }[] }).approvals
  }
  const answer = (id: string, decision: 'allow' | 'deny') =>
    fetch(`${url}/v1/approvals/${id}`, { method: 'POST', headers, body: JSON.stringify({ decision }) })
  return { serving, approvals, answer }
}

it('two tool-hub mcp beside a service share its database: their approvals are answered there', async () => {
  const [one, two, three] = [machine({ plugins: ['./plugin.mjs'] }), machine(), machine()]
  const { serving, approvals, answer } = await serve(three)
  const [first, second] = await Promise.all([connect(one), connect(two)])
  const made = await Promise.all([
    first.client.callTool({ name: 'test_echo', arguments: { word: 'one' } }),
    second.client.callTool({ name: 'core_util_hash_sha256Text', arguments: { text: 'two' } }),
  ])
  expect(made.map(({ isError = false }) => isError)).toEqual([false, false])
  const note = { path: 'note.txt', text: 'agreed' }
  const waiting = [
    first.client.callTool({ name: 'test_note', arguments: note }),
    second.client.callTool({ name: 'core_util_time_now', arguments: {} }),
  ]
  const listed = await eventually(async () => {
    const found = await approvals()
    expect(found.map(({ tool }) => tool).sort()).toEqual(['core/util.time.now', 'test/note'])
    return found
  })
  expect(existsSync(join(one.path, note.path))).toBe(false)
  const idOf = (name: string) => listed.find(({ tool }) => tool === name)!.id
  expect((await answer(idOf('test/note'), 'allow')).status).toBe(200)
  expect((await answer(idOf('core/util.time.now'), 'deny')).status).toBe(200)
  const [noted, denied] = await Promise.all(waiting)
  expect(noted).toMatchObject({ content: [{ type: 'text' }] })
  expect(noted!.isError ?? false).toBe(false)
  expect(existsSync(join(one.path, note.path))).toBe(true)
  expect(denied).toMatchObject({ isError: true, content: [{ text: expect.stringMatching(/denied/i) }] })
  expect(await approvals()).toEqual([])

  // A process that ends in good order leaves neither a heartbeat nor a lease.
  await Promise.all([first.client.close(), second.client.close()])
  const count = (what: string) => Number(database.sql(`SELECT COUNT(*) FROM hub.${what}`))
  await eventually(() => expect(count('processes')).toBe(1))
  serving.child.kill('SIGTERM')
  expect(await serving.ended).toMatchObject({ code: 143 })
  expect([count('processes'), count(`run_states WHERE owner <> ''`)]).toEqual([0, 0])
  const verified = await three.run(['audit', 'verify', '--shared', '--strict', '--json'])
  expect(verified.code).toBe(0)
  const calls = jsonLines(verified.stdout).map((report) => report.calls)
  expect(calls.reduce((sum, each) => sum + each, 0)).toBe(4)
  for (const { path } of [one, two, three]) expect(existsSync(join(path, '.tool-hub', 'store.db'))).toBe(false)
})

const LIST = JSON.stringify({
  ...{ jsonrpc: '2.0', id: 1, method: 'tools/list' },
  params: { _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' } },
})

it('tool-hub mcp ends with what is wrong if its database cannot be used', async () => {
  const wrong = machine({ store: 'postgres://hub:topsecret@127.0.0.1:1/hub' })
  const gone = await wrong.run(['mcp'], `${LIST}\n`)
  expect(gone).toMatchObject({ code: 2, stderr: expect.stringMatching(/No PostgreSQL answers at 127\.0\.0\.1:1/) })
  expect(gone.stdout + gone.stderr).not.toContain('topsecret')
})

it('tool-hub mcp fails calls while its database is away, and continues after it', async () => {
  const folder = machine({ plugins: ['./plugin.mjs'], policy: [{ allow: 'test/note' }] })
  const { client } = await connect(folder)
  const note = (path: string) => client.callTool({ name: 'test_note', arguments: { path, text: 'agreed' } })
  expect((await note('before.txt')).isError ?? false).toBe(false)
  await database.stop('immediate')
  try {
    expect(await note('away.txt')).toMatchObject({
      isError: true,
      content: [{ text: expect.stringMatching(/RECORDS_UNAVAILABLE|PROCESS_CUT_OFF/) }],
    })
    expect(existsSync(join(folder.path, 'away.txt'))).toBe(false)
  } finally {
    await database.start()
  }
  await eventually(async () => expect((await note('after.txt')).isError ?? false).toBe(false))
})
