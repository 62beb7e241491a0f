import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import {
  type CoreToolsConfig,
  defineTool,
  type HubOptions,
  toCoreResult,
  VERSION,
} from '../../packages/library/src/index.ts'
import { fromCoreToolsConfig } from '../../packages/runtime/src/hub/hub-options.ts'
import { judgeAddress, parseRanges } from '../../packages/sandbox/src/network/judge-destination.ts'
import { cliFolder } from '../support/cli.ts'
import { useLoopback } from '../support/loopback.ts'
import { LOOPBACK, realHub } from '../support/real-hub.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const local = useLoopback()
const url = (path = '/') => `http://127.0.0.1:${local.port}${path}`
const webHub = (options: HubOptions = {}) => realHub({ ...options, sandbox: { ...LOOPBACK, ...options.sandbox } })
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

/** A tool that does not keep to its own output schema. */
const liar = defineTool({
  name: 'demo.count',
  description: 'Returns a text where its schema says number.',
  input: z.strictObject({}),
  output: z.strictObject({ count: z.int() }),
  execute: () => ({ count: 'three' }) as never,
})

describe('what the runtime adds to a call', () => {
  it('it fills in the defaults and an idempotency key, which are not left to the model', async () => {
    const { hub, call, read } = realHub()
    const { parameters } = hub.cards({ dialect: 'none' }).find(({ tool }) => tool === 'core/fs.writeText')!
    expect(parameters).toMatchObject({ required: ['path', 'text'] })
    const intent = { path: 'deep/a.txt', text: 'first' }
    const ids = { requestId: 'request-1', taskId: 'task-1' }
    expect(await call('core/fs.writeText', intent, ids)).toMatchObject({ ok: true })
    expect(await call('core/fs.writeText', intent, ids)).toMatchObject({ ok: true, meta: { cached: true } })
    expect(await call('core/fs.writeText', { ...intent, text: 'other' }, ids)).toMatchObject({
      error: { code: 'CONFLICT' },
    })
    const otherTask = await call('core/fs.writeText', intent, { ...ids, taskId: 'task-2' })
    expect(otherTask.error?.code).toBe('CONFLICT')
    expect(read('deep/a.txt')).toBe('first')
  })

  it('every call has evidence in the form of the document', async () => {
    const body = '{"name":"pen","price":2}'
    local.answer = (_, response) => response.setHeader('content-type', 'application/json').end(body)
    const { call } = webHub()
    const written = await call('core/fs.writeText', { path: 'a.txt', text: 'abc' })
    expect(written.evidence).toEqual([{ type: 'file', ref: 'a.txt', summary: `3 bytes, sha256 ${sha256('abc')}` }])
    const fetched = await call('core/http.fetchJson', { url: url('/pen') })
    expect(fetched.evidence).toEqual([
      { type: 'tool', ref: fetched.callId, summary: expect.stringMatching(/200.*name.*price/) },
    ])
    const loaded = await call('core/http.downloadFile', { url: url('/pen'), destPath: 'pen.json' })
    const summary = `${body.length} bytes, sha256 ${sha256(body)}, from ${url('/pen')}`
    expect(loaded.evidence).toEqual([{ type: 'file', ref: 'pen.json', summary }])
    for (const refused of [await call('core/fs.readText', { path: 'missing' }), await call('core/fs.readText', {})])
      expect(refused.evidence.length).toBeGreaterThan(0)
  })

  it('the nine error kinds come from real calls, as error.kind', async () => {
    local.answer = (request, response) => {
      if (request.url === '/slow') return
      response.end('x'.repeat(5_000))
    }
    const { call } = realHub(
      { sandbox: LOOPBACK, tools: [liar], policy: [{ deny: 'core/fs.sha256' }] },
      { 'big.txt': 'x'.repeat(5_000) },
    )
    const calls: [string, string, object][] = [
      ['INPUT_SCHEMA_INVALID', 'core/fs.readText', {}],
      ['POLICY_DENIED', 'core/fs.sha256', { path: 'big.txt' }],
      ['PATH_OUTSIDE_SANDBOX', 'core/fs.readText', { path: '../a' }],
      ['FILE_TOO_LARGE', 'core/fs.readText', { path: 'big.txt', maxBytes: 1_024 }],
      ['HTTP_DISALLOWED_HOST', 'core/http.fetchText', { url: 'http://example.org/' }],
      ['HTTP_TIMEOUT', 'core/http.fetchText', { url: url('/slow'), timeoutMs: 1_000 }],
      ['HTTP_TOO_LARGE', 'core/http.downloadFile', { url: url(), destPath: 'a', maxBytes: 1_024 }],
      ['UPSTREAM_ERROR', 'core/http.fetchJson', { url: url() }],
      ['OUTPUT_SCHEMA_INVALID', 'demo.count', {}],
    ]
    for (const [kind, tool, input] of calls)
      expect(toCoreResult(await call(tool, input)), kind).toMatchObject({ ok: false, error: { kind } })
  })

  it('an error says how to repair the call: hosts, sizes, the permission', async () => {
    local.answer = (_, response) => response.end('x'.repeat(5_000))
    const { call } = realHub(
      { sandbox: { ...LOOPBACK, network: ['127.0.0.1', '*.github.com'] } },
      { 'a.txt': 'x'.repeat(2_000) },
    )
    const repair = async (tool: string, input: object) => JSON.stringify((await call(tool, input)).error)
    const host = await repair('core/http.fetchText', { url: 'http://example.org/' })
    expect(host).toContain('*.github.com')
    expect(host).toContain('sandbox.network')
    expect(await repair('core/fs.readText', { path: 'a.txt', maxBytes: 1_024 })).toMatch(/2000 bytes.*1024/)
    const large = await repair('core/http.downloadFile', { url: url(), destPath: 'b', maxBytes: 1_024 })
    expect(large).toMatch(/1024.*maxBytes/)
    const denied = await repair('core/fs.deletePath', { path: 'a.txt', confirm: true })
    expect(denied).toContain('danger:destructive')
  })
})

