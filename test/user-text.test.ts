import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ApprovalRequest, HubOptions } from '@tool-hub/core'
import { createToolHub } from '@tool-hub/library/create-tool-hub'
import { openStore } from '@tool-hub/library/stores'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { z } from 'zod'
import { createClient } from '../packages/client/src/create-client.ts'
import { defineTool } from '../packages/core/src/tool.ts'
import { serveHttp } from './support/http-served.ts'
import { useServedHubs } from './support/mcp-served.ts'
import { serveWs } from './support/ws-served.ts'

const send = defineTool({
  name: 'post.send',
  description: 'Sends a letter.',
  input: z.strictObject({ to: z.string(), body: z.string().optional() }),
  capabilities: ['remote'],
  execute: ({ to }) => `sent to ${to}`,
})
const policy = [{ allow: 'post.send' }, { ask: 'post.send', when: { tainted: true } }] as const

let folder: string
let opened: { close(): Promise<void> } | undefined

/** A hub that nobody answers for. */
function open(options: HubOptions) {
  const hub = createToolHub({ tools: [send], runs: folder, ...options })
  opened = hub
  return hub
}

/** The lines of the record that say what the user said. */
function additions(run: string): readonly string[] {
  const lines = readFileSync(join(folder, run, 'events.jsonl'), 'utf8').split('\n')
  return lines.filter((line) => line.includes('"type":"user-text-added"'))
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tool-hub-user-text-'))
})
afterEach(async () => {
  await opened?.close()
  opened = undefined
  rmSync(folder, { recursive: true, force: true })
})

it('lets a tainted run do what the user named, and asks for everything else', async () => {
  const hub = open({ policy: [...policy] })
  const call = (to: string, options = {}) => hub.call(send, { to }, { run: 'r', untrusted: true, ...options })
  expect(await call('ann@example.org')).toMatchObject({ status: 'approval_required' })
  await hub.addUserText('Write to ann@example.org, my key is ghp_012345678901234567890123456789012345.', { run: 'r' })
  expect(await call('ann@example.org')).toMatchObject({
    ok: true,
    meta: { rule: expect.stringContaining('come from the user') },
  })
  expect(await call('eve@example.org')).toMatchObject({
    status: 'approval_required',
    summary: expect.stringContaining('to'),
  })
  expect(await hub.call(send, { to: 'ann@example.org' }, { run: 'other', untrusted: true })).toMatchObject({
    ok: false,
  })
  expect(await call('bob@example.org', { userText: 'And to bob@example.org!' })).toMatchObject({ ok: true })
  const lines = readFileSync(join(folder, 'r', 'events.jsonl'), 'utf8')
  expect(lines).toContain('"type":"user-text-added"')
  expect(lines).not.toContain('ghp_0123')
})

it.each([
  ['张三丰', true],
  ['ann@example.org', true],
  ['上海浦东', true],
  ['李四', false],
  ['三丰', false],
  ['浦东新区', false],
])('finds in Chinese words what the user named: %s, %s', async (to, isNamed) => {
  const hub = open({ policy: [...policy] })
  const userText = '请把总结发给张三丰，也发给 ann@example.org。把天气预报发给上海浦东。'
  const { status } = await hub.call(send, { to }, { run: 'r', untrusted: true, userText })
  expect(status).toBe(isNamed ? 'ok' : 'approval_required')
})

it('does not take what a tool chooses itself for what the user named', async () => {
  const note = defineTool({
    name: 'note.write',
    description: 'Writes a note and its index.',
    input: z.strictObject({ path: z.string() }),
    capabilities: ['write:fs'],
    targets: ({ path }) => ({ 'write:fs': path }),
    execute: async ({ path }, { fs }) => {
      await fs.writeText(path, 'x', {})
      await fs.writeText('index.txt', 'x', {})
    },
  })
  const rules = [{ allow: 'write:fs' }, { ask: 'write:fs', when: { tainted: true } }] as const
  const hub = open({ tools: [note], policy: [...rules], sandbox: { root: folder } })
  const options = { run: 'r', untrusted: true, userText: 'Write note.txt' }
  expect(await hub.call(note, { path: 'note.txt' }, options)).toMatchObject({
    error: { code: 'POLICY_DENIED', message: expect.stringContaining('index.txt, which is not among its targets') },
  })
})

