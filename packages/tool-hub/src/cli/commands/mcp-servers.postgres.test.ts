import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { startAuthorizationServer } from '../../../../../test/support/authorization-server.ts'
import { type CliFolder, cliFolder, type Ended, type Running, startCli } from '../../../../../test/support/cli.ts'
import { startOneToolServer } from '../../../../../test/support/one-tool-server.ts'
import { startPostgres, type TestPostgres } from '../../../../../test/support/postgres.ts'

const KEY = '0123456789abcdef'.repeat(4)
const OTHER_KEY = 'fedcba9876543210'.repeat(4)

let database: TestPostgres
beforeAll(async () => {
  database = await startPostgres({ tcp: true })
})
afterAll(() => database.close())

/** A machine of a hub: a folder of its own, with the same servers and the same store as the others. */
function machine(
  schema: string,
  servers: object,
): CliFolder & {
  with(key: string, words: readonly string[]): Promise<Ended>
  begin(key: string, words: readonly string[]): Running
} {
  const folder = cliFolder(JSON.stringify({ store: { url: database.url, schema }, mcpServers: servers }))
  onTestFinished(() => folder.remove())
  const begin = (key: string, words: readonly string[]) =>
    startCli(folder.path, words, undefined, undefined, { TOOL_HUB_KEY: key })
  return { ...folder, begin, with: (key, words) => begin(key, words).ended }
}

it('mcp pin accepts the changes of a server for all machines', async () => {
  const { url, tool } = await startOneToolServer()
  const servers = { e: { url, oauth: false } }
  const [one, other] = [machine('pins', servers), machine('pins', servers)]
  expect(await one.run(['mcp', 'test'])).toMatchObject({ code: 0 })
  tool.description = 'Deletes.'
  expect(await other.run(['mcp', 'test'])).toMatchObject({ code: 1, stdout: expect.stringContaining('+Deletes.') })
  expect((await other.run(['doctor'])).stdout).toMatch(/weak +mcp +e changed or added 1 tool/)
  expect(await one.run(['mcp', 'pin', 'e'])).toMatchObject({ code: 0, stdout: 'Accepted: go.\n' })
  expect(await other.run(['mcp', 'test'])).toMatchObject({ code: 0 })
  expect(await other.run(['mcp', 'pin', 'e', '--forget'])).toMatchObject({ stdout: 'Forgot 1 definitions of e.\n' })
  for (const { path } of [one, other]) expect(existsSync(join(path, '.tool-hub', 'mcp-pins.json'))).toBe(false)
})

it('mcp login and logout are for all machines that have the key', async () => {
  const server = await startAuthorizationServer()
  onTestFinished(() => server.close())
  const servers = { github: { url: server.url } }
  const [one, other] = [machine('sign_ins', servers), machine('sign_ins', servers)]
  const keyless = await one.run(['mcp', 'login', 'github'])
  expect(keyless).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/TOOL_HUB_KEY is not set[\s\S]*on all\s+machines/),
  })
  expect((await one.run(['doctor'])).stdout).toMatch(/weak +mcp +TOOL_HUB_KEY is not set/)
  const login = one.begin(KEY, ['mcp', 'login', 'github'])
  await login.says('/authorize?')
  const page = /http:\S+\/authorize\?\S+/.exec(login.said().stderr + login.said().stdout)![0]
  const answer = await fetch(page, { redirect: 'manual' })
  await fetch(answer.headers.get('location')!)
  expect(await login.ended).toMatchObject({ code: 0, stdout: 'Signed in to github.\n' })
  expect(await other.with(KEY, ['mcp', 'test'])).toMatchObject({ code: 0 })
  expect((await other.with(KEY, ['doctor'])).stdout).toMatch(/good +mcp +github has 0 tools/)
  expect(await other.with(OTHER_KEY, ['mcp', 'test'])).toMatchObject({ code: 1 })
  const wrongKey = { code: 2, stderr: expect.stringContaining('written with another key') }
  expect(await other.with(OTHER_KEY, ['mcp', 'logout', 'github'])).toMatchObject(wrongKey)
  expect(await one.with(KEY, ['mcp', 'test'])).toMatchObject({ code: 0 })
  expect(await other.with(KEY, ['mcp', 'logout', 'github'])).toMatchObject({ stdout: 'Signed out of github.\n' })
  expect(await one.with(KEY, ['mcp', 'test'])).toMatchObject({ code: 1 })
  expect(await other.with(OTHER_KEY, ['mcp', 'logout', 'github', '--force'])).toMatchObject({ code: 0 })
  for (const { path } of [one, other])
    for (const file of ['mcp-tokens', 'key']) expect(existsSync(join(path, '.tool-hub', file))).toBe(false)
})
