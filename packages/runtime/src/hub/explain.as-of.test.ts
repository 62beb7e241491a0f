import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ApprovalReply, Rule } from '@tool-hub/core'
import { createToolHub } from '@tool-hub/library/create-tool-hub'
import { createMemoryStore } from '@tool-hub/library/stores'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineTool } from '../../../core/src/tool.ts'
import { type RecordedCall, recordedCalls } from './run-index/read-records.ts'

const input = z.strictObject({ to: z.string(), body: z.string().optional() })
const send = defineTool({
  name: 'post.send',
  description: 'Sends.',
  input,
  capabilities: ['remote'],
  results: 'own',
  execute: () => 'sent',
})
const read = defineTool({ ...send, name: 'post.read', description: 'Reads mail.', results: 'outside' })
const ASKS: Rule = { ask: 'post.send' }
const TAINTED: readonly Rule[] = [{ allow: 'post.*' }, { ask: 'post.send', when: { tainted: true } }]

let runs: string
let store: ReturnType<typeof createMemoryStore>
let hub: ReturnType<typeof open>

const open = (policy: readonly Rule[]) => createToolHub({ tools: [send, read], runs, store, policy: [...policy] })
async function reopen(policy: readonly Rule[]) {
  await hub.close()
  hub = open(policy)
}
const call = (to: string, reply?: ApprovalReply) =>
  hub.callDynamic('post.send', { to }, { run: 'r', approve: reply && (() => reply) })
const readMail = () => hub.callDynamic('post.read', { to: 'inbox' }, { run: 'r' })
const events = () => join(runs, 'r', 'events.jsonl')

/** Each call of a tool with the recorded decision, and the one by the rules of the hub. */
async function replayed(tool = 'post.send') {
  const found: string[] = []
  for await (const { tool: name, args, effect, moment: asOf } of recordedCalls(join(runs, 'r'))) {
    if (name !== tool) continue
    const { to } = args as { to: string }
    const again = await hub.explain(name, args, { run: 'r', asOf })
    found.push(`${to}: ${effect}, ${again.effect}`)
  }
  return found
}

beforeEach(() => {
  runs = mkdtempSync(join(tmpdir(), 'tool-hub-as-of-'))
  store = createMemoryStore()
})
afterEach(async () => {
  await hub.close()
  rmSync(runs, { recursive: true, force: true })
})

describe("the user's words", () => {
  const FROM_USER: readonly Rule[] = [ASKS, { allow: 'post.send', where: { to: 'from-user' } }]

  it('count from the moment that they were known', async () => {
    hub = open(FROM_USER)
    await call('ada@x.org')
    await hub.addUserText('Write to ada@x.org', { run: 'r' })
    await call('ada@x.org')
    await call('eve@x.org')
    const same = ['ada@x.org: ask, ask', 'ada@x.org: allow, allow', 'eve@x.org: ask, ask']
    expect(await replayed()).toEqual(same)
    await reopen(FROM_USER)
    expect(await replayed()).toEqual(same)
  })

  it('do not count for a call that asked before they were said', async () => {
    hub = open(FROM_USER)
    await hub.callDynamic(
      'post.send',
      { to: 'ada@x.org' },
      {
        run: 'r',
        approve: async () => {
          await hub.addUserText('Yes, to ada@x.org', { run: 'r' })
          return { decision: 'allow', by: 'ada' }
        },
      },
    )
    expect(await replayed()).toEqual(['ada@x.org: ask, ask'])
  })

  it('are read whole from the store, and decide strictly where they are lost', async () => {
    const rules: readonly Rule[] = [...FROM_USER, { deny: 'post.send', where: { body: 'from-user' } }]
    hub = open(rules)
    const long = `Write to bob@x.org ${'and so on '.repeat(300)} or to ada@x.org`
    await hub.callDynamic('post.send', { to: 'ada@x.org' }, { run: 'r', userText: long })
    await call('bob@x.org')
    expect(await replayed()).toEqual(['ada@x.org: allow, allow', 'bob@x.org: allow, allow'])
    await store.userTexts.remove('r')
    expect(await replayed()).toEqual(['ada@x.org: allow, ask', 'bob@x.org: allow, allow'])
    let past: RecordedCall | undefined
    for await (const recorded of recordedCalls(join(runs, 'r'))) past ??= recorded
    const args = { to: 'bob@x.org', body: 'who knows' }
    expect(await hub.explain('post.send', args, { run: 'r' })).toMatchObject({ effect: 'ask' })
    expect(await hub.explain('post.send', args, { run: 'r', asOf: past!.moment })).toMatchObject({ effect: 'deny' })
  })

  it('are unknown after a line that cannot be read', async () => {
    hub = open(FROM_USER)
    await hub.addUserText('Write to ada@x.org', { run: 'r' })
    await call('ada@x.org')
    await hub.endRun('r')
    const lines = readFileSync(events(), 'utf8').split('\n')
    const broken = lines.map((line) => (line.includes('user-text-added') ? '{"seq":2,"ti' : line))
    writeFileSync(events(), broken.join('\n'))
    expect(await replayed()).toEqual(['ada@x.org: allow, ask'])
    const hostile = lines.map((line) =>
      line.includes('user-text-added') ? line.replace(/"text":"[^"]*"/, '"text":7') : line,
    )
    writeFileSync(events(), hostile.join('\n'))
    expect(await replayed()).toEqual(['ada@x.org: allow, ask'])
    appendFileSync(events(), 'no event\n')
    expect(await replayed()).toEqual(['ada@x.org: allow, ask'])
  })
})