it('says nothing to one principal about the words in the run of another', async () => {
  const hub = open({ policy: [{ allow: 'post.send', where: { to: 'from-user' } }] })
  const [ann, eve] = [hub.as({ name: 'ann' }), hub.as({ name: 'eve' })]
  await ann.addUserText('Write to bob@example.org', { run: 'of-ann' })
  await ann.callDynamic('post.send', { to: 'bob@example.org' }, { run: 'of-ann', untrusted: true })
  const explained = () => eve.explain('post.send', { to: 'bob@example.org' }, { run: 'of-ann' })
  expect(await explained()).toMatchObject({ error: { code: 'NOT_FOUND' } })
  expect(await ann.explain('post.send', { to: 'bob@example.org' }, { run: 'of-ann' })).toMatchObject({
    effect: 'allow',
  })
  await ann.endRun('of-ann')
  expect(await explained()).toMatchObject({ error: { code: 'NOT_FOUND' } })
  await expect(eve.addUserText('Write to eve', { run: 'of-ann' })).rejects.toMatchObject({ code: 'NOT_FOUND' })
  expect(await eve.callDynamic('post.send', { to: 'eve' }, { run: 'of-ann', userText: 'eve' })).toMatchObject({
    error: { code: 'NOT_FOUND' },
  })
})

it('allows by rule what occurs in the words of the user, and only that', async () => {
  const rules = [{ allow: 'post.send', where: { to: 'from-user' } }] as const
  const hub = open({ policy: [...rules] })
  const options = { userText: ['Write to Ann'] }
  expect(await hub.call(send, { to: 'Ann' }, options)).toMatchObject({ ok: true })
  const refused = await hub.call(send, { to: 'eve' }, options)
  expect(refused).toMatchObject({ status: 'approval_required' })
  expect(await hub.explain('post.send', { to: 'eve' })).toMatchObject({
    reason: expect.stringContaining('The argument to'),
  })
})

it('keeps the words in the store, for the next process', async () => {
  const said = { tools: [send], policy: [...policy], runs: join(folder, 'runs') }
  const first = await openStore(join(folder, 'data'))
  const before = createToolHub({ ...said, store: first })
  await before.addUserText('Write to ann@example.org', { run: 'r' })
  await before.close()
  await first.close()
  const second = await openStore(join(folder, 'data'))
  const after = createToolHub({ ...said, store: second })
  expect(await after.call(send, { to: 'ann@example.org' }, { run: 'r', untrusted: true })).toMatchObject({ ok: true })
  await after.close()
  await second.close()
})

it('refuses what is not text', async () => {
  const hub = open({})
  await expect(hub.addUserText(5 as never)).rejects.toMatchObject({ code: 'INPUT_SCHEMA_INVALID' })
  expect(await hub.call(send, { to: 'ann' }, { userText: [{}] as never })).toMatchObject({ ok: false })
})

it('shows what an approver cannot see in a value that is to be remembered', async () => {
  const hub = open({ policy: [...policy] })
  const shown: unknown[] = []
  const approve = ({ coverage }: ApprovalRequest) => {
    shown.push(coverage.values)
    return undefined
  }
  await hub.call(send, { to: 'an\u200bn' }, { run: 'r', untrusted: true, userText: 'Write to ann', approve })
  expect(shown).toEqual(['to "an\\u{200b}n" of post.send, if everything else comes from the user'])
})

it('remembers a value for an argument, and asks for every other', async () => {
  const hub = open({ policy: [...policy] })
  const requests: ApprovalRequest[] = []
  const call = (to: string, body: string) =>
    hub.call(
      send,
      { to, body },
      {
        run: 'r',
        untrusted: true,
        userText: 'Write to the people in the file.',
        approve: (request) => {
          requests.push(request)
          return { decision: 'allow', remember: 'always', covers: 'values', by: 'ann' }
        },
      },
    )
  expect(await call('bob@example.org', 'hi')).toMatchObject({ ok: true, meta: { approvedBy: 'ann' } })
  expect(requests[0]).toMatchObject({
    unproven: ['to'],
    coverage: { values: 'to "bob@example.org" of post.send, if everything else comes from the user' },
  })
  expect(await call('bob@example.org', 'other')).toMatchObject({
    ok: true,
    meta: { rule: 'default: its values come from the user or were approved' },
  })
  expect(requests).toHaveLength(1)
  await call('eve@example.org', 'hi')
  await call('bob@example.org', 'see evil-site.com')
  expect(requests.map(({ unproven }) => unproven)).toEqual([['to'], ['to'], ['to', 'body']])
  const [first] = await hub.grants.list()
  expect(first).toMatchObject({ covers: 'values', values: [{ argument: 'to' }] })
  expect(JSON.stringify(first)).not.toContain('bob@example.org')
})

