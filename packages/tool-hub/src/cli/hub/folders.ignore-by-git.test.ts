import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { cliFolder } from '../../../../../test/support/cli.ts'
import { temporaryFolder } from '../../../../../test/support/temporary-folder.ts'
import { ignoreByGit } from './folders.ts'

it('leaves nothing untracked in a repository after a call', async () => {
  const folder = cliFolder(null, '/nowhere')
  spawnSync('git', ['init', '-q'], { cwd: folder.path })
  for (let count = 0; count < 2; count++) await folder.run(['call', 'core/util.cache.set', '{"key":"a","value":"b"}'])
  const verified = await folder.run(['audit', 'verify'])
  const { stdout } = spawnSync('git', ['status', '--short'], { cwd: folder.path, encoding: 'utf8' })
  folder.remove()
  expect(stdout).toBe('?? plugin.mjs\n')
  expect(verified).toMatchObject({ code: 0 })
})

it.each<[string, string[]]>([
  ['serve', ['serve', '--port', '0', '--json']],
  ['mcp', ['mcp']],
  ['mcp with servers', ['mcp', '--config', 'servers.yaml']],
])('leaves nothing untracked while %s runs', async (_, words) => {
  const folder = cliFolder(null, '/nowhere')
  folder.write('servers.yaml', 'mcpServers: { none: { command: no-such-program } }\n')
  spawnSync('git', ['init', '-q'], { cwd: folder.path })
  const running = folder.start(words)
  onTestFinished(async () => {
    running.child.kill('SIGTERM')
    await running.ended
    folder.remove()
  })
  if (words[0] === 'serve') {
    await running.says('token')
    const { url, token } = JSON.parse(running.said().stdout)
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    await fetch(`${url}/v1/tools/core%2Futil.time.now/call`, { method: 'POST', headers, body: '{"input":{}}' })
  } else {
    const clientInfo = { name: 'test', version: '1' }
    const say = (message: object) => running.child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
    say({ id: 1, method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo } })
    await running.says('serverInfo')
    say({ method: 'notifications/initialized' })
    say({ id: 2, method: 'tools/call', params: { name: 'core_util_time_now', arguments: {} } })
    await running.says('"id":2')
  }
  const status = () => spawnSync('git', ['status', '--short'], { cwd: folder.path, encoding: 'utf8' }).stdout
  await expect.poll(status).toBe('?? plugin.mjs\n?? servers.yaml\n')
})

it('leaves folders with files of others alone, and those outside of a repository', () => {
  const folder = temporaryFolder()
  const [data, runs] = [join(folder, 'data'), join(folder, 'runs')]
  mkdirSync(join(runs, 'run-1'), { recursive: true })
  mkdirSync(data)
  writeFileSync(join(data, 'created.json'), '{}')
  writeFileSync(join(runs, 'run-1/events.jsonl'), '')
  ignoreByGit({ data, runs })
  expect(existsSync(join(data, '.gitignore'))).toBe(false)
  mkdirSync(join(folder, '.git'))
  writeFileSync(join(runs, 'notes.md'), 'mine')
  ignoreByGit({ data, runs })
  expect(existsSync(join(data, '.gitignore'))).toBe(true)
  expect(existsSync(join(runs, '.gitignore'))).toBe(false)
})