describe('taint', () => {
  it('is that of the time, before and after it was cleared', async () => {
    hub = open(TAINTED)
    await call('one')
    await readMail()
    await call('two')
    await hub.clearTaint('r', { by: 'ada', reason: 'I have read it.' })
    await call('three')
    const same = ['one: allow, allow', 'two: ask, ask', 'three: allow, allow']
    expect(await replayed()).toEqual(same)
    await reopen(TAINTED)
    expect(await replayed()).toEqual(same)
    expect(await replayed('post.read')).toEqual(['inbox: allow, allow'])
  })

  it('is recorded with a call whose caller says so', async () => {
    hub = open(TAINTED)
    await hub.callDynamic('post.send', { to: 'one' }, { run: 'r', untrusted: true })
    expect(await replayed()).toEqual(['one: ask, ask'])
    expect(readFileSync(events(), 'utf8')).toContain('"tainted":true')
  })
})

describe('approved values', () => {
  const RULES: readonly Rule[] = [{ allow: 'post.send', where: { to: 'approved-before' } }, ...TAINTED.slice(1)]
  const remembering = (remember: ApprovalReply['remember']): ApprovalReply => ({
    decision: 'allow',
    by: 'ada',
    remember,
    covers: 'values',
  })
  async function approveOnce(reply: ApprovalReply) {
    hub = open(TAINTED)
    await hub.addUserText('Read my mail, and do what it says.', { run: 'r' })
    await readMail()
    await call('ada@x.org', reply)
    await call('ada@x.org')
    await call('eve@x.org')
  }
  const SAME = ['ada@x.org: ask, ask', 'ada@x.org: allow, allow', 'eve@x.org: ask, ask']

  it('count from the answer on, also when the session that remembers them is over', async () => {
    await approveOnce(remembering('session'))
    expect(await replayed()).toEqual(SAME)
    await reopen(TAINTED)
    expect(await replayed()).toEqual(SAME)
    await reopen(RULES)
    expect(await replayed()).toEqual(SAME)
  })

  it('count until they ended, and not at that moment', async () => {
    await approveOnce(remembering('session'))
    await reopen(RULES)
    let last: RecordedCall | undefined
    for await (const recorded of recordedCalls(join(runs, 'r'))) last = recorded
    const { moment } = last!
    expect(moment.approvals).toHaveLength(1)
    const withEndAt = async (until: number) => {
      const approvals = moment.approvals.map((each) => ({ ...each, until }))
      const asOf = { ...moment, approvals }
      return (await hub.explain('post.send', { to: 'ada@x.org' }, { run: 'r', asOf })).effect
    }
    expect([await withEndAt(moment.at), await withEndAt(moment.at + 1)]).toEqual(['ask', 'allow'])
  })

  it('do not outlive the process in which a session remembers them', async () => {
    await approveOnce(remembering('session'))
    await reopen(TAINTED)
    await call('ada@x.org')
    expect(await replayed()).toEqual([...SAME, 'ada@x.org: ask, ask'])
  })

  it('do not count once their answer is revoked, since nobody knows when', async () => {
    await approveOnce(remembering('always'))
    expect(await replayed()).toEqual(SAME)
    const [grant] = await hub.grants.list()
    await hub.grants.revoke(grant!.id)
    expect(await replayed()).toEqual(['ada@x.org: ask, ask', 'ada@x.org: allow, ask', 'eve@x.org: ask, ask'])
  })
})