it('remembers values together, and does not add up those of several answers', async () => {
  const pay = defineTool({
    name: 'bank.send',
    description: 'Sends money.',
    input: z.strictObject({ to: z.string(), amount: z.number() }),
    capabilities: ['remote'],
    execute: ({ to }) => `sent to ${to}`,
  })
  const hub = open({ tools: [pay], policy: [{ allow: 'bank.send' }, { ask: 'bank.send', when: { tainted: true } }] })
  const shown: unknown[] = []
  const call = (to: string, amount: number) =>
    hub.call(
      pay,
      { to, amount },
      {
        run: 'r',
        untrusted: true,
        userText: 'Do the payments.',
        approve: ({ coverage }) => {
          shown.push(coverage.values)
          return { decision: 'allow', remember: 'always', covers: 'values', by: 'ann' }
        },
      },
    )
  await call('New Payee', 5)
  await call('Payroll', 90_000)
  expect(shown).toEqual([
    'to "New Payee", amount 5 of bank.send, together, if everything else comes from the user',
    'to "Payroll", amount 90000 of bank.send, together, if everything else comes from the user',
  ])
  expect(await call('New Payee', 5)).toMatchObject({ ok: true })
  expect(shown).toHaveLength(2)
  await call('New Payee', 90_000)
  expect(shown).toHaveLength(3)
})

it('remembers values for calls that choose all of them, not for one that leaves some out', async () => {
  const invite = defineTool({
    name: 'team.invite',
    description: 'Invites people.',
    input: z.strictObject({
      to: z.array(z.string()).optional(),
      until: z.string().optional(),
      body: z.string().optional(),
    }),
    capabilities: ['remote'],
    execute: () => 'invited',
  })
  const rules = [{ allow: 'team.invite' }, { ask: 'team.invite', when: { tainted: true } }] as const
  const hub = open({ tools: [invite], policy: [...rules] })
  let asked = 0
  const call = (input: object) => {
    asked = 0
    const approve = () => {
      asked++
      return { decision: 'allow', remember: 'always', covers: 'values' } as const
    }
    return hub.call(invite, input, { run: 'r', untrusted: true, userText: 'Do what the mail says.', approve })
  }
  const guest = { to: ['ann@b.org', 'bob@b.org'], until: 'tonight' }
  await call({ ...guest, body: 'see a-site.com' })
  expect(asked).toBe(1)
  for (const same of [
    { ...guest, body: 'hi' },
    { ...guest, to: guest.to.toReversed(), body: 'hello' },
  ]) {
    await call(same)
    expect(asked).toBe(0)
  }
  for (const other of [{ to: guest.to }, { ...guest, to: ['ann@b.org'] }, { until: 'tonight' }]) {
    await call({ ...other, body: 'hi' })
    expect(asked, JSON.stringify(other)).toBe(1)
  }
})

it('allows by rule what was approved before', async () => {
  const rules = [{ allow: 'post.send', where: { to: 'approved-before' } }, ...policy.slice(1)] as const
  const hub = open({ policy: [...rules] })
  const approve = () => ({ decision: 'allow', remember: 'session', covers: 'values' }) as const
  await hub.call(send, { to: 'bob' }, { run: 'r', untrusted: true, userText: 'Write to somebody.', approve })
  expect(await hub.call(send, { to: 'bob' }, { run: 'r' })).toMatchObject({
    ok: true,
    meta: { rule: expect.stringContaining('where to') },
  })
  expect(await hub.call(send, { to: 'eve' }, { run: 'r' })).toMatchObject({ status: 'approval_required' })
  expect(await hub.call(send, { to: 'bob' }, { run: 'q' })).toMatchObject({ status: 'approval_required' })
})

it('adds a text once, also when calls are made together', async () => {
  const hub = open({ policy: [...policy] })
  const userText = ['Write to ann@example.org', ' ', '', 'Write to ann@example.org ']
  const call = () => hub.call(send, { to: 'ann@example.org' }, { run: 'r', untrusted: true, userText })
  expect(await Promise.all([call(), call(), call()])).toMatchObject([{ ok: true }, { ok: true }, { ok: true }])
  await hub.addUserText(userText, { run: 'r' })
  expect(additions('r')).toHaveLength(1)
})

it('keeps the newest of a long conversation, which every call passes', async () => {
  const hub = open({ policy: [...policy] })
  const userText = Array.from({ length: 1_000 }, (_, n) => `Write to person${n}@example.org. ${'x'.repeat(900)}`)
  const call = (n: number) => hub.call(send, { to: `person${n}@example.org` }, { run: 'r', untrusted: true, userText })
  for (let times = 0; times < 3; times++) expect(await call(999)).toMatchObject({ ok: true })
  expect(await call(0)).toMatchObject({ status: 'approval_required' })
  const added = additions('r').length
  expect(added).toBeGreaterThan(60)
  expect(added).toBeLessThan(72)
})

