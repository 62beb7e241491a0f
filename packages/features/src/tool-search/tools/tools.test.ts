import { type AnyTool, defineTool, type HubOptions } from '@tool-hub/core'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { eventsOf } from '../../../../../test/support/events-of.ts'
import { type TestHub, testHub } from '../../../../testing/src/tool-contract.ts'
import type { ToolDescriptions, ToolMatches } from '../types.ts'

const hubs: TestHub[] = []
afterEach(async () => {
  for (const hub of hubs.splice(0).reverse()) await hub.close({ abort: true })
})

function open(options: HubOptions = {}): TestHub {
  const hub = testHub({ tools: [mail, invoice, wait], ...options }) as TestHub
  hubs.push(hub)
  return hub
}

const mail = tool('mail.send', 'Send a mail. Not for chats.', {
  capabilities: ['send', 'remote'],
  targets: ({ to }: { to: string }) => ({ remote: `mail:${to}` }),
  execute: ({ to }: { to: string }) => ({ sent: to }),
})
const invoice = tool('billing.createInvoice', 'Create an invoice.', { execute: () => ({ number: 7 }) })
const wait = defineTool({
  name: 'clock.wait',
  description: 'Wait until it is stopped.',
  input: z.strictObject({}),
  execute: (_, { signal }) =>
    new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true })),
})

describe('core/tool.search', () => {
  it('returns one line for each match and the names of the other servers', async () => {
    const hub = open()
    const result = await hub.callDynamic('core/tool.search', { query: 'send a mail', limit: 1 })
    const { matches, otherServers } = result.data as ToolMatches
    expect(matches).toEqual([
      { name: 'mail_send', tool: 'mail.send', summary: 'Send a mail.', arguments: ['to', 'text?'] },
    ])
    expect(otherServers).toEqual(expect.arrayContaining(['billing', 'core/fs']))
    expect(otherServers).not.toContain('mail')
    expect(result.content).toEqual([
      { type: 'text', text: `mail_send(to, text?): Send a mail.\nOther servers: ${otherServers.join(', ')}` },
    ])
  })

  it('searches one server, and names those that are near if there is none', async () => {
    const hub = open()
    const found = await hub.callDynamic('core/tool.search', { query: 'create', server: 'billing' })
    expect((found.data as ToolMatches).matches.map(({ tool }) => tool)).toEqual(['billing.createInvoice'])
    expect(await hub.callDynamic('core/tool.search', { query: 'create', server: 'biling' })).toMatchObject({
      ok: false,
      error: { code: 'NOT_FOUND', fix: { hint: expect.stringContaining('billing') } },
    })
  })

  it('finds no tool that the caller does not see, and is not influenced by it', async () => {
    const hub = open()
    const narrow = hub.as({ name: 'ada', visibility: { deny: ['mail.send'] } })
    const without = open({ tools: [invoice, wait] })
    for (const query of ['send a mail', 'mail', 'create an invoice', 'to text', 'maill']) {
      const [own, other] = await Promise.all(
        [narrow, without].map(async (each) => (await each.callDynamic('core/tool.search', { query, limit: 50 })).data),
      )
      expect(own).toEqual(other)
    }
    const described = await narrow.callDynamic('core/tool.describe', { names: ['mail.send'] })
    expect(described).toMatchObject({ ok: false, error: { code: 'TOOL_NOT_FOUND' } })
    expect(JSON.stringify(described)).not.toContain('Did you mean mail')
  })

  it('sees a tool that was added after the last search', async () => {
    const hub = open()
    const search = async () => (await hub.toolSearch.search('zeppelin')).matches.map(({ tool }) => tool)
    expect(await search()).toEqual([])
    hub.registry.register(tool('air.zeppelin', 'Fly.', { execute: () => ({}) }))
    expect(await search()).toEqual(['air.zeppelin'])
  })

  it('is there for a caller with a closed list of capabilities', async () => {
    const found = await open().callDynamic('core/tool.search', { query: 'invoice' }, { grants: ['read:fs'] })
    expect(found).toMatchObject({ ok: true })
    const call = { name: 'mail.send', input: { to: 'a' } }
    expect(await open().callDynamic('core/tool.call', call, { grants: ['read:fs'] })).toMatchObject({
      error: { code: 'POLICY_DENIED', message: expect.stringContaining('mail.send') },
    })
  })

  it('does not find the tools that are about other tools', async () => {
    const { matches } = await open().toolSearch.search('tool search describe call', { limit: 50 })
    expect(matches.filter(({ tool }) => tool.startsWith('core/tool.'))).toEqual([])
  })
})

