import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import type { HubOptions } from '../packages/core/src/options.ts'
import { defineTool } from '../packages/core/src/tool.ts'
import type { CommandResult } from '../packages/runtime/src/tools/exec/command-result.ts'
import { testHub } from '../packages/testing/src/tool-contract.ts'
import { fileHub } from './support/file-hub.ts'
import { bundleModule } from './support/run-module.ts'

const RUN = 'core/exec.run'
const FREE = { tools: [], policy: [{ allow: 'exec' }] } satisfies HubOptions

function temp(name: string): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), `tool-hub-${name}-`)))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

describe('commands under policy', () => {
  it('are denied until a rule enables them, then judged part by part', async () => {
    const none = fileHub({}, { tools: [] })
    expect((await none.call(RUN, { argv: ['true'] })).error?.code).toBe('POLICY_DENIED')
    const policy = [{ ask: 'exec' }, { allow: 'exec', on: 'ls *' }, { deny: 'exec', on: 'rm -rf *' }]
    const { call } = fileHub({ 'a.txt': '' }, { tools: [], policy, approve: () => ({ decision: 'deny' }) })
    expect((await call(RUN, { command: 'ls' })).ok).toBe(true)
    expect((await call(RUN, { command: 'ls; id' })).error?.code).toBe('APPROVAL_DENIED')
    expect((await call(RUN, { command: 'ls "$(r\'\'m --force -r /)"' })).error?.message).toContain(
      'inside `$(…)` of the first argument',
    )
  })

  it('by a policy.yaml of S2: its whitelist, its blacklist and everything else asked', async () => {
    const config = temp('policy-yaml')
    writeFileSync(
      join(config, 'policy.yaml'),
      'tools:\n  default: ask\n  run_shell:\n    action: ask\n    whitelist: ["ls *", "git status"]\n    blacklist: ["rm -rf *", "sudo *"]\n',
    )
    writeFileSync(join(config, 'tool-hub.yaml'), 'policy: ./policy.yaml\n')
    const { loadConfig } = await import('../packages/config/src/load-config.ts')
    const { options } = await loadConfig({ file: join(config, 'tool-hub.yaml') })
    const { call } = fileHub(
      {},
      { tools: [], policy: options.policy, approve: () => ({ decision: 'deny', reason: 'asked' }) },
    )
    expect((await call('run_shell', { command: 'ls -la' })).ok).toBe(true)
    expect((await call('run_shell', { command: 'ls && sudo id' })).error?.code).toBe('POLICY_DENIED')
    expect((await call('run_shell', { command: 'ls | sh' })).error?.code).toBe('APPROVAL_DENIED')
  })

  it('without a sandbox all ask, whatever the rules say, unless the owner says required: false', async () => {
    const asked: string[] = []
    const approve = ({ rule }: { rule: string }) => {
      asked.push(rule)
      return { decision: 'deny' } as const
    }
    const hub = (sandbox: HubOptions['sandbox']) => fileHub({}, { ...FREE, approve, sandbox })
    const root = temp('none')
    const weak = hub({ root, commands: { level: 'none' } })
    expect((await weak.call(RUN, { argv: ['true'] })).error?.code).toBe('APPROVAL_DENIED')
    expect(asked).toEqual(['default: without a sandbox every command asks'])
    const { data } = await hub({ root, required: false, commands: { level: 'none' } }).call(RUN, { argv: ['true'] })
    expect(data).toMatchObject({ sandbox: 'none', exitCode: 0 })
  })

  it('run with no other variables than those that were judged', async () => {
    const tool = defineTool({
      name: 'test.command',
      description: 'Runs a command with other variables than it says, for tests.',
      input: z.strictObject({ said: z.array(z.string()) }),
      capabilities: ['exec'],
      targets: ({ said }) => ({ exec: { argv: ['env'], env: said } }),
      async execute(_, ctx) {
        const running = await ctx.exec.start({ argv: ['env'], env: { GREETING: 'hi' }, timeoutMs: 60_000 })
        return running.ended()
      },
    })
    const { call } = fileHub({}, { tools: [tool], policy: [{ allow: 'exec' }] })
    expect(await call('test.command', { said: ['GREETING'] })).toMatchObject({ ok: true })
    expect((await call('test.command', { said: [] })).error?.code).toBe('POLICY_DENIED')
    expect((await call('test.command', { said: ['OTHER'] })).error?.code).toBe('POLICY_DENIED')
  })

  it('run eight concurrently, and the others after them', async () => {
    const { call, root } = fileHub({}, FREE)
    const counting = 'mkdir "$1"; ls -d run-* | wc -l; sleep 0.05; rmdir "$1"'
    const calls = Array.from({ length: 200 }, (_, index) =>
      call(RUN, { argv: ['sh', '-c', counting, 'sh', `run-${index}`] }),
    )
    const counts = (await Promise.all(calls)).map(({ data }) => Number((data as CommandResult).stdout))
    expect(counts).toHaveLength(200)
    expect(Math.max(...counts)).toBeLessThanOrEqual(8)
    expect(readdirSync(root)).toEqual([])
  })
})

