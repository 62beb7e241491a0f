import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ApprovalRequest, HubOptions } from '@tool-hub/core'
import { createToolHub } from '@tool-hub/library/create-tool-hub'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { z } from 'zod'
import { defineTool } from '../packages/core/src/tool.ts'

/** Waits for a test between its start and its end. */
let during: (() => Promise<unknown>) | undefined
const read = defineTool({
  name: 'mail.read',
  description: 'Reads a mailbox.',
  input: z.strictObject({ box: z.string() }),
  capabilities: ['remote'],
  targets: ({ box }) => ({ remote: [box] }),
  execute: async () => {
    await during?.()
    return 'text of a stranger'
  },
})
const post = defineTool({
  name: 'post',
  description: 'Sends a text.',
  input: z.strictObject({ text: z.string() }),
  capabilities: ['send'],
  execute: ({ text }) => text,
})
const echo = defineTool({
  name: 'echo',
  description: 'Returns a text.',
  input: z.strictObject({ text: z.string() }),
  capabilities: [],
  execute: ({ text }) => text,
})
const nest = defineTool({
  name: 'nest',
  description: 'Reads, and keeps what it has read.',
  input: z.strictObject({}),
  capabilities: [],
  async execute(_, context) {
    await context.call('mail.read', { box: 'mcp:mail/get_unread' })
    await during?.()
    return 'kept'
  },
})
const policy = [{ allow: 'remote' }, { allow: 'send' }, { ask: 'send', when: { tainted: true } }] as const
const WHY = { by: 'user:ada', reason: 'I have read the mail.' }

let folder: string
let hub: ReturnType<typeof open>
const requests: ApprovalRequest[] = []

function open(options: HubOptions = {}) {
  return createToolHub({
    tools: [read, post, echo, nest],
    policy: [...policy],
    runs: join(folder, 'runs'),
    data: join(folder, 'data'),
    approve: (request) => {
      requests.push(request)
      return { decision: 'deny' }
    },
    ...options,
  })
}

/** Makes the run look as an older version has left it, with these files in its folder. */
function leaveMarks(marks: Readonly<Record<string, string>>): void {
  const run = join(folder, 'runs', 'r')
  const { taint: _, ...head } = JSON.parse(readFileSync(join(run, 'head.json'), 'utf8'))
  writeFileSync(join(run, 'head.json'), JSON.stringify(head))
  for (const [name, content] of Object.entries(marks)) writeFileSync(join(run, name), content)
}

const readFrom = (box: string, run = 'r') => hub.callDynamic('mail.read', { box }, { run })
const sends = async (run = 'r') => (await hub.callDynamic('post', { text: 'hello' }, { run })).ok
const record = (run = 'r') =>
  readFileSync(join(folder, 'runs', run, 'events.jsonl'), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tool-hub-taint-'))
  requests.length = 0
  during = undefined
  hub = open()
})
afterEach(async () => {
  await hub.close()
  rmSync(folder, { recursive: true, force: true })
})

it('shows the approver what has tainted the run, also after a restart', async () => {
  await readFrom('mcp:mail/get_unread')
  await readFrom('mcp:mail/get_unread')
  await readFrom('https://user:word@example.org/a?key=1')
  await hub.callDynamic(
    'mail.read',
    { box: 'mcp:x/ghp_012345678901234567890123456789012345' },
    { run: 'r', untrusted: true },
  )
  expect(await sends()).toBe(false)
  const sources = ['mcp:mail/get_unread', 'https://example.org', 'caller', expect.stringMatching(/^mcp:x\/(?!ghp_)/)]
  expect(requests[0]).toMatchObject({ labels: ['untrusted'], taintedBy: sources })
  await hub.close()
  hub = open()
  expect((await hub.explain('post', { text: 'x' }, { run: 'r' })).text).toContain(
    'the run has read from outside: mcp:mail/get_unread, https://example.org, caller',
  )
  expect(await sends()).toBe(false)
  expect(requests[1]).toMatchObject({ taintedBy: sources })
})

