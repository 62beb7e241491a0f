import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { CLI_MAIN, cliFolder } from '../../../../../test/support/cli.ts'
import { temporaryFolder } from '../../../../../test/support/temporary-folder.ts'

const folder = cliFolder()
afterAll(folder.remove)

mkdirSync(join(folder.path, 'work'))
const config = folder.write(
  'commands.yaml',
  `policy:
  - { ask: exec }
  - { allow: exec, on: ["echo *"] }
  - { deny: exec, on: ["rm -rf *"] }
sandbox: { root: ./work }
`,
)
const exec = (...words: string[]) => folder.run(['exec', '--config', config, ...words])

describe.concurrent('tool-hub exec', () => {
  it('runs words as they are, with their output and nothing else', async () => {
    expect(await exec('--', 'echo', '$HOME', 'a  b')).toMatchObject({ code: 0, stdout: '$HOME a  b\n', stderr: '' })
  })

  it('says how to run a line that was given as one word', async () => {
    const { code, stderr } = await exec('--', 'echo a | cat')
    expect([code, stderr]).toEqual([2, expect.stringMatching(/"echo a \| cat" is one word.*\n.*--command/)])
    writeFileSync(join(folder.path, 'my program'), '')
    expect((await exec('--', './my program')).stderr).not.toContain('one word')
  })

  it('keeps stdout and stderr apart, and ends with the exit code of the command', async () => {
    const run = await exec('--yes', '--command', 'echo out; echo err >&2; exit 9')
    expect(run).toMatchObject({ code: 9, stdout: 'out\n', stderr: 'err\n' })
  })

  it('prints the output as it comes', async () => {
    const words = ['exec', '--config', config, '--yes', '--command', 'echo first; sleep 60; echo never']
    const child = spawn(process.execPath, [CLI_MAIN, ...words, '--timeout', '20s'], { cwd: folder.path })
    // The command still runs: nothing but its own end or ours would end it.
    const begun = new Promise((resolve) => child.stdout.once('data', (chunk) => resolve(String(chunk))))
    expect(await begun).toBe('first\n')
    child.kill('SIGINT')
    await once(child, 'close')
  })

  it('lets no package manager try again and again where no host is named, and says why it failed', async () => {
    // As npm, pip and cargo say it, where a name is not found.
    const ask = `require('dns').lookup('registry.example.org', (error) => {
      console.error(error.code, process.env.npm_config_fetch_retries, process.env.PIP_RETRIES, process.env.CARGO_NET_RETRY)
      process.exit(1)
    })`
    const { stderr } = await exec('--yes', '--', 'node', '-e', ask)
    expect(stderr).toMatch(/(EAI_AGAIN|ENOTFOUND) 0 0 0\n/)
    expect(stderr).toContain('notice: Commands reach only hosts that sandbox.network names')
  })

  it("commits with the name of the host's git, unless the repository has one of its own", async () => {
    const home = temporaryFolder()
    writeFileSync(join(home, '.gitconfig'), '[user]\n\tname = Ada Host\n\temail = ada@example.org\n')
    const own = cliFolder('sandbox: { root: . }\npolicy: [{ allow: exec }]\n', home)
    const commit = (line: string) => own.run(['exec', '--command', `${line} && git log -1 --format='%an %ae, %cn %ce'`])
    const first = await commit('git init -q && git commit -q --allow-empty -m one')
    expect(first.stdout, first.stderr).toBe('Ada Host ada@example.org, Ada Host ada@example.org\n')
    spawnSync('git', ['config', 'user.email', 'ada@work.example'], { cwd: own.path })
    const second = await commit('git commit -q --allow-empty -m two')
    expect(second.stdout, second.stderr).toBe('Ada Host ada@work.example, Ada Host ada@work.example\n')
    own.remove()
  })

  it('says what helps where git knows nobody who commits: its own advice is lost with the sandbox', async () => {
    const own = cliFolder('sandbox: { root: . }\npolicy: [{ allow: exec }]\n', temporaryFolder())
    const { code, stderr } = await own.run(['exec', '--command', 'git init -q && git commit -q --allow-empty -m one'])
    expect(code).toBe(128)
    expect(stderr).toContain('notice: git knows no user.name and user.email here.')
    own.remove()
  })

  it('says which part of a line is denied, by which rule, with exit code 3', async () => {
    const { code, stdout, stderr } = await exec('--command', 'echo $(rm -rf /)')
    expect({ code, stdout }).toEqual({ code: 3, stdout: '' })
    expect(stderr).toContain('`rm -rf /` inside `$(…)` of the first argument')
    expect(stderr).toContain('commands.yaml:4')
  })

  it('exits 4 when nobody can approve, and says which rule would allow it', async () => {
    const { code, stderr } = await exec('--', 'id')
    expect(code).toBe(4)
    expect(stderr).toContain('{ allow: "exec", on: "id" }')
  })

  it('exits 124 when the time is over', async () => {
    const { code, stderr } = await exec('--yes', '--timeout', '300ms', '--', 'sleep', '60')
    expect(code).toBe(124)
    expect(stderr).toContain('TIMEOUT')
  })

  it('gives the whole result with --json', async () => {
    const { stdout } = await exec('--json', '--', 'echo', 'hi')
    expect(JSON.parse(stdout)).toMatchObject({
      ok: true,
      tool: 'core/exec.run',
      data: { stdout: 'hi\n', sandbox: 'full' },
    })
  })

  it.each([
    [[], 'No command to run'],
    [['--command', 'true', '--', 'true'], 'not both'],
    [['--timeout', 'soon', '--', 'true'], '--timeout'],
  ])('exits 2 for %j', async (words, message) => {
    const { code, stderr } = await exec(...words)
    expect(code).toBe(2)
    expect(stderr).toContain(message)
  })
})

describe.concurrent('tool-hub sandbox explain', () => {
  it('says what a command could see, write and reach', async () => {
    const { code, stdout } = await folder.run(['sandbox', 'explain', '--config', config])
    expect(code).toBe(0)
    expect(stdout).toMatch(/^Sandbox: full \(bubblewrap/m)
    expect(stdout).toContain(join(folder.path, 'work'))
    expect(stdout).toMatch(/^Network: off$/m)
    expect(stdout).toMatch(/^Limits: 600 s of processor time, /m)
  })

  it('says what policy says to a command, too, and both as JSON', async () => {
    const words = ['sandbox', 'explain', '--config', config, '--json', '--', 'rm', '-r', '-f', 'x']
    const { policy, sandbox } = JSON.parse((await folder.run(words)).stdout)
    expect(policy).toMatchObject({ effect: 'deny', rule: expect.stringContaining('rm -rf *') })
    expect(sandbox).toMatchObject({ level: 'full', network: { mode: 'off' }, writable: [join(folder.path, 'work')] })
  })

  it('names the hosts that the proxy lets through', async () => {
    const open = folder.write('open.yaml', 'sandbox: { root: ./work, network: [api.example.org] }\n')
    const { stdout } = await folder.run(['sandbox', 'explain', '--config', open])
    expect(stdout).toMatch(/^Network: through the proxy, to api\.example\.org$/m)
  })
})
