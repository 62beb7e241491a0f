import { expect, it, onTestFinished } from 'vitest'
import { cliFolder } from '../../../../../test/support/cli.ts'

it('a client of tool-hub mcp gets the rules of a config that is edited meanwhile, and keeps them when it is not valid', async () => {
  const folder = cliFolder('version: 1\n')
  const serving = folder.start(['mcp'])
  onTestFinished(async () => {
    serving.child.kill('SIGTERM')
    await serving.ended
    folder.remove()
  })
  let id = 0
  const say = (method: string, params: object) =>
    serving.child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: ++id, method, params })}\n`)
  const call = async () => {
    say('tools/call', { name: 'core_util_time_now', arguments: {} })
    await serving.says(`"id":${id},`)
    return (
      serving
        .said()
        .stdout.split('\n')
        .find((line) => line.includes(`"id":${id},`)) ?? ''
    )
  }
  const clientInfo = { name: 'test', version: '1' }
  say('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo })
  await serving.says('serverInfo')
  expect(await call()).not.toContain('POLICY_DENIED')
  folder.write('tool-hub.yaml', 'policy: [{ deny: core/util.time.now }]\n')
  await expect.poll(call).toContain('POLICY_DENIED')
  folder.write('tool-hub.yaml', 'policy: [{ dny: core/util.time.now }]\n')
  await serving.says('is refused; the rules from before the change hold')
  expect(await call()).toContain('POLICY_DENIED')
})