it('keeps at most 20 short sources, and says that there are others', async () => {
  for (let index = 0; index < 25; index++) await readFrom(`mcp:mail/${index}\n${'x'.repeat(500)}`)
  await sends()
  const { taintedBy = [] } = requests[0]!
  expect(taintedBy).toHaveLength(20)
  expect(taintedBy[0]).toMatch(/^mcp:mail\/0\\\S{1,190}…$/)
  expect(taintedBy.at(-1)).toBe('other sources')
})

it('names an unknown source where a mark of an older version names none', async () => {
  await readFrom('mcp:mail/get_unread')
  await hub.close()
  leaveMarks({ tainted: '' })
  hub = open()
  await sends()
  expect(requests[0]).toMatchObject({ taintedBy: ['an unknown source'] })
})

it('takes over the marks of an older version, once', async () => {
  await sends()
  await hub.close()
  leaveMarks({ tainted: 'mcp:mail/get_unread\nhttps://example.org', 'taint-cleared': '' })
  hub = open()
  const sources = ['mcp:mail/get_unread', 'https://example.org']
  expect((await hub.explain('post', { text: 'x' }, { run: 'r' })).text).toContain(sources.join(', '))
  expect(await sends()).toBe(false)
  expect(requests[0]).toMatchObject({ taintedBy: sources })
  await hub.close()
  expect(readdirSync(join(folder, 'runs', 'r'))).not.toContain('tainted')
  hub = open()
  expect(await sends()).toBe(false)
  expect((await hub.clearTaint('r', WHY)).sources).toEqual(sources)
  await hub.close()
  hub = open()
  expect(await sends()).toBe(true)
})

it('is not brought back by a mark of an older version that was taken over', async () => {
  await sends()
  await hub.close()
  leaveMarks({ tainted: 'mcp:mail/get_unread' })
  const killed = open()
  await killed.clearTaint('r', WHY)
  // As if that hub had been killed: it has not closed the run.
  rmSync(join(folder, 'runs', 'r', 'lock'), { recursive: true, force: true })
  hub = open()
  expect(await sends()).toBe(true)
  await killed.close()
})

it('is cleared on record, for this run alone, until the run reads from outside again', async () => {
  await readFrom('mcp:mail/get_unread')
  await readFrom('mcp:mail/get_unread', 'other')
  expect(await sends()).toBe(false)
  expect(await hub.clearTaint('r', WHY)).toEqual({
    run: 'r',
    ...WHY,
    sources: ['mcp:mail/get_unread'],
    isTainted: false,
  })
  expect([await sends(), await sends('other')]).toEqual([true, false])
  expect(record()).toContainEqual(
    expect.objectContaining({ type: 'taint-cleared', ...WHY, sources: ['mcp:mail/get_unread'] }),
  )
  expect(existsSync(join(folder, 'runs', 'r', 'tainted'))).toBe(false)
  await readFrom('mcp:mail/next')
  expect(await sends()).toBe(false)
  expect(requests.at(-1)).toMatchObject({ taintedBy: ['mcp:mail/next'] })
})

it('stays cleared after a restart, and is cleared in a run that nobody has opened', async () => {
  await readFrom('mcp:mail/get_unread')
  await readFrom('mcp:mail/get_unread', 'other')
  await hub.clearTaint('r', WHY)
  await hub.close()
  hub = open()
  expect([await sends(), await sends('other')]).toEqual([true, false])
  await hub.close()
  hub = open()
  const [cleared, isSent] = await Promise.all([hub.clearTaint('other', WHY), sends('other')])
  expect([cleared.sources, isSent]).toEqual([['mcp:mail/get_unread'], true])
})

it('taints again what a call reads that was in flight', async () => {
  await readFrom('mcp:mail/get_unread')
  during = () => hub.clearTaint('r', WHY)
  expect(await readFrom('mcp:mail/late')).toMatchObject({ ok: true, meta: { labels: ['untrusted'] } })
  expect(await sends()).toBe(false)
  expect(requests[0]).toMatchObject({ taintedBy: ['mcp:mail/late'] })
})