describe('the configuration', () => {
  it('CoreToolsConfig is taken as it is, and every key holds', async () => {
    const agents: (string | undefined)[] = []
    local.answer = (request, response) => {
      agents.push(request.headers['user-agent'])
      response.end('x'.repeat(request.url === '/large' ? 7_000 : 5_000))
    }
    const sandboxRoot = temporaryFolder()
    const limits = { maxReadBytes: 2_000, maxHttpBytes: 3_000, maxDownloadBytes: 6_000, defaultTimeoutMs: 1_000 }
    const core = {
      sandboxRoot,
      ...limits,
      allowedHosts: ['127.0.0.1', '*.openai.com'],
      blockedCidrs: ['192.0.2.0/24'],
      httpUserAgent: 'mine/1.0',
      enableAutoWriteLargeResponses: true,
    }
    const { call, data, hub } = realHub({ core, sandbox: { privateRanges: ['127.0.0.1/32'] } })
    const fetched = await data('core/http.fetchText', { url: url(), timeoutMs: 60_000 })
    expect(fetched).toMatchObject({ bytes: 3_000, fileRef: expect.any(String) })
    const kept = join(sandboxRoot, hub.run, 'workspace', fetched.fileRef)
    expect(readFileSync(kept, 'utf8')).toBe('x'.repeat(5_000))
    expect((await call('core/fs.readText', { path: fetched.fileRef })).error?.code).toBe('FILE_TOO_LARGE')
    expect(
      (await call('core/http.downloadFile', { url: url('/large'), destPath: 'b', timeoutMs: 60_000 })).error?.code,
    ).toBe('HTTP_TOO_LARGE')
    expect((await call('core/http.fetchText', { url: 'http://example.org/' })).error?.code).toBe('HTTP_DISALLOWED_HOST')
    expect(agents[0]).toBe('mine/1.0')
    local.answer = () => {}
    expect((await call('core/http.head', { url: url() })).error?.message).toContain('1000 ms')
    local.answer = (request, response) => response.end(request.headers['user-agent'])
    expect((await webHub().data('core/http.fetchText', { url: url() })).text).toBe(`tool-hub/${VERSION}`)
    // A blocked range stays closed, also to an allowed host whose address the owner has opened.
    const blocked = webHub({ core: { allowedHosts: ['127.0.0.1'], blockedCidrs: ['127.0.0.0/8'] } })
    const refused = await blocked.call('core/http.fetchText', { url: url() })
    expect(refused.error).toMatchObject({ code: 'HTTP_DISALLOWED_HOST', message: expect.stringContaining('127.0.0.') })
    expect(() => realHub({ core: { maxReadByte: 1 } as never })).toThrow('core.maxReadByte')
  })

  it('maxReadBytes and maxHttpBytes are defaults: to write the default changes nothing, and the schema is the maximum', async () => {
    const large = 10_485_760
    local.answer = (_, response) => response.end('x'.repeat(large))
    const codes = async (options: HubOptions) => {
      const { call, root } = realHub({
        ...options,
        sandbox: { network: ['127.0.0.1'], privateRanges: ['127.0.0.1/32'] },
      })
      writeFileSync(join(root, 'large.txt'), 'x'.repeat(large))
      const read = (input: object) => call('core/fs.readText', { path: 'large.txt', ...input })
      const fetch = async (input: object) =>
        ((await call('core/http.fetchText', { url: url(), ...input })).data as { bytes: number }).bytes
      return [
        (await read({})).error?.code,
        (await read({ maxBytes: large })).error?.code,
        (await read({ maxBytes: large + 1 })).error?.code,
        await fetch({}),
        await fetch({ maxBytes: large }),
      ]
    }
    const standard = ['FILE_TOO_LARGE', undefined, 'INPUT_SCHEMA_INVALID', 5_242_880, large]
    expect(await codes({})).toEqual(standard)
    expect(await codes({ core: { maxReadBytes: 5_242_880, maxHttpBytes: 5_242_880 } })).toEqual(standard)
    const smaller = ['FILE_TOO_LARGE', undefined, 'INPUT_SCHEMA_INVALID', 2_000, large]
    expect(await codes({ core: { maxReadBytes: 1_000, maxHttpBytes: 2_000 } })).toEqual(smaller)
    // The owner's limits stay limits.
    const limited = await codes({ core: { maxHttpBytes: 2_000 }, limits: { readBytes: 5_242_880, httpBytes: 3_000 } })
    expect(limited).toEqual(['FILE_TOO_LARGE', 'FILE_TOO_LARGE', 'INPUT_SCHEMA_INVALID', 2_000, 3_000])
  })

  it('blockedCidrs replaces the private ranges; this machine and metadata services stay closed', () => {
    const isReachable = (core: CoreToolsConfig | undefined, address: string) => {
      const { sandbox } = fromCoreToolsConfig(core ?? {})
      return judgeAddress(address, parseRanges(sandbox.privateRanges ?? [], sandbox.blockedRanges)) === undefined
    }
    const reachable = (core?: CoreToolsConfig) =>
      [
        '10.1.2.3',
        '172.31.0.1',
        '192.168.0.1',
        'fd12::1',
        '127.0.0.1',
        '::1',
        '169.254.169.254',
        '169.254.1.1',
        'fe80::1',
      ]
        .concat(['100.64.0.1', '0.0.0.0', '::ffff:127.0.0.1', '8.8.8.8'])
        .filter((address) => isReachable(core, address))
    expect(reachable()).toEqual(['8.8.8.8'])
    expect(reachable({ blockedCidrs: [] })).toEqual(['10.1.2.3', '172.31.0.1', '192.168.0.1', 'fd12::1', '8.8.8.8'])
    expect(reachable({ blockedCidrs: ['10.0.0.0/8', 'fc00::/7'] })).toEqual(['172.31.0.1', '192.168.0.1', '8.8.8.8'])
    const written = ['127.0.0.0/8', '169.254.0.0/16', '10.0.0.0/8', '192.168.0.0/16', '172.16.0.0/12', 'fc00::/7']
    expect(reachable({ blockedCidrs: written })).toEqual(['8.8.8.8'])
  })

  it('in tool-hub.yaml the same keys stand under core', async () => {
    const agents: (string | undefined)[] = []
    local.answer = (request, response) => {
      agents.push(request.headers['user-agent'])
      response.end('x'.repeat(5_000))
    }
    const folder = cliFolder(
      'core:\n  maxHttpBytes: 3000\n  allowedHosts: [127.0.0.1]\n  httpUserAgent: mine/1.0\n  enableAutoWriteLargeResponses: true\n' +
        'sandbox: { root: ., privateRanges: [127.0.0.1/32] }\n',
    )
    try {
      const words = ['call', 'core/http.fetchText', JSON.stringify({ url: url() }), '--json']
      const { stdout, stderr } = await folder.run(words)
      expect(stderr).not.toContain('unknown')
      const { data } = JSON.parse(stdout)
      expect(data).toMatchObject({ bytes: 3_000 })
      expect(existsSync(join(folder.path, data.fileRef))).toBe(true)
      expect(agents).toEqual(['mine/1.0'])
    } finally {
      folder.remove()
    }
  })
})