describe('commands and the network', () => {
  it('reach the hosts that are granted and no other, and each connection is on record under its call', async () => {
    const server = createServer((_, response) => response.end('hello')).listen(0, '127.0.0.1')
    onTestFinished(() => void server.close())
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const sandbox = { network: ['127.0.0.1'], privateRanges: ['127.0.0.1/32'] }
    const { call, hub } = fileHub({}, { ...FREE, sandbox: { ...sandbox, root: temp('network') } })
    const get = (url: string) => call(RUN, { argv: ['curl', '-sS', '--noproxy', '', '--max-time', '10', url] })
    const allowed = await get(`http://127.0.0.1:${port}/`)
    expect(allowed.data).toMatchObject({ stdout: 'hello', exitCode: 0 })
    expect(allowed.meta.labels).toEqual(['untrusted'])
    const refused = await get('http://example.org/')
    expect((refused.data as CommandResult).stdout).toContain('example.org')
    const direct = await call(RUN, { argv: ['curl', '-sS', '--noproxy', '*', `http://127.0.0.1:${port}/`] })
    expect(direct).toMatchObject({ ok: false, data: { exitCode: 7 } })
    const connections = eventsOf(hub).filter(({ type }) => type === 'command-connected')
    expect(connections).toMatchObject([
      { callId: allowed.callId, url: `http://127.0.0.1:${port}/`, outcome: expect.stringMatching(/^connected/) },
      { callId: refused.callId, url: 'http://example.org/', outcome: expect.stringMatching(/^refused/) },
    ])
  })
})

describe('a command in the background', () => {
  it('reaches nobody any more unasked when another call of its run has read from outside', async () => {
    const asked: string[] = []
    const server = createServer((request, response) => {
      asked.push(`${request.method} ${request.url}`)
      response.end('page')
    }).listen(0, '127.0.0.1')
    onTestFinished(() => void server.close())
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const sandbox = { network: ['127.0.0.1'], privateRanges: ['127.0.0.1/32'], root: temp('taint') }
    const { call } = fileHub({}, { ...FREE, sandbox })
    const curl = (words: string) => `curl -sS --noproxy '' ${words} http://127.0.0.1:${port}`
    const command = `${curl('')}/first; until [ -f go ]; do sleep 0.05; done; ${curl('')}/own; cat - ; ${curl('-d x')}/out`
    const { sessionId } = (await call(RUN, { command, background: true })).data as CommandResult
    const act = async (action: string, more = {}) => call('core/exec.process', { action, sessionId, ...more })
    await call(RUN, { argv: ['touch', 'go'] })
    // Its own answers do not keep it from asking again.
    await until(() => asked.includes('GET /own'))
    expect((await call('core/http.fetchText', { url: `http://127.0.0.1:${port}/page` })).ok).toBe(true)
    await act('write', { data: '', eof: true })
    for (let ended = false; !ended; ) {
      const polled = (await act('poll', { timeout: 10_000 })).data as { command: CommandResult }
      ended = polled.command.status === 'exited'
      if (ended) expect(polled.command.stdout).toContain('is not allowed by ask send')
    }
    expect(asked).toEqual(['GET /first', 'GET /own', 'GET /page'])
  })
})

describe('protected places', () => {
  it('of git, and those that the owner names, are closed to commands or cleared after them', async () => {
    const root = temp('protected')
    const sandbox = { root, protect: [join(root, 'deploy.sh')] }
    const { call } = fileHub({}, { ...FREE, sandbox })
    writeFileSync(join(root, '.git'), 'gitdir: elsewhere')
    const worktree = fileHub({}, { ...FREE, sandbox })
    expect((await worktree.call(RUN, { command: 'echo "gitdir: evil" > .git' })).ok).toBe(false)
    rmSync(join(root, '.git'))
    const made = await call(RUN, { command: 'mkdir .git; echo ../evil > .git/commondir; echo x > deploy.sh' })
    expect(made.meta.notices).toHaveLength(2)
    expect(
      [...readdirSync(root), ...readdirSync(join(root, '.git'))].filter((name) => !name.includes('set-aside')),
    ).toEqual(['.git'])
  })

  it('with secrets stay hidden however many files look like secrets', async () => {
    const { call } = fileHub({ 'app/config/.env': 'KEY=hidden' }, FREE)
    await call(RUN, { command: 'for i in $(seq 150); do : > $i.key; done' })
    expect((await call(RUN, { command: 'cat app/config/.env' })).data).toMatchObject({ stdout: '', exitCode: 1 })
  })
})

describe('commands and secrets', () => {
  it('get nothing of the hub’s environment, and what they print of known secrets is hidden everywhere', async () => {
    process.env.PLANTED_FOR_COMMANDS = 'planted-value-of-the-environment'
    onTestFinished(() => void delete process.env.PLANTED_FOR_COMMANDS)
    const redact = { values: ['a-secret-that-the-owner-knows'] }
    const { call, hub } = fileHub({ '.env': 'TOKEN=planted-in-the-file' }, { ...FREE, redact })
    const { data } = await call(RUN, {
      command:
        'env; cat .env; cat /proc/*/environ | tr "\\0" "\\n"; echo a-secret-that-; echo a-secret-that-the-owner-knows; exit 1',
    })
    const { stdout } = data as CommandResult
    const record = readFileSync(join(hub.folder, 'runs', hub.run, 'events.jsonl'), 'utf8')
    for (const secret of ['planted-value', 'planted-in-the-file', 'a-secret-that-the-owner-knows']) {
      expect(stdout).not.toContain(secret)
      expect(record).not.toContain(secret)
    }
    expect(stdout).toContain('[redacted:secret]')
  })
})