it('taints again by content that is read while the record is written', async () => {
  await readFrom('mcp:mail/get_unread')
  const clearing = hub.clearTaint('r', WHY)
  const reading = hub.callDynamic('mail.read', { box: 'mcp:mail/late' }, { run: 'r', untrusted: true })
  await Promise.all([clearing, reading])
  expect(await sends()).toBe(false)
})

it('is refused while a call holds what it has read', async () => {
  let clearing: unknown
  let reads = 0
  during = async () => {
    // The nested call first, then the call that keeps its result.
    if (++reads === 2) clearing = await hub.clearTaint('r', WHY).catch((error) => error)
  }
  await hub.callDynamic('nest', {}, { run: 'r' })
  expect(clearing).toMatchObject({ code: 'CONFLICT', message: expect.stringContaining('nest has read') })
  expect(await sends()).toBe(false)
})

it('drops what the run has cached, and labels the artifacts and repeated results from before', async () => {
  const set = { key: 'k', value: 'text of a stranger' }
  const keyed = { run: 'r', idempotencyKey: 'once' }
  await hub.callDynamic('mail.read', { box: 'mcp:mail/get_unread' }, keyed)
  await hub.call('core/util.cache.set', set, { run: 'r' })
  const { artifacts } = await hub.callDynamic('echo', { text: 'x'.repeat(100_000) }, { run: 'r' })
  await hub.clearTaint('r', WHY)
  expect(await hub.call('core/util.cache.get', { key: 'k' }, { run: 'r' })).toMatchObject({ data: { found: false } })
  expect(await sends()).toBe(true)
  const again = await hub.callDynamic('mail.read', { box: 'mcp:mail/get_unread' }, keyed)
  expect(again.meta).toMatchObject({ cached: true, labels: ['untrusted'] })
  expect(await sends()).toBe(false)
  await hub.clearTaint('r', WHY)
  await hub.close()
  hub = open()
  expect(await sends()).toBe(true)
  const part = await hub.callDynamic('core/fs.readText', { path: artifacts[0]!.ref }, { run: 'r' })
  expect(part).toMatchObject({ ok: true, meta: { labels: ['untrusted'] } })
  expect(await sends()).toBe(false)
  expect(requests.at(-1)).toMatchObject({ taintedBy: ['artifacts of the run'] })
})

it('gives clear errors', async () => {
  const refused = (run: string, why: object = WHY) => expect(hub.clearTaint(run, why as never)).rejects
  await refused('nowhere').toMatchObject({ code: 'NOT_FOUND' })
  await refused('../r').toMatchObject({ code: 'NOT_FOUND' })
  expect(existsSync(join(folder, 'runs', 'nowhere'))).toBe(false)
  await sends()
  await refused('r').toMatchObject({ code: 'CONFLICT', message: expect.stringContaining('not tainted') })
  await readFrom('mcp:mail/get_unread')
  await refused('r', { by: 'ada' }).toMatchObject({ code: 'INPUT_SCHEMA_INVALID' })
  await refused('r', { by: 'ada', reason: ' ' }).toMatchObject({ code: 'INPUT_SCHEMA_INVALID' })
  await refused('r', { by: '', reason: 'x' }).toMatchObject({ code: 'INPUT_SCHEMA_INVALID' })
  const other = open()
  await expect(other.clearTaint('r', WHY)).rejects.toMatchObject({ code: 'CONFLICT' })
  await other.close()
  const [one, two] = await Promise.allSettled([hub.clearTaint('r', WHY), hub.clearTaint('r', WHY)])
  expect([one.status, two]).toMatchObject(['fulfilled', { reason: { code: 'CONFLICT' } }])
})

it('is not for those whose run it is', async () => {
  await hub.as({ name: 'token:ci' }).callDynamic('mail.read', { box: 'mcp:mail/a' }, { run: 'ci' })
  for (const by of ['token:ci', ' token:ci '])
    await expect(hub.clearTaint('ci', { ...WHY, by })).rejects.toMatchObject({ code: 'POLICY_DENIED' })
  expect(hub.as({ name: 'token:ci' })).not.toHaveProperty('clearTaint')
  expect(await hub.clearTaint('ci', WHY)).toMatchObject({ sources: ['mcp:mail/a'] })
})