describe('an embedder', () => {
  const tools = [mail, invoice, tool('post.letter', 'Put paper into an envelope.', { execute: () => ({}) })]
  const embed = async (texts: readonly string[]) => texts.map((text) => [/letter|stamp/.test(text) ? 1 : 0.1, 0.5])

  it('is fused with the words, and embeds each tool once', async () => {
    let count = 0
    const counted: typeof embed = (texts) => {
      count += texts.length
      return embed(texts)
    }
    const hub = open({ tools, toolSearch: { embed: counted } })
    const { matches } = await hub.toolSearch.search('stamp', { limit: 1 })
    expect(matches.map(({ tool }) => tool)).toEqual(['post.letter'])
    const before = count
    await hub.toolSearch.search('stamp')
    expect(count - before).toBe(1)
  })

  it.each([
    ['fails', () => Promise.reject(new Error('no quota'))],
    ['returns no vectors', async () => []],
    ['returns zeros', async (texts: readonly string[]) => texts.map(() => [0, 0])],
  ])('that %s leaves the search by words, with a notice', async (_, broken) => {
    const hub = open({ tools, toolSearch: { embed: broken } })
    const result = await hub.callDynamic('core/tool.search', { query: 'create an invoice', limit: 1 })
    expect(result.meta.notices?.join()).toContain('by words only')
    expect((result.data as ToolMatches).matches.map(({ tool }) => tool)).toEqual(['billing.createInvoice'])
  })
})

describe('core/tool.describe', () => {
  it('returns schemas by any name, in the order of the names, and what is missing', async () => {
    const result = await open().callDynamic('core/tool.describe', {
      names: ['mail_send', 'billing.createInvoice', 'mial.send'],
    })
    const { tools, missing } = result.data as ToolDescriptions
    expect(tools.map(({ tool }) => tool)).toEqual(['mail.send', 'billing.createInvoice'])
    expect(tools[0]!.parameters).toMatchObject({ properties: { to: { type: 'string' } }, required: ['to'] })
    expect(missing).toEqual([{ name: 'mial.send', hint: expect.stringContaining('mail.send') }])
  })
})

