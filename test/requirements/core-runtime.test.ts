import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { tool as langChainTool } from '@langchain/core/tools'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { CAPABILITIES, fromLangChain, toAgentTools } from '../../packages/library/src/index.ts'
import { fakeClock } from '../../packages/testing/src/fake-clock.ts'
import { cliFolder } from '../support/cli.ts'
import { useLoopback } from '../support/loopback.ts'
import { LOOPBACK, realHub } from '../support/real-hub.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** The tools of the document with the capabilities that it gives them. */
const TOOLS: Readonly<Record<string, readonly string[]>> = {
  'core/fs.readText': ['read:fs'],
  'core/fs.writeText': ['write:fs'],
  'core/fs.listDir': ['read:fs'],
  'core/fs.searchText': ['read:fs'],
  'core/fs.sha256': ['read:fs'],
  'core/fs.deletePath': ['danger:destructive', 'write:fs'],
  'core/http.fetchText': ['network'],
  'core/http.fetchJson': ['network'],
  'core/http.downloadFile': ['network', 'write:fs'],
  'core/http.head': ['network'],
  'core/util.json.select': [],
  'core/util.text.truncate': [],
  'core/util.hash.sha256Text': [],
  'core/util.time.now': [],
  'core/util.template.render': [],
}

const local = useLoopback()
const url = (path = '/') => `http://127.0.0.1:${local.port}${path}`
const INPUTS = (): Readonly<Record<string, object>> => ({
  'core/fs.writeText': { path: 'new.txt', text: 'new' },
  'core/fs.readText': { path: 'a.txt' },
  'core/fs.listDir': { path: '.' },
  'core/fs.searchText': { root: '.', query: 'hello' },
  'core/fs.sha256': { path: 'a.txt' },
  'core/fs.deletePath': { path: 'b.txt', confirm: true },
  'core/http.fetchText': { url: url() },
  'core/http.fetchJson': { url: url() },
  'core/http.downloadFile': { url: url(), destPath: 'down.json' },
  'core/http.head': { url: url() },
  'core/util.json.select': { json: { a: 1 }, path: 'a' },
  'core/util.text.truncate': { text: 'hello', maxChars: 3 },
  'core/util.hash.sha256Text': { text: 'hello' },
  'core/util.time.now': {},
  'core/util.template.render': { template: 'Hello {{name}}', data: { name: 'Ada' } },
})
const FILES = { 'a.txt': 'hello\n', 'b.txt': 'b' }
const OPEN = { sandbox: LOOPBACK, policy: [{ allow: 'danger:destructive' }] }