describe('a hub that is killed with -9', () => {
  it('leaves no command running, and the next one says which were lost, by name', async () => {
    const [folder, root] = [temp('lost'), temp('lost-root')]
    const module = await bundleModule('test/support/hub-with-background.ts', {
      beside: {
        'sandbox/exec/spawner/spawner-main': 'packages/sandbox/src/exec/spawner/spawner-main.ts',
      },
    })
    const marker = `60.${process.pid}${Date.now()}`
    const child = spawn(process.execPath, [module, folder, root, `setsid sleep ${marker} & sleep ${marker}`])
    const [line] = await once(child.stdout, 'data')
    const sessionId = String(line).trim()
    await until(() => running(marker) === 2)
    child.kill('SIGKILL')
    await once(child, 'close')
    await until(() => running(marker) === 0)

    const warnings: string[] = []
    const note = (warning: Error) => warnings.push(warning.message)
    process.on('warning', note)
    onTestFinished(() => void process.off('warning', note))
    const next = { ...FREE, runs: join(folder, 'runs'), data: join(folder, 'data'), run: 'run-lost', sandbox: { root } }
    const hub = testHub(next)
    onTestFinished(() => hub.close())
    const list = await hub.callDynamic('core/exec.process', { action: 'list' })
    expect(list.data).toMatchObject({ sessions: [{ sessionId, status: 'lost' }] })
    const poll = await hub.callDynamic('core/exec.process', { action: 'poll', sessionId })
    expect(poll.error).toMatchObject({
      code: 'NOT_FOUND',
      message: expect.stringContaining('was lost when its hub ended'),
    })
    await until(() => warnings.some((message) => message.includes(sessionId)))
  })
})

describe('a tool of your own', () => {
  it('runs the command where it said, and with no other variables', async () => {
    const { defineTool } = await import('../packages/core/src/tool.ts')
    const list = defineTool({
      name: 'notes.list',
      description: 'List the notes of a folder.',
      input: { type: 'object', properties: { cwd: { type: 'string' }, colours: { type: 'string' } } },
      capabilities: ['exec'],
      targets: () => ({ exec: 'ls' }),
      async execute({ cwd, colours }, ctx) {
        const env = colours === undefined ? undefined : { LS_COLORS: colours }
        const command = await ctx.exec.start({ command: 'ls', cwd, env, timeoutMs: 10_000 })
        await command.ended({ signal: ctx.signal })
        return command.output().stdout
      },
    })
    const { call } = fileHub({ 'sub/a.md': '' }, { tools: [list], policy: [{ allow: 'exec' }] })
    expect((await call('notes.list', {})).data).toBe('sub\n')
    expect((await call('notes.list', { cwd: 'sub' })).error).toMatchObject({ code: 'POLICY_DENIED' })
    expect((await call('notes.list', { colours: 'x' })).error).toMatchObject({ code: 'POLICY_DENIED' })
  })

  it('runs the command that it named, and no other', async () => {
    const { defineTool } = await import('../packages/core/src/tool.ts')
    const count = defineTool({
      name: 'notes.count',
      description: 'Count the lines of a note.',
      input: {
        type: 'object',
        properties: { path: { type: 'string' }, other: { type: 'string' } },
        required: ['path'],
      },
      capabilities: ['exec'],
      targets: ({ path }) => ({ exec: { argv: ['wc', '-l', path] } }),
      async execute({ path, other }, ctx) {
        const command = await ctx.exec.start({ argv: ['wc', '-l', other ?? path], timeoutMs: 10_000 })
        await command.ended({ signal: ctx.signal })
        return command.output().stdout
      },
    })
    const policy = [
      { allow: 'exec', on: 'wc *' },
      { ask: 'exec', on: 'wc -l b.md' },
    ]
    const { call } = fileHub({ 'a.md': '1\n2\n', 'b.md': '' }, { tools: [count], policy })
    expect((await call('notes.count', { path: 'a.md' })).data).toBe('2 a.md\n')
    expect((await call('notes.count', { path: 'a.md', other: 'b.md' })).error).toMatchObject({ code: 'POLICY_DENIED' })
  })
})

function running(marker: string): number {
  return readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && commandOf(pid).includes(`sleep\0${marker}`)).length
}

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    return ''
  }
}

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((resolve) => setTimeout(resolve, 10))
}

function eventsOf(hub: { folder: string; run: string }): Record<string, unknown>[] {
  const lines = readFileSync(join(hub.folder, 'runs', hub.run, 'events.jsonl'), 'utf8')
    .trim()
    .split('\n')
  return lines.map((line) => JSON.parse(line))
}