describe('what the document advises', () => {
  it('one module has all core tools, in a folder for each of fs, http and util', async () => {
    const { builtinTools } = await import('@tool-hub/library/builtin-tools')
    const names = builtinTools.map(({ name }) => name)
    const files = { 'fs.sha256': 'fs/sha256-file' } as Readonly<Record<string, string>>
    for (const tool of [
      ...['fs.readText', 'fs.writeText', 'fs.listDir', 'fs.searchText', 'fs.sha256', 'fs.deletePath'],
      ...['http.fetchText', 'http.fetchJson', 'http.downloadFile', 'http.head'],
      ...['util.json.select', 'util.text.truncate', 'util.hash.sha256Text', 'util.time.now', 'util.template.render'],
    ]) {
      expect(names).toContain(`core/${tool}`)
      const [folder = '', ...words] = tool.split('.')
      const kebab = words.join('-').replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
      expect(existsSync(`packages/runtime/src/tools/${files[tool] ?? `${folder}/${kebab}`}.ts`), tool).toBe(true)
    }
    expect(realHub().hub.list({ hidden: true })).toHaveLength(names.length)
  })

  it('every step of its order is there, and the last one, deletePath, is off', async () => {
    local.answer = (_, response) => response.end('{}')
    const { call } = realHub({ sandbox: LOOPBACK }, { 'a.txt': 'a' })
    const steps: [string, object][] = [
      ['core/fs.listDir', { path: '.' }],
      ['core/http.head', { url: url() }],
      ['core/http.downloadFile', { url: url(), destPath: 'b.json' }],
      ['core/util.text.truncate', { text: 'a', maxChars: 1 }],
    ]
    for (const [tool, input] of steps) expect((await call(tool, input)).ok, tool).toBe(true)
    const last = await call('core/fs.deletePath', { path: 'a.txt', confirm: true })
    expect(last.error?.code).toBe('POLICY_DENIED')
  })

  it('head before a fetch, truncate before a file, and evidence that a program can check', async () => {
    const page = 'an unstable page\n'.repeat(2_000)
    local.answer = (_, response) => response.setHeader('content-length', page.length).end(page)
    const { call, data, root } = webHub()
    const { headers } = await data('core/http.head', { url: url() })
    expect(Number(headers['content-length'])).toBe(page.length)
    const { text } = await data('core/http.fetchText', { url: url(), maxBytes: page.length })
    const short = await data('core/util.text.truncate', { text, maxChars: 1_000 })
    const written = await call('core/fs.writeText', { path: 'out/page.txt', text: short.text })
    const [{ type, ref, summary }] = written.evidence as [(typeof written.evidence)[number]]
    const isDone = type === 'file' && summary.includes(sha256(readFileSync(join(root, ref), 'utf8')))
    expect(isDone).toBe(true)
  })

  it('input and output are checked against the schemas, of core tools and of others', async () => {
    const wrong = realHub(
      { hooks: [{ match: 'core/fs.readText', after: () => ({ data: { path: 'a.txt' } }) }] },
      { 'a.txt': 'a' },
    )
    expect((await wrong.call('core/fs.readText', { path: 'a.txt' })).error?.code).toBe('OUTPUT_SCHEMA_INVALID')
    const { call } = realHub({ tools: [liar] }, { 'a.txt': 'a' })
    expect((await call('demo.count', { other: 1 })).error?.code).toBe('INPUT_SCHEMA_INVALID')
    expect((await call('demo.count')).error).toMatchObject({
      code: 'OUTPUT_SCHEMA_INVALID',
      message: expect.stringContaining('count'),
    })
    expect((await call('core/fs.readText', { path: 'a.txt' })).ok).toBe(true)
  })
})