describe('the goals of the core tools', () => {
  it('they are ready to use: from the command line, without a config, on record', async () => {
    const folder = cliFolder(null)
    try {
      const call = async (tool: string, input: object) =>
        JSON.parse((await folder.run(['call', tool, JSON.stringify(input), '--root', '.', '--json'])).stdout)
      expect(await call('core/fs.writeText', { path: 'notes/a.md', text: '# Hi\n' })).toMatchObject({ ok: true })
      expect(await call('core/fs.readText', { path: 'notes/a.md' })).toMatchObject({ data: { text: '# Hi\n' } })
      expect(await call('core/fs.deletePath', { path: 'notes/a.md', confirm: true })).toMatchObject({ ok: false })
      const records = readdirSync(join(folder.path, 'runs'))
        .filter((name) => name.startsWith('run-'))
        .map((run) => readFileSync(join(folder.path, 'runs', run, 'events.jsonl'), 'utf8'))
      for (const tool of ['writeText', 'readText', 'deletePath']) expect(records.join()).toContain(`core/fs.${tool}`)
      expect((await folder.run(['audit', 'verify'])).code).toBe(0)
    } finally {
      folder.remove()
    }
  })

  it('every call is checked, judged, budgeted, repeated and recorded, whichever way it comes in', async () => {
    local.answer = (_, response) => response.writeHead(503).end()
    const { hub, call, record } = realHub(
      {
        sandbox: LOOPBACK,
        policy: [{ deny: 'core/fs.sha256' }],
        limits: { tools: { 'core/fs.listDir': { calls: 1 } } },
      },
      FILES,
    )
    const unchecked = await call('core/fs.readText', { file: 'a.txt' })
    const denied = await call('core/fs.sha256', { path: 'a.txt' })
    await call('core/fs.listDir', { path: '.' })
    const spent = await call('core/fs.listDir', { path: '.' })
    const repeated = await call('core/http.fetchText', { url: url() })
    expect([unchecked, denied, spent].map(({ error }) => error?.code)).toEqual([
      'INPUT_SCHEMA_INVALID',
      'POLICY_DENIED',
      'BUDGET_EXCEEDED',
    ])
    expect([unchecked, denied, spent, repeated].map(({ meta }) => meta.attempts)).toEqual([0, 0, 0, 3])
    const agentTool = toAgentTools(hub).find(({ name }) => name.endsWith('fs_sha256'))
    expect((await agentTool!.execute('1', { path: 'a.txt' })).details).toMatchObject({ status: 'error' })
    const asUser = await hub.as({ name: 'ada' }).callDynamic('core/fs.sha256', { path: 'a.txt' })
    expect(asUser.error?.code).toBe('POLICY_DENIED')
    const ended = (await record('events.jsonl')).filter(({ type }) => type === 'call-ended')
    const ids = [unchecked, denied, spent, repeated].map(({ callId }) => callId)
    expect(ended.map(({ callId }) => callId)).toEqual(expect.arrayContaining(ids))
    expect(ended.filter(({ tool }) => tool === 'core/fs.sha256')).toHaveLength(2)
  })

  it('paths, hosts and dangerous parameters are bounded, and secrets are removed from results', async () => {
    local.answer = (request, response) => response.end(`you sent ${request.headers.authorization}`)
    const { call, text } = realHub({
      sandbox: LOOPBACK,
      secrets: { api: { value: 'hush-hush-0123456789', hosts: ['127.0.0.1'] } },
    })
    expect((await call('core/fs.readText', { path: '/etc/passwd' })).error?.code).toBe('PATH_OUTSIDE_SANDBOX')
    expect((await call('core/http.fetchText', { url: 'http://example.org/' })).error?.code).toBe('HTTP_DISALLOWED_HOST')
    for (const wrong of [
      { headers: { Host: 'evil.org' } },
      { headers: { a: 'b\r\nc: d' } },
      { url: 'file:///etc/passwd' },
    ])
      expect((await call('core/http.fetchText', { url: url(), ...wrong })).ok, JSON.stringify(wrong)).toBe(false)
    expect((await call('core/exec.run', { command: 'rm -rf .' })).error?.code).toBe('POLICY_DENIED')
    const headers = { authorization: `Bearer \${secret:api}` }
    const echoed = await call('core/http.fetchText', { url: url(), headers })
    expect(echoed.data).toMatchObject({ text: expect.stringMatching(/^you sent .*redacted/) })
    expect(JSON.stringify(echoed) + (await text('core/http.fetchText', { url: url(), headers }))).not.toContain(
      'hush-hush',
    )
  })

  it('they time out, repeat, act once for a key, are bounded in rate and paused after failures', async () => {
    let asked = 0
    local.answer = (_, response) => {
      asked += 1
      if (asked < 3) response.writeHead(503).end()
      else response.end('not json')
    }
    const { call, data, read } = realHub({
      sandbox: LOOPBACK,
      limits: { tools: { 'core/util.time.now': { rate: { perSecond: 0.001, burst: 2 } } } },
    })
    const retried = await call('core/http.fetchText', { url: url() })
    expect([retried.ok, retried.meta.attempts, asked]).toEqual([true, 3, 3])
    const once = { idempotencyKey: 'key-1' }
    await data('core/fs.writeText', { path: 'a.txt', text: 'once' }, once)
    const again = await call('core/fs.writeText', { path: 'a.txt', text: 'once' }, once)
    expect([again.ok, again.meta.cached, read('a.txt')]).toEqual([true, true, 'once'])
    for (let index = 0; index < 2; index++) await data('core/util.time.now')
    expect((await call('core/util.time.now')).error).toMatchObject({ code: 'RATE_LIMITED', retryable: true })
    const codes: unknown[] = []
    for (let index = 0; index < 7; index++)
      codes.push((await call('core/http.fetchJson', { url: url(`/${index}`) })).error?.code)
    expect(codes[0]).toBe('UPSTREAM_ERROR')
    expect(codes.at(-1)).toBe('CIRCUIT_OPEN')
    const clock = fakeClock()
    const slow = realHub({ clock, sandbox: LOOPBACK })
    const stuck = new Promise<void>((resolve) => {
      local.answer = () => resolve()
    })
    const call15 = slow.call('core/http.head', { url: url() })
    await stuck
    await clock.advance(15_001)
    expect((await call15).error?.code).toBe('HTTP_TIMEOUT')
  })

  it('they chain: fetch, select, render, write', async () => {
    const items = [
      { name: 'pen', price: 2 },
      { name: 'car', price: 90_000 },
    ]
    local.answer = (_, response) =>
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ items }))
    const { data, read } = realHub({ sandbox: LOOPBACK })
    const { json } = await data('core/http.fetchJson', { url: url('/prices.json') })
    const { value } = await data('core/util.json.select', { json, path: '$.items[?@.price < 10]' })
    const template = '# Cheap\n{{#items}}\n- {{name}}: {{price}}\n{{/items}}\n'
    const { text } = await data('core/util.template.render', { template, data: { items: value } })
    await data('core/fs.writeText', { path: 'report.md', text })
    expect(read('report.md')).toBe('# Cheap\n- pen: 2\n')
  })

  it('each call has evidence, a line in the event log and a place in the metrics', async () => {
    local.answer = (_, response) => response.end('{"a":1}')
    const { hub, call, record } = realHub(OPEN, FILES)
    const ids: string[] = []
    for (const [tool, input] of Object.entries(INPUTS())) {
      const { ok, evidence, callId, error } = await call(tool, input)
      expect([tool, ok, error?.message]).toEqual([tool, true, undefined])
      expect(evidence.length, tool).toBeGreaterThan(0)
      ids.push(callId)
    }
    const metrics = await hub.metrics()
    for (const tool of Object.keys(TOOLS)) expect(metrics).toMatch(new RegExp(`calls_total\\{.*${tool}.*\\} 1`))
    const ended = (await record('events.jsonl')).filter(({ type }) => type === 'call-ended')
    expect(ended.map(({ callId }) => callId)).toEqual(ids)
  })

  it('each has a name, schemas and capabilities, and can be called as a stream of events', async () => {
    const { hub } = realHub({ policy: [{ allow: 'exec' }] }, FILES)
    const cards = hub.cards({ dialect: 'none' }).filter(({ tool }) => Object.hasOwn(TOOLS, tool))
    expect(cards).toHaveLength(15)
    for (const card of cards)
      expect(card).toMatchObject({
        parameters: { type: 'object', additionalProperties: false },
        output: { type: 'object' },
      })
    const events: string[] = []
    for await (const event of hub.stream('core/fs.readText', { path: 'a.txt' })) events.push(event.type)
    expect([events[0], events.at(-1)]).toEqual(['call-started', 'call-ended'])
    const types = new Set<string>()
    let shown = ''
    for await (const event of hub.stream('core/exec.run', { command: 'echo first; echo second' })) {
      types.add(event.type)
      if (event.type === 'call-progressed')
        for (const block of event.content) if (block.type === 'text') shown += block.text
    }
    expect([...types]).toEqual(['call-started', 'call-progressed', 'call-ended'])
    expect(shown).toBe('first\nsecond\n')
  })
})