describe('core/tool.call', () => {
  it('is the inner call for rules, approvals, records and results', async () => {
    const asked: unknown[] = []
    const hub = open({
      approve: (request) => {
        asked.push([request.tool, request.input])
        return { decision: 'allow' }
      },
    })
    const input = { to: 'ada@example.org' }
    const direct = await hub.callDynamic('mail.send', input, { run: 'direct' })
    const through = await hub.callDynamic('core/tool.call', { name: 'mail_send', input }, { run: 'through' })
    expect(asked).toEqual([
      ['mail.send', input],
      ['mail.send', input],
    ])
    expect(through).toMatchObject({ ok: true, data: direct.data, content: direct.content })
    const kinds = async (run: string) =>
      (await eventsOf(hub, run)).map((event) => [event.type, 'tool' in event && event.tool])
    expect(await kinds('through')).toEqual(await kinds('direct'))
  })

  it('is denied, asked and refused as the inner call is', async () => {
    const hub = open({ policy: [{ deny: 'mail.send' }, { allow: 'core/tool.call' }] })
    const call = (name: string, input: object = {}) => hub.callDynamic('core/tool.call', { name, input })
    expect(await call('mail.send', { to: 'a' })).toMatchObject({ error: { code: 'POLICY_DENIED' } })
    expect(await call('billing.createInvoice', { other: 1 })).toMatchObject({
      error: { code: 'INPUT_SCHEMA_INVALID', message: expect.stringContaining('billing.createInvoice') },
    })
    expect(await call('mial.send')).toMatchObject({ error: { code: 'TOOL_NOT_FOUND' } })
    expect(await call('core/tool.call', { name: 'mail.send' })).toMatchObject({ error: { code: 'LOOP_DETECTED' } })
    const asking = open({ approve: () => ({ decision: 'deny' }) })
    expect(await asking.callDynamic('core/tool.call', { name: 'mail.send', input: { to: 'a' } })).toMatchObject({
      error: { code: 'APPROVAL_DENIED' },
    })
    const explained = await asking.explain('core/tool.call', { name: 'mail.send', input: { to: 'a' } })
    expect(explained).toMatchObject({ tool: 'mail.send', effect: 'ask' })
  })

  it('does not ask by itself, but a rule may deny it', async () => {
    const asks = open({ policy: [{ ask: 'core/tool.call' }] })
    expect(await asks.callDynamic('core/tool.call', { name: 'billing.createInvoice' })).toMatchObject({ ok: true })
    const denies = open({ policy: [{ deny: 'core/tool.call' }] })
    expect(await denies.callDynamic('core/tool.call', { name: 'billing.createInvoice' })).toMatchObject({
      error: { code: 'POLICY_DENIED', message: expect.stringContaining('core/tool.call') },
    })
  })

  it('calls no tool that the caller does not see, nor one that takes no scripts', async () => {
    const narrow = open().as({ name: 'ada', visibility: { deny: ['mail.send'] } })
    expect(await narrow.callDynamic('core/tool.call', { name: 'mail.send', input: { to: 'a' } })).toMatchObject({
      error: { code: 'TOOL_DISABLED' },
    })
    const direct = tool('a.b', 'Only direct.', { callers: ['direct'], execute: () => ({}) })
    const result = await open({ tools: [direct] }).callDynamic(
      'core/tool.call',
      { name: 'a.b' },
      { callerKind: 'script' },
    )
    expect(result).toMatchObject({ error: { code: 'POLICY_DENIED' } })
  })

  it('is stopped with its caller, and by the time limit of the inner tool', async () => {
    const stop = new AbortController()
    const hub = open({ tools: [wait, { ...wait, name: 'clock.short', timeoutMs: 20 }] })
    const stopped = hub.callDynamic('core/tool.call', { name: 'clock.wait' }, { signal: stop.signal })
    stop.abort()
    expect(await stopped).toMatchObject({ error: { code: 'ABORTED' } })
    expect(await hub.callDynamic('core/tool.call', { name: 'clock.short' })).toMatchObject({
      error: { code: 'TIMEOUT' },
    })
  })

  it('counts once for limits of calls, and for those of the inner tool', async () => {
    const hub = open({ limits: { run: { calls: 2 }, concurrency: 1 } })
    const call = () => hub.callDynamic('core/tool.call', { name: 'billing.createInvoice' })
    const results = [await call(), await call(), await call()]
    expect(results.map((result) => (result.ok ? 'ok' : result.error.code))).toEqual(['ok', 'ok', 'BUDGET_EXCEEDED'])
  })
})

function tool(name: string, description: string, more: object): AnyTool {
  const input = z.strictObject({ to: z.string().optional(), text: z.string().optional() })
  const own = name === 'mail.send' ? z.strictObject({ to: z.string(), text: z.string().optional() }) : input
  return defineTool({ name, description, input: own, execute: () => ({}), ...more }) as AnyTool
}