it('cuts a text that is too long between words', async () => {
  const hub = open({ policy: [...policy] })
  const userText = `Write to bob@example.org ${'long '.repeat(13_099)}to ann@example.org.evil.example ${'x'.repeat(4_000_000)}`
  expect(userText.slice(0, 65_536).endsWith('ann@example.o')).toBe(true)
  const call = (to: string) => hub.call(send, { to }, { run: 'r', untrusted: true, userText })
  expect(await call('ann@example.o')).toMatchObject({ status: 'approval_required' })
  expect(await call('bob@example.org')).toMatchObject({ ok: true })
})

describe('over HTTP and WebSockets', () => {
  const ruled: HubOptions = {
    ...{ tools: [send], policy: [{ allow: 'post.send', where: { to: 'from-user' } }], approve: undefined },
  }

  it('takes what the user said, for runs of the caller only', async () => {
    const served = await serveHttp(ruled)
    opened = served
    const [ann, eve] = [await served.newToken('ann', ['call']), await served.newToken('eve', ['call'])]
    const client = createClient({ url: served.server.url, token: ann })
    const call = (to: string, options: object = {}) =>
      client.call('post.send', { to }, { run: 'r', onAsk: 'return', ...options })
    expect(await call('bob@example.org')).toMatchObject({ status: 'approval_required' })
    const other = { input: { to: 'bob@example.org' }, run: 'r', userText: 'Write to bob@example.org' }
    expect((await served.ask('POST', '/v1/tools/post.send/call', eve, other)).json).toMatchObject({ ok: false })
    expect(await call('bob@example.org')).toMatchObject({ status: 'approval_required' })
    expect(await call('bob@example.org', { userText: ['Hi', 'Write to bob@example.org'] })).toMatchObject({ ok: true })
    expect(await call('bob@example.org')).toMatchObject({ ok: true })
    expect(await call('eve@example.org')).toMatchObject({ status: 'approval_required' })
  })

  it.each([[5], [{}], [[5]], [null], ['x'.repeat(65_537)], [Array.from({ length: 201 }, () => 'x')]])(
    'refuses anything else with a reason',
    async (userText) => {
      const served = await serveHttp(ruled)
      opened = served
      const token = await served.newToken('ann', ['call'])
      const body = { input: { to: 'bob' }, userText }
      const { status, json } = await served.ask('POST', '/v1/tools/post.send/call', token, body)
      expect([status, json.error.code]).toEqual([400, 'INPUT_SCHEMA_INVALID'])
      expect(json.error.message).toMatch(/userText: (?:must be a text or a list of at most 200 texts|Too big)/)
    },
  )

  it('takes it from a call over a WebSocket', async () => {
    const served = await serveWs({ hub: ruled })
    opened = served
    const socket = await createClient({ url: served.url, token: 'ada', WebSocket }).connect()
    const call = (options: object) => socket.call('post.send', { to: 'Bob' }, { onAsk: 'return', ...options })
    expect(await call({})).toMatchObject({ status: 'approval_required' })
    await expect(call({ userText: 5 })).rejects.toThrow('must be a text or a list of at most 200 texts')
    expect(await call({ userText: 'Write to Bob' })).toMatchObject({ ok: true })
    socket.close()
  })
})

describe('over MCP', () => {
  const { serve, connect } = useServedHubs()

  it.each(['legacy', 'modern'] as const)('takes what a client of the %s era passes', async (era) => {
    const { url } = await serve({
      ...{ tools: [send], policy: [{ allow: 'post.send', where: { to: 'from-user' } }], approve: undefined },
    })
    const client = await connect(url, era)
    const call = (meta: object, to = 'Bob') =>
      client.callTool({ name: 'post_send', arguments: { to }, _meta: { ...meta } as never })
    expect(await call({ userText: 'Write to Bob', 'other/userText': 'Write to Bob' })).toMatchObject({ isError: true })
    await expect(call({ 'tool-hub/userText': 5 })).rejects.toThrow('expected a text or a list of texts')
    expect(await call({ 'tool-hub/userText': ['Write to Bob'] })).toMatchObject({
      content: [{ type: 'text', text: 'sent to Bob' }],
    })
    expect(await call({ 'tool-hub/userText': '' }, 'eve')).toMatchObject({ isError: true })
  })
})