describe('the architecture', () => {
  it('one intent passes the registry, the policy, the tool and the audit of a hub', async () => {
    const { hub, call, record } = realHub({}, FILES)
    expect(hub.registry.get('core/fs.readText')).toBeDefined()
    expect(await hub.explain('core/fs.readText', { path: 'a.txt' })).toMatchObject({ effect: 'allow' })
    const { callId, meta } = await call('core/fs.readText', { path: 'a.txt' })
    expect(meta.rule).toContain('read:fs')
    expect(await hub.metrics()).toContain('core/fs.readText')
    expect(await record('events.jsonl')).toContainEqual(expect.objectContaining({ type: 'call-ended', callId }))
  })

  it('core tools are local functions; tools of LangChain and skills work in the same hub', async () => {
    const skills = temporaryFolder()
    mkdirSync(join(skills, 'greeting'))
    const skill = '---\nname: greeting\ndescription: How to greet.\n---\nSay good morning.\n'
    writeFileSync(join(skills, 'greeting/SKILL.md'), skill)
    const { hub, call, text } = realHub({
      skills: [skills],
      tools: [
        fromLangChain(
          langChainTool(({ city }) => `sun in ${city}`, {
            name: 'weather',
            description: 'The weather of a city.',
            schema: z.object({ city: z.string() }),
          }),
          { capabilities: [] },
        ),
      ],
    })
    await hub.ready({ all: true })
    expect((await call('weather', { city: 'Rome' })).content).toEqual([{ type: 'text', text: 'sun in Rome' }])
    expect(await text('load_skill', { skill_id: 'greeting' })).toContain('Say good morning.')
    expect((await call('core/util.time.now')).ok).toBe(true)
    const kinds = new Map(hub.list().map(({ name, kind }) => [name, kind]))
    expect(['core/util.time.now', 'weather'].map((name) => kinds.get(name))).toEqual(['core', 'langchain'])
    expect([...kinds.values()]).toContain('skill')
    const imports = readdirSync('packages/runtime/src/tools', { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts') && !file.includes('.test'))
      .filter((file) => readFileSync(join('packages/runtime/src/tools', file), 'utf8').includes('langchain'))
    expect(imports).toEqual([])
  })

  it('the names are those of the document', () => {
    const names = realHub()
      .hub.list()
      .map(({ name }) => name)
    expect(names).toEqual(expect.arrayContaining(Object.keys(TOOLS)))
    for (const name of names) expect(name).toMatch(/^core\/[a-z]+/)
  })

  it('a large text never comes whole: the model gets a reference that its tools can open', async () => {
    local.answer = (_, response) => response.end(`${'page of a long text\n'.repeat(9_999)}the last line`)
    const { call, text } = realHub({ sandbox: LOOPBACK })
    const { content, data } = await call('core/http.fetchText', { url: url() })
    expect(data).toMatchObject({ status: 200, bytes: 199_993 })
    const shown = content.map((block) => (block.type === 'text' ? block.text : '')).join('\n')
    expect(shown.length).toBeLessThan(31_000)
    const [ref] = /artifact:[0-9a-f]{64}/.exec(shown)!
    expect(await text('read', { path: ref, offset: 10_000, limit: 5 })).toContain('the last line')
    expect(await text('grep', { pattern: 'the last line', path: ref })).toContain('the last line')
  })

  it('the capabilities are those of the document', () => {
    expect(CAPABILITIES).toEqual(expect.arrayContaining(['read:fs', 'write:fs', 'network', 'danger:destructive']))
    const listed = new Map(
      realHub()
        .hub.list({ hidden: true })
        .map(({ name, capabilities }) => [name, capabilities]),
    )
    for (const [name, capabilities] of Object.entries(TOOLS))
      expect(listed.get(name), name).toEqual(expect.arrayContaining([...capabilities]))
    for (const name of Object.keys(TOOLS).filter((name) => name.startsWith('core/util.')))
      expect(listed.get(name)).toEqual([])
    expect(listed.get('core/fs.readText')).toEqual(['read:fs'])
    expect(listed.get('core/http.head')).toEqual(['network'])
  })
})
