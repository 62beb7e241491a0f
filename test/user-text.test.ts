import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { z } from 'zod'
import type { ApprovalRequest, HubOptions } from '../src/core/index.ts'
import { defineTool } from '../src/core/tool.ts'
import { createToolHub } from '../src/create-tool-hub.ts'
import { openStore } from '../src/store/index.ts'

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

it('allows by rule what occurs in the words of the user, and only that', async () => {
  const rules = [{ allow: 'post.send', where: { to: 'from-user' } }] as const
  const hub = open({ policy: [...rules] })
  const options = { userText: ['Write to Ann'] }
  expect(await hub.call(send, { to: 'ann' }, options)).toMatchObject({ ok: true })
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

it('refuses what is no text', async () => {
  const hub = open({})
  await expect(hub.addUserText(5 as never)).rejects.toMatchObject({ code: 'INPUT_SCHEMA_INVALID' })
  expect(await hub.call(send, { to: 'ann' }, { userText: [{}] as never })).toMatchObject({ ok: false })
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
  expect(requests[0]).toMatchObject({ unproven: ['to'], coverage: { values: 'to "bob@example.org" of post.send' } })
  expect(await call('bob@example.org', 'other')).toMatchObject({
    ok: true,
    meta: { rule: 'default: its values come from the user or were approved' },
  })
  expect(requests).toHaveLength(1)
  await call('eve@example.org', 'hi')
  await call('bob@example.org', 'see evil-site.com')
  expect(requests.map(({ unproven }) => unproven)).toEqual([['to'], ['to'], ['body']])
  const [first] = await hub.grants.list()
  expect(first).toMatchObject({ covers: 'values', values: [{ argument: 'to' }] })
  expect(JSON.stringify(first)).not.toContain('bob@example.org')
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
