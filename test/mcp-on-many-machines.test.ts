import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createToolHub } from '@tool-hub/library/create-tool-hub'
import { openPostgresStore } from '@tool-hub/library/stores'
import { Pins, signInToServer } from '@tool-hub/mcp/manage'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, onTestFinished, vi } from 'vitest'
import type { McpServer } from '../packages/core/src/mcp-server.ts'
import type { SourceHost } from '../packages/core/src/source.ts'
import { createMcpSource } from '../packages/mcp/src/mcp-source.ts'
import { startAuthorizationServer } from './support/authorization-server.ts'
import { eventually } from './support/eventually.ts'
import { startOneToolServer } from './support/one-tool-server.ts'
import { startPostgres, type TestPostgres } from './support/postgres.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

let database: TestPostgres
let schema = ''
beforeAll(async () => {
  database = await startPostgres()
})
afterAll(() => database.close())
beforeEach(() => {
  schema = `t_${randomBytes(6).toString('hex')}`
  vi.stubEnv('TOOL_HUB_KEY', '0123456789abcdef'.repeat(4))
  vi.spyOn(console, 'warn').mockImplementation(() => {})
})
afterEach(() => {
  vi.unstubAllEnvs()
  vi.restoreAllMocks()
})

/** The hub of a machine, with its own folders and its own connections to the database. */
async function machine(servers: Record<string, McpServer>) {
  const home = temporaryFolder('machine')
  const store = await openPostgresStore(database.url, { schema })
  onTestFinished(() => store.close())
  const source = createMcpSource(servers)
  const data = join(home, 'data')
  const hub = createToolHub({ data, runs: join(home, 'runs'), store, sources: [source] })
  onTestFinished(() => hub.close())
  const host = await new Promise<SourceHost>((resolve) => void hub.connect({ name: 'the test', start: resolve }))
  return { hub, host, data, status: () => source.status()[0], source }
}

it('a change that the owner accepts on one machine is accepted on all', async () => {
  const { url, tool } = await startOneToolServer()
  const servers = { e: { url, oauth: false as const } }
  const one = await machine(servers)
  await eventually(() => expect(one.status()).toMatchObject({ state: 'connected', tools: ['mcp/e.go'] }))
  tool.description = 'Deletes.'
  // A machine that has never seen the server compares it with what the others have seen.
  const other = await machine(servers)
  await eventually(() => expect(other.status()).toMatchObject({ state: 'connected', changed: ['mcp/e.go'] }))
  expect(await new Pins(one.host).accept('e')).toEqual(['go'])
  await eventually(() => expect(other.status()).not.toHaveProperty('changed'))
  for (const { data } of [one, other]) expect(existsSync(join(data, 'mcp-pins.json'))).toBe(false)
})

it('a person who signs in on one machine is signed in on all, and stays so when all renew at the same moment', async () => {
  const server = await startAuthorizationServer()
  onTestFinished(() => server.close())
  const servers = { github: { url: server.url } }
  const one = await machine(servers)
  const problem = { code: 'APPROVAL_UNAVAILABLE', message: 'github wants you to sign in.' }
  await eventually(() => expect(one.status()).toMatchObject({ state: 'down', problem }))
  const { host } = one
  await signInToServer({
    ...{ server: 'github', url: server.url, host, say: () => {}, signal: new AbortController().signal },
    fetch: host.webFetch({ origins: [server.origin], publicHosts: true }),
    async openBrowser(page) {
      const answer = await fetch(page, { redirect: 'manual' })
      await fetch(answer.headers.get('location')!)
    },
  })
  const others = await Promise.all([machine(servers), machine(servers), machine(servers)])
  for (const { status } of others) await eventually(() => expect(status()).toMatchObject({ state: 'connected' }))
  const renewals = () => server.pathsAsked().filter((path) => path === '/token').length
  const before = renewals()
  server.expire()
  await Promise.all(others.map(({ source }) => source.acceptDefinitions('github')))
  expect(renewals()).toBe(before + 1)
  for (const { data } of [one, ...others])
    for (const file of ['mcp-tokens', 'key']) expect(existsSync(join(data, file))).toBe(false)
})
