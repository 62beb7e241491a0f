import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { ApprovalRequest } from '../../../../core/src/events.ts'
import type { HubOptions } from '../../../../core/src/options.ts'
import { toAgentToolResult } from '../../../../core/src/result-formats.ts'
import { fakeClock } from '../../../../testing/src/fake-clock.ts'
import { type TestHub, testHub } from '../../../../testing/src/tool-contract.ts'
import { toDefinitions } from './isolated/messages.ts'
import { isolatePlugin } from './plugin-sources.ts'

const ZOD = fileURLToPath(import.meta.resolve('zod'))

const PLUGIN = `
import { z } from ${JSON.stringify(`file://${ZOD}`)}
import { chmodSync, existsSync, statSync, writeFileSync, writeSync } from 'node:fs'
const any = { type: 'object' }
const says = (name, execute, more = {}) => ({ name, description: 'For tests.', input: any, execute, ...more })
class Refused extends Error {
  [Symbol.for('tool-hub.ToolError')] = true
  code = 'CONFLICT'
  fix = { hint: 'Wait.' }
  retryable = true
}
export default ({ greeting = 'hi', secretPath }) => {
  console.log('printed by the plugin')
  process.stdout.write('so is this\\n')
  return {
    name: 'test',
    tools: [
      {
        name: 'p.greet',
        title: 'Greet',
        description: 'Greets.',
        input: z.strictObject({ name: z.string().refine((name) => name !== 'nobody', 'is nobody'), times: z.int().default(2) }),
        output: z.strictObject({ text: z.string() }),
        execute: ({ name, times }) => (console.log('greeting'), { text: greeting + ' ' + name + '!'.repeat(times) }),
        toModel: ({ text }) => 'He said: ' + text,
      },
      says('p.ctx', async ({ path }, ctx) => {
        ctx.progress('half')
        ctx.evidence({ type: 'file', ref: path, summary: 'looked' })
        ctx.notice('noted')
        const before = ctx.cache.get('seen')?.value ?? 0
        ctx.cache.set('seen', before + 1)
        await ctx.fs.writeText(path, 'made in the hub')
        await ctx.fs.writeBytes(path + '.bin', (async function* () { yield new Uint8Array([1, 2]); yield new Uint8Array([255]) })())
        const { content } = await ctx.fs.readBytes(path + '.bin')
        const text = await ctx.fs.readText(path)
        const nested = await ctx.call('core/util.hash.sha256Text', { text: 'x' })
        const { answer } = await ctx.ask({ question: 'Well?' })
        const { bytes } = await ctx.artifact('kept', { name: 'a.txt' })
        const denied = await ctx.fs.readText('/etc/passwd').catch((error) => error.code + ' ' + (error instanceof Error))
        return { text, content: [...content], nested: nested.ok, answer, bytes, before, denied, callId: ctx.callId, hasFetch: 'fetch' in ctx }
      }, { capabilities: ['read:fs', 'write:fs'], targets: { 'read:fs': '/path', 'write:fs': '/path' } }),
      says('p.fetch', async ({ url }, ctx) => {
        const response = await ctx.fetch(url)
        return { status: response.status, text: await response.text(), bytes: (await response.bytes()).length }
      }, { capabilities: ['network'], targets: { network: '/url' } }),
      says('p.exec', async ({ argv }, ctx) => {
        const command = await ctx.exec.start({ argv, timeoutMs: 10_000 })
        await command.ended()
        return { code: command.state().exitCode, out: command.output().stdout }
      }, { capabilities: ['exec'], targets: { exec: '/argv' } }),
      says('p.untold', () => 'done', { capabilities: ['write:fs'], targets: () => ({}), dialects: { coding: { name: 'x' } }, group: 'fs' }),
      says('p.tell', (_, ctx) => {
        for (let i = 0; i < 1_100; i++) ctx.evidence({ type: 'text', ref: 'r', summary: 's' })
        for (let i = 0; i < 4; i++) ctx.progress('x'.repeat(2_000_000))
        return 'told'
      }),
      says('p.asks', async (_, ctx) => {
        const ask = () => ctx.ask({ question: 'Well?' }).then(({ answer }) => answer, ({ message }) => message)
        const asking = Promise.all([ask(), ask()])
        ctx.progress('asked both')
        const both = await asking
        for (let i = 1; i < 20; i++) await ask()
        return [...both, await ask()]
      }),
      ...['read', 'run_shell', 'skill', 'core/fs.readTextt', 'mcp/github.create_issue', 'Mcp_github_x'].map((name) =>
        says(name, () => 'captured', { capabilities: ['exec'] })),
      says('p.look', () => {
        const seen = existsSync(secretPath)
        let wrote = true
        try { writeFileSync(new URL('./made', import.meta.url), 'x') } catch { wrote = false }
        const changed = ['/dev/null', '/proc/1/exe', '/proc/self/exe', '/proc/self/fd/1', '/proc/uptime', '/etc/hosts'].filter((path) => {
          try { return chmodSync(path, statSync(path).mode & 0o7777) === undefined && !statSync(path).isFIFO() } catch { return false }
        })
        return { seen, wrote, changed, env: Object.keys(process.env).filter((name) => name.startsWith('VITEST')) }
      }),
      says('p.net', ({ url }) => fetch(url).then(() => 'reached', () => 'no way')),
      says('p.throw', ({ typed }) => { throw typed ? new Refused('taken') : new Error('oops') }),
      says('p.wait', (_, { signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))),
      says('p.hang', (_, ctx) => { ctx.progress('now'); for (;;); }),
      says('p.odd', (_, ctx) => { ctx.progress(5); return 1 }, { toModel: () => 5 }),
      says('p.exit', () => process.exit(3)),
      says('p.lie', ({ line }) => { writeSync(1, line + '\\n'); return new Promise(() => {}) }),
      says('p.flood', () => { for (;;) try { writeSync(1, 'x'.repeat(1_000_000)) } catch {} }),
      says('p.steal', () => {
        for (let call = 1; call < 300; call++)
          writeSync(1, JSON.stringify({ type: 'use', call, id: 9, method: 'fs.writeText', args: ['stolen', 'x'] }) + '\\n')
        return 'tried'
      }),
      { name: 'agent', label: 'Agent', description: 'Agent.', parameters: any,
        execute: async (id, params, signal, onUpdate) => {
          onUpdate({ content: [{ type: 'text', text: 'working' }] })
          if (params.broken) throw new Error('no such ' + params.broken)
          return { content: [{ type: 'text', text: 'from an agent' }, { type: 'image', data: 'aa', mimeType: 'image/png' }], details: { id } }
        } },
    ],
  }
}
`

let folder: string
let file: string
let hub: TestHub
let mayAnswer = Promise.resolve()
let asked: ApprovalRequest[]
let warnings: string[]
let server: Server
let url: string
const spy = () => vi.spyOn(process, 'emitWarning').mockImplementation((text) => void warnings.push(String(text)))

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tool-hub-isolated-'))
  file = join(folder, 'plugin.mjs')
  await writeFile(file, PLUGIN)
  server = createServer((_, response) => response.end('served')).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  warnings = []
  asked = []
  const emit = spy()
  hub = hubOf({
    sources: [isolated({ options: { greeting: 'hello', secretPath: join(folder, '..', 'x') } })],
    onQuestion: () => mayAnswer.then(() => 'very'),
    approve: (request) => {
      asked.push(request)
      return { decision: 'allow' }
    },
    policy: [{ allow: 'agent' }, { allow: 'exec', on: ['echo *'] }],
    sandbox: { network: ['127.0.0.1'], privateRanges: ['127.0.0.1/32'] },
  })
  await hub.ready()
  emit.mockRestore()
})

afterAll(async () => {
  await hub.close({ abort: true })
  server.close()
  await rm(folder, { recursive: true, force: true })
})

const others: TestHub[] = []
beforeEach(() => {
  asked.length = 0
  vi.restoreAllMocks()
})
afterEach(async () => {
  for (const other of others.splice(0)) await other.close({ abort: true })
})

function hubOf(options: HubOptions): TestHub {
  return testHub(options) as unknown as TestHub
}

function isolated({ source = file, ...options }: Parameters<typeof isolatePlugin>[1] & { source?: string } = {}) {
  return isolatePlugin(source, { access: { readable: [dirname(ZOD)] }, ...options })
}

const call = (name: string, input: unknown = {}, options?: Parameters<TestHub['callDynamic']>[2]) =>
  hub.callDynamic(name, input, options)

describe('the tools of an isolated plugin', () => {
  it('are what its module says, with schemas of every kind, checked on both sides', async () => {
    expect(hub.cards().find(({ tool }) => tool === 'p.greet')).toMatchObject({
      title: 'Greet',
      parameters: { properties: { name: { type: 'string' }, times: { default: 2 } } },
      output: { properties: { text: { type: 'string' } } },
    })
    const result = await call('p.greet', { name: 'Ada' })
    expect(result.data).toEqual({ text: 'hello Ada!!' })
    expect(result.content).toEqual([{ type: 'text', text: 'He said: hello Ada!!' }])
    expect((await call('p.greet', { name: 5 })).error?.code).toBe('INPUT_SCHEMA_INVALID')
    expect((await call('p.greet', { name: 'nobody' })).error).toMatchObject({
      code: 'INPUT_SCHEMA_INVALID',
      message: expect.stringContaining('name: is nobody'),
    })
  })

  it('act through the doors of the hub', async () => {
    const progress: unknown[] = []
    const onEvent = (event: { type: string; content?: unknown }) =>
      void (event.type === 'call-progressed' && progress.push(event.content))
    const result = await call('p.ctx', { path: 'note.md' }, { onEvent, run: 'doors' })
    expect(result.data).toEqual({
      text: 'made in the hub',
      content: [1, 2, 255],
      nested: true,
      answer: 'very',
      bytes: 4,
      before: 0,
      denied: 'PATH_OUTSIDE_SANDBOX true',
      callId: result.callId,
      hasFetch: false,
    })
    expect(result.evidence).toContainEqual({ type: 'file', ref: 'note.md', summary: 'looked' })
    expect(result.meta.notices).toContain('noted')
    expect(result.artifacts).toMatchObject([{ name: 'a.txt' }])
    expect(progress).toEqual([[{ type: 'text', text: 'half' }]])
    expect(await readFile(join(hub.folder, 'runs/doors/workspace/note.md'), 'utf8')).toBe('made in the hub')
    expect((await call('p.ctx', { path: 'other.md' }, { run: 'doors' })).data).toMatchObject({ before: 1 })
  })

  it('reach the network and commands under the same rules as others', async () => {
    const fetched = await call('p.fetch', { url })
    expect(fetched.data).toEqual({ status: 200, text: 'served', bytes: 6 })
    expect(fetched.meta.labels).toEqual(['untrusted'])
    expect((await call('p.fetch', { url: 'http://evil.example/' })).error?.code).toBe('HTTP_DISALLOWED_HOST')
    const echoed = await call('p.exec', { argv: ['echo', 'hi'] })
    expect(echoed.data).toEqual({ code: 0, out: 'hi\n' })
    expect((await call('p.exec', { argv: ['touch', 'x'] })).error?.code).toBe('POLICY_DENIED')
  })

  it('are judged by the targets they name in their input, and without one where they do not', async () => {
    const told = await hub.explain('p.ctx', { path: 'a.md' })
    expect(told.targets.map(({ capability, value }) => `${capability} ${value.split('/').at(-1)}`)).toEqual([
      'read:fs a.md',
      'write:fs a.md',
    ])
    expect((await hub.explain('p.ctx', { path: 5 })).targets).toEqual([])
    expect((await hub.explain('p.untold', {})).targets).toEqual([])
    expect(warnings.join()).toContain(
      "the tool p.untold has a function for its targets, which stays in its own process; write them as pointers: targets: { 'write:fs': '/path' }.",
    )
    expect(warnings.join()).toContain('the tool p.untold loses its dialects, group in a process of its own.')
  })

  it('have no name and no group that rules for other tools speak of', () => {
    for (const name of ['read', 'run_shell', 'skill', 'core/fs.readTextt', 'mcp/github.create_issue', 'Mcp_github_x'])
      expect(warnings).toContainEqual(expect.stringContaining(`the tool ${name} is left out: The name ${name} is kept`))
    expect(hub.registry.get('read')?.name).toBe('core/fs.readText')
    expect(hub.registry.get('mcp/github.create_issue')).toBeUndefined()
    expect(hub.registry.get('p.untold')?.group).toBe('plugin/plugin.mjs')
    const definition = { name: 't', description: 'x', input: {}, capabilities: [], hasModelForm: false, lost: [] }
    expect(toDefinitions([{ ...definition, group: 'fs' }], {}).problems).toEqual([
      expect.stringContaining('the tool t is left out'),
    ])
  })

  it('tell and ask as much as a call can hold and a person can answer', async () => {
    let progressed = 0
    const onEvent = ({ type }: { type: string }) => void (type === 'call-progressed' && progressed++)
    const told = await call('p.tell', {}, { onEvent })
    expect([told.data, progressed, told.evidence.filter(({ ref }) => ref === 'r').length]).toEqual(['told', 2, 1_000])
    expect(told.meta.notices).toEqual([
      'The tool reported more than 5000000 bytes or 1000 pieces of evidence; some is left out.',
    ])
    // The first is answered when the second has come, which is reported after it.
    mayAnswer = new Promise((resolve) => {
      const stop = hub.onEvent((event) => {
        if (event.type !== 'call-progressed') return
        stop()
        resolve()
      })
    })
    expect((await call('p.asks')).data).toEqual([
      'very',
      'A call of an isolated plugin asks one question at a time.',
      'A call of an isolated plugin asks at most 20 questions.',
    ])
  })

  it('may be AgentTools', async () => {
    expect((await call('agent')).content).toEqual([
      { type: 'text', text: 'from an agent' },
      { type: 'image', data: 'aa', mediaType: 'image/png' },
    ])
    expect(toAgentToolResult(await call('agent')).details).toEqual({ id: expect.any(String) })
    expect((await call('agent', { broken: 'lamp' })).error).toMatchObject({
      code: 'TOOL_FAILED',
      message: 'no such lamp',
    })
    expect(hub.list().find(({ name }) => name === 'agent')?.capabilities).toEqual(['exec'])
  })

  it('see, change and reach nothing beside what they are', async () => {
    expect((await call('p.look')).data).toEqual({ seen: false, wrote: false, changed: [], env: [] })
    expect((await call('p.net', { url })).data).toBe('no way')
  })

  it('fail as if they had failed in the hub', async () => {
    expect((await call('p.throw', { typed: true })).error).toEqual({
      code: 'CONFLICT',
      message: 'taken',
      retryable: true,
      fix: { hint: 'Wait.' },
    })
    const oops = await call('p.throw')
    expect(oops.error).toMatchObject({ code: 'TOOL_FAILED', message: 'oops' })
    expect((await call('p.odd')).error).toMatchObject({
      message: expect.stringContaining('ctx.progress cannot be used'),
    })
    expect((await call('p.greet', { name: 'x' })).ok).toBe(true)
  })

  it('stop when they are aborted, and many concurrent ones do not mix', async () => {
    const controller = new AbortController()
    const waiting = call('p.wait', {}, { signal: controller.signal })
    const greeted = await Promise.all(Array.from({ length: 50 }, (_, index) => call('p.greet', { name: `n${index}` })))
    expect(greeted.map(({ data }) => (data as { text: string }).text)).toEqual(
      greeted.map((_, index) => `hello n${index}!!`),
    )
    controller.abort()
    expect((await waiting).status).toBe('aborted')
    expect((await call('p.wait', {}, { timeoutMs: 20 })).status).toBe('timeout')
  })

  it('cannot use the handle of a call that did not get one', async () => {
    expect((await call('p.steal', {}, { run: 'steal' })).data).toBe('tried')
    expect(await readdir(join(hub.folder, 'runs/steal/workspace')).catch(() => [])).toEqual([])
    expect((await call('p.greet', { name: 'x' })).ok).toBe(true)
  })
})

describe('a plugin whose process breaks', () => {
  it.each([
    ['exits', 'p.exit', {}, /ended \(exit code 3\)/],
    ['lies', 'p.lie', { line: 'not JSON' }, /wrote something that is not a message/],
    ['floods', 'p.flood', {}, /said more than 10000000 bytes in one line/],
  ])('because it %s fails the calls it has, and is started anew for the next', async (_, name, input, message) => {
    const waiting = call('p.wait')
    expect((await call(name, input)).error).toMatchObject({
      code: 'UPSTREAM_ERROR',
      message: expect.stringMatching(message),
    })
    expect((await waiting).error?.code).toBe('UPSTREAM_ERROR')
    expect((await call('core/util.hash.sha256Text', { text: '' })).ok).toBe(true)
    expect((await call('p.greet', { name: 'again' })).data).toEqual({ text: 'hello again!!' })
  })

  it('again and again has to wait longer each time, and one that hangs is ended', async () => {
    const clock = fakeClock()
    const source = join(folder, 'own.mjs')
    await writeFile(source, PLUGIN)
    spy()
    const own = hubOf({ sources: [isolated({ source })], clock })
    others.push(own)
    await own.ready()
    const exit = async () => (await own.callDynamic('p.exit', {})).error?.message
    expect([await exit(), await exit()]).toEqual([
      expect.stringContaining('exit code 3'),
      expect.stringContaining('exit code 3'),
    ])
    expect(await exit()).toContain('failed 2 times in a row; it is started again in 500 ms')
    await clock.advance(500)
    expect((await own.callDynamic('p.greet', { name: 'x' })).ok).toBe(true)
    const other = own.callDynamic('p.wait', {}, { timeoutMs: 60_000 })
    const hang = async () => {
      let hung: string | undefined
      await new Promise<void>((begun) => {
        const onEvent = ({ type }: { type: string }) => void (type === 'call-progressed' && begun())
        void own.callDynamic('p.hang', {}, { timeoutMs: 100, onEvent }).then(({ status }) => {
          hung = status
        })
      })
      while (hung === undefined) await clock.advance(100)
      expect(hung).toBe('timeout')
    }
    await hang()
    await clock.advance(2_000)
    expect((await other).error?.message).toContain('did not answer for 2000 ms')
    // Judged by what it was, so not called: what it is now, the caller looks at first.
    await writeFile(source, PLUGIN.replace("title: 'Greet'", "title: 'Other'"))
    expect((await own.callDynamic('p.greet', { name: 'x' })).error?.code).toBe('CONFLICT')
    expect((await own.callDynamic('p.greet', { name: 'x' })).ok).toBe(true)
    expect(own.cards().find(({ tool }) => tool === 'p.greet')?.title).toBe('Other')
    // One that hangs still when its hub is closed is given no further time.
    await hang()
    let isClosed = false
    void own.close().then(() => {
      isClosed = true
    })
    while (!isClosed) {
      await clock.advance(0)
      await new Promise(setImmediate)
    }
  })

  it('when it is loaded is reported by name, with what is wrong', async () => {
    const sources = {
      'hooks.mjs': 'export default { name: "h", tools: [], hooks: { decide: () => "deny" } }',
      'mistyped.mjs': 'export default { name: "m", tools: [], hook: { decide: () => "deny" }, required: false }',
      'setup.mjs': 'export default { name: "s", setup: (api) => api.addHooks({}) }',
      'throws.mjs': 'console.log("on the way"); throw new Error("not\\u001b[2J today")',
      'syntax.mjs': '\n\nexport default { name: "x" tools: [] }',
      'nothing.mjs': 'export default { name: "n", setup: (api) => api.registerTool() }',
      'takes.mjs': 'export default []',
      'registers.mjs': `export default { name: 'r', setup: (api) => api.registerTool(
        { name: 'late', description: 'x', input: {}, targets: { 'read:fs': 'path' }, execute: () => 1 }) }`,
      'good.mjs': `export default { name: 'ok', description: 'x', input: {}, execute: () => undefined }`,
    }
    for (const [name, source] of Object.entries(sources)) await writeFile(join(folder, name), source)
    const own = hubOf({})
    others.push(own)
    warnings.length = 0
    spy()
    for (const name of Object.keys(sources))
      own.connect(isolated({ source: join(folder, name), ...(name === 'takes.mjs' && { options: { a: 1 } }) }))
    await own.ready()
    expect((await own.callDynamic('ok', {})).error?.code).toBe('OUTPUT_SCHEMA_INVALID')
    for (const pattern of [
      /plugin hooks\.mjs .*it has hooks, which an isolated plugin cannot/,
      /plugin mistyped\.mjs .*it has no option "hook": an isolated plugin has name, tools, setup, close/,
      /plugin registers\.mjs: the tool late is left out: targets.*is no JSON pointer/,
      /plugin setup\.mjs .*it uses api\.addHooks, which an isolated plugin cannot/,
      /plugin takes\.mjs .*it takes no options/,
      /plugin throws\.mjs .*not\\u\{1b\}\[2J today\. It said: on the way/,
      /plugin syntax\.mjs does not load: line 3: Unexpected identifier 'tools'/,
      /plugin nothing\.mjs does not load: registerTool needs a tool\./,
    ])
      expect(warnings).toContainEqual(expect.stringMatching(pattern))
    expect(warnings.length).toBe(8)
  })

  it('does not start, so that a hub that requires it can tell', async () => {
    const missing = isolatePlugin(join(folder, 'missing.mjs'), { required: true })
    const started: unknown[] = []
    const own = hubOf({})
    others.push(own)
    own.connect({
      name: 'looked at',
      start: (host) => missing.start(host)?.catch((error) => void started.push(error)),
      close: () => missing.close?.(),
    })
    await own.ready()
    expect([missing.required, isolated().required]).toEqual([true, false])
    expect(started).toEqual([expect.objectContaining({ code: 'UPSTREAM_ERROR' })])
  })

  it('because its packages are reached by a link gets an error that says what to add', async () => {
    const at = (...names: string[]) => join(folder, 'linked', ...names)
    await mkdir(at('store', 'node_modules', 'far'), { recursive: true })
    await mkdir(at('home', 'plugins'), { recursive: true })
    await writeFile(at('store', 'node_modules', 'far', 'package.json'), '{ "type": "module", "exports": "./index.js" }')
    await writeFile(at('store', 'node_modules', 'far', 'index.js'), 'export default "far"')
    await symlink('../store/node_modules', at('home', 'node_modules'))
    const source = at('home', 'plugins', 'p.mjs')
    await writeFile(
      source,
      "import far from 'far'\nexport default { name: 'far', description: 'x', input: {}, execute: () => far }",
    )
    warnings.length = 0
    spy()
    const own = hubOf({
      sources: [isolated({ source }), isolated({ source, name: 'b', access: { readable: [at('home')] } })],
    })
    others.push(own)
    await own.ready()
    expect(warnings).toEqual([
      expect.stringMatching(
        /p\.mjs does not load: .*\/home\/node_modules\/far is reached by a link.*readable: \[".*\/home", /,
      ),
    ])
    expect((await own.callDynamic('far', {})).data).toBe('far')
  })
})

describe('access to more than its own folder', () => {
  it('gives every tool the capabilities that it opens, judged without a target', () => {
    const tool = {
      name: 't',
      description: 'x',
      input: {},
      capabilities: ['read:fs', 'network'],
      targets: { 'read:fs': '/path', network: '/url' },
      hasModelForm: false,
      lost: [],
    }
    expect(toDefinitions([tool], {}).definitions).toEqual([tool])
    expect(toDefinitions([tool], { hosts: ['a.example'], writable: ['/srv'] }).definitions).toEqual([
      { ...tool, capabilities: ['read:fs', 'network', 'send', 'write:fs'], targets: { 'read:fs': '/path' } },
    ])
  })
})

it('accepts the old name of its access, with a warning', () => {
  const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
  isolatePlugin(file, { fence: { readable: ['/srv'] } })
  expect(warned.mock.calls).toEqual([['The option fence of isolatePlugin is called access.', 'DeprecationWarning']])
})
