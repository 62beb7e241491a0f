import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { cliFolder } from '../../../../../test/support/cli.ts'
import { runCli } from '../program.ts'

let home: string
let said: string

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'tool-hub-mcp-'))
  said = ''
  vi.stubEnv('HOME', home)
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    said += text
    return true
  })
})

afterEach(() => {
  vi.restoreAllMocks()
  vi.unstubAllEnvs()
  rmSync(home, { recursive: true, force: true })
})

describe('tool-hub mcp', () => {
  it.each([
    [['foo'], 'There are: install, add, remove'],
    [['tset'], 'Did you mean test?'],
    [['install'], 'Give one of: claude-code'],
    [['import'], 'Give one of: claude-code'],
    [['add', 'x', 'npx', '-y', 'y'], 'Put the program after --'],
    [['add', 'x', '--sandbx', '--', 'y'], 'Did you mean --sandbox?'],
    [['pin', 'nope', '--config', 'EMPTY'], 'Add one: tool-hub mcp add'],
    [['--no-config', '--dialect', 'nope'], 'There are: coding, files.'],
    [['--no-config', '--root', '/nowhere/at/all'], 'Make the folder first'],
    [['--no-config', '--http', '--host', '0.0.0.0'], '--token-env NAME'],
  ])('says of %j what to do instead', async (words, hint) => {
    const config = join(home, 'empty.yaml')
    writeFileSync(config, 'version: 1\n')
    expect(await runCli(['mcp', ...words.map((word) => (word === 'EMPTY' ? config : word))])).toBe(2)
    expect(said).toMatch(/^error: .*\n {2}fix: /)
    expect(said).toContain(hint)
  })

  it('says that a port is taken', async () => {
    const other = createServer()
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    const { port } = other.address() as AddressInfo
    expect(await runCli(['mcp', '--no-config', '--http', String(port)])).toBe(2)
    expect(said).toContain(`Port ${port} is taken.`)
    await new Promise((resolve) => other.close(resolve))
  })

  it('uses the config of --root wherever it is started, and refuses to choose between two', async () => {
    const project = cliFolder('version: 1\npolicy: [{ deny: core/fs.readText, reason: the owner said no }]\n')
    const elsewhere = cliFolder(null)
    project.write('a.md', 'text of the owner')
    const clientInfo = { name: 'test', version: '1' }
    const initialize = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo }
    const call = { name: 'core_fs_readText', arguments: { path: 'a.md' } }
    const input = [
      { jsonrpc: '2.0', id: 1, method: 'initialize', params: initialize },
      { jsonrpc: '2.0', id: 2, method: 'tools/call', params: call },
    ]
    const words = ['mcp', '--root', project.path]
    const serving = elsewhere.start(words)
    for (const message of input) serving.child.stdin.write(`${JSON.stringify(message)}\n`)
    await serving.says('"id":2')
    serving.child.stdin.end()
    const { stdout } = await serving.ended
    expect(stdout).toContain('the owner said no')
    expect(stdout).not.toContain('text of the owner')
    expect(existsSync(join(elsewhere.path, 'runs'))).toBe(false)
    const direct = await elsewhere.run(['call', 'core/fs.readText', '--path', 'a.md', '--root', project.path])
    expect(direct.stderr).toContain('the owner said no')
    elsewhere.write('tool-hub.yaml', 'version: 1\n')
    const refused = await elsewhere.run(words)
    expect(refused.code).toBe(2)
    expect(refused.stderr).toMatch(/both apply[\s\S]*--config/)
    project.remove()
    elsewhere.remove()
  })

  it('takes nothing from the folder it is started in, with --no-config or a config from elsewhere', async () => {
    const hostile = cliFolder('plugins: [./hostile.mjs]\n')
    const ran = join(hostile.path, 'ran')
    const code = `import { writeFileSync } from 'node:fs'; writeFileSync(${JSON.stringify(ran)}, ''); export default { name: 'x' }`
    hostile.write('hostile.mjs', code)
    mkdirSync(join(hostile.path, '.tool-hub/tools'), { recursive: true })
    hostile.write('.tool-hub/tools/hostile.mjs', code)
    const config = join(home, 'mine.yaml')
    writeFileSync(config, 'version: 1\n')
    const runs = [['--no-config'], ['--config', config]].map((words) => hostile.run(['mcp', '--root', '.', ...words]))
    for (const { code, stderr } of await Promise.all(runs)) expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(existsSync(ran)).toBe(false)
    // Looking at servers runs no plugins either.
    expect((await hostile.run(['mcp', 'list'])).stderr).toContain('There is no MCP server')
    expect(existsSync(ran)).toBe(false)
    hostile.remove()
  })
})
