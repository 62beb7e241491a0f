import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ApprovalReply, CallOptions, Capability, Rule } from '@tool-hub/core'
import { createToolHub } from '@tool-hub/library/create-tool-hub'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineTool } from '../../../core/src/tool.ts'
import { suggestFromRuns } from './suggest.ts'

const input = z.strictObject({
  to: z.union([z.string(), z.array(z.string())]),
  amount: z.number().optional(),
  body: z.string().optional(),
})
const sender = (name: string, capabilities: readonly Capability[], shape: z.ZodType = input) =>
  defineTool({ name, description: 'Sends.', input: shape, capabilities, results: 'own', execute: () => 'sent' })
const tools = [
  sender('post.send', ['remote']),
  sender('post.exact', ['remote'], z.strictObject({ to: z.string(), cc: z.string().optional() })),
  sender('post.letter', ['remote'], z.strictObject({ to: z.string(), body: z.string() })),
  sender('post.erase', ['remote', 'danger:destructive']),
  sender('post.look', ['read:fs'], z.strictObject({ to: z.string() })),
  sender('post.run', ['exec'], z.strictObject({ text: z.string() })),
  sender('post.request', ['send'], z.strictObject({ to: z.string(), body: z.string() })),
  sender('memory', ['remote'], z.strictObject({ to: z.string() })),
  sender('post.any', ['remote'], z.looseObject({})),
]

let runs: string
let hub: ReturnType<typeof open>

function open(policy: readonly Rule[] = [{ ask: 'post.*' }]) {
  return createToolHub({ tools, runs, policy: [...policy] })
}

/** Makes a call that a person answers; `undefined` if nobody does. */
function answered(
  decision: ApprovalReply['decision'] | undefined,
  args: object,
  how: CallOptions & { tool?: string } = {},
) {
  const { tool = 'post.send', ...options } = how
  const approve = decision && (() => ({ decision, by: 'ada' }))
  return hub.callDynamic(tool, args, { run: 'r-1', approve, ...options })
}
const approved = (args: object, how?: Parameters<typeof answered>[2]) => answered('allow', args, how)

async function suggested(since?: number) {
  await hub.endRun('r-1')
  return suggestFromRuns(hub, runs, { since })
}
const lines = async () => (await suggested()).rules.map(({ yaml, saves }) => `${saves} ${yaml.join(' + ')}`)

/** The rule for one value, where no call used the other argument. */
const onlyExact = (to: string) =>
  `2 { allow: "post.send", where: { to: "${to}" } } + { ask: "post.send", where: { amount: "**" } }`

beforeEach(() => {
  runs = mkdtempSync(join(tmpdir(), 'tool-hub-suggest-'))
  hub = open()
})
afterEach(async () => {
  await hub.close()
  rmSync(runs, { recursive: true, force: true })
})

describe('rules from approved calls', () => {
  it('are about values that were approved twice, name the calls, and hold in any run if nothing else is open', async () => {
    const first = await approved({ to: 'a@x.org' }, { tool: 'post.exact' })
    const second = await approved({ to: 'a@x.org' }, { tool: 'post.exact', run: 'r-2', untrusted: true })
    await approved({ to: 'other' }, { tool: 'post.exact' })
    await hub.endRun('r-2')
    const report = await suggested()
    expect(report).toMatchObject({ runs: 2, calls: 3, approvals: 3, withheld: [], unreadable: [] })
    expect(report.rules).toEqual([
      {
        rule: { allow: 'post.exact', where: { to: 'a@x.org' } },
        also: [{ ask: 'post.exact', where: { cc: '**' } }],
        yaml: ['{ allow: "post.exact", where: { to: "a@x.org" } }', '{ ask: "post.exact", where: { cc: "**" } }'],
        saves: 2,
        calls: expect.arrayContaining([
          { run: 'r-1', callId: first.callId },
          { run: 'r-2', callId: second.callId },
        ]),
        open: [],
      },
    ])
    const rules = [{ ask: 'post.*' }, report.rules[0]!.rule, ...report.rules[0]!.also]
    const next = open(rules)
    expect(await next.callDynamic('post.exact', { to: 'a@x.org' }, { untrusted: true })).toMatchObject({ ok: true })
    expect(await next.callDynamic('post.exact', { to: 'b@x.org' })).toMatchObject({ status: 'approval_required' })
    await next.close()
  })

  it('do not hold after content from outside if a text is open, which may hold an address', async () => {
    for (const body of ['one', 'two']) await approved({ to: 'a@x.org', body }, { tool: 'post.letter' })
    expect(await lines()).toEqual(['2 { allow: "post.letter", where: { to: "a@x.org" }, when: { tainted: false } }'])
  })

  it('name the text of a request, which a program reads', async () => {
    const tool = 'post.request'
    for (const body of ['a=1', 'a=1', 'a=2']) await approved({ to: 'a@x.org', body }, { tool })
    expect(await lines()).toEqual(['2 { allow: "post.request", where: { body: "a=1", to: "a@x.org" } }'])
  })

  it('become lists, then domains and bounds, then the tool, each only for two more approvals', async () => {
    for (const to of ['a@x.org', 'a@x.org', 'b@x.org', 'b@x.org']) await approved({ to, amount: 1 })
    for (const [to, amount] of [
      ['c@x.org', 5],
      ['d@x.org', 9],
    ] as const)
      await approved({ to, amount })
    for (const to of ['me', 'you']) await approved({ to })
    expect(await lines()).toEqual([
      '4 { allow: "post.send", where: { amount: 1, to: ["a@x.org","b@x.org"] } }',
      '6 { allow: "post.send", where: { amount: { min: 1, max: 9 }, to: "*@x.org" }, when: { tainted: false } }',
      '8 { allow: "post.send", when: { tainted: false } }',
    ])
  })

  it('name the host of URLs, and never a domain where anybody has an address', async () => {
    for (const path of ['a?q=1', 'b']) await approved({ to: `https://api.x.org/${path}` })
    for (const name of ['a', 'b']) await approved({ to: `${name}@gmail.com` }, { tool: 'post.erase' })
    expect(await lines()).toEqual([
      '2 { allow: "post.send", where: { to: "https://api.x.org/**" }, when: { tainted: false } }',
    ])
  })

  it('allow what deletes only with its values', async () => {
    for (const to of ['a', 'b', 'c', 'c']) await approved({ to }, { tool: 'post.erase' })
    expect(await lines()).toEqual([
      '2 { allow: "post.erase", where: { to: "c" } } + { ask: "post.erase", where: { amount: "**" } }',
    ])
  })

  it('take no argument of a tool that runs commands for a text, and never allow such a tool as a whole', async () => {
    for (const text of ['ls', 'ls', 'make', 'make test']) await approved({ text }, { tool: 'post.run' })
    expect(await lines()).toEqual(['2 { allow: "post.run", where: { text: "ls" } }'])
  })

  it('do not hold in a run that has read from outside, if they leave an argument open', async () => {
    await hub.close()
    hub = open([{ allow: 'post.*' }, { ask: 'post.*', when: { tainted: true } }])
    for (const tool of ['post.exact', 'post.send', 'post.any'])
      for (const to of ['a', 'a', 'b', 'c']) await approved({ to }, { tool, untrusted: true })
    await approved({ to: 'd', amount: 1 })
    expect(await lines()).toEqual([
      '2 { allow: "post.exact", where: { to: "a" } } + { ask: "post.exact", where: { cc: "**" } }',
    ])
  })
})

describe('a rule is not offered', () => {
  it.each([
    ['denied by a person', 'deny'],
    ['left unanswered', undefined],
  ] as const)('if it covers a call that was %s, at any time, in any run', async (_what, decision) => {
    await answered(decision, { to: 'eve@x.org' }, { run: 'r-0' })
    await hub.endRun('r-0')
    for (const to of ['a@x.org', 'a@x.org', 'b@x.org', 'c@x.org']) await approved({ to })
    expect(await lines()).toEqual([onlyExact('a@x.org')])
  })

  it('if a rule denied such a call, also if it no longer does', async () => {
    await hub.close()
    hub = open([{ ask: 'post.*' }, { deny: 'post.*', where: { to: 'eve' } }])
    await approved({ to: 'eve' })
    await hub.endRun('r-1')
    await hub.close()
    hub = open()
    for (const to of ['a', 'a', 'b', 'c', 'eve', 'eve']) await approved({ to })
    expect(await lines()).toEqual([onlyExact('a')])
  })

  it('if the arguments of a call that was not approved are unknown', async () => {
    await answered('deny', { to: 'a', body: 'x'.repeat(5_000) })
    for (const to of ['a', 'a']) await approved({ to })
    expect(await suggested()).toMatchObject({ rules: [], withheld: ['post.send'] })
  })

  it('if it would make other calls ask', async () => {
    await hub.close()
    hub = open([{ ask: 'post.look', when: { tainted: true } }])
    for (const to of ['a', 'a']) await approved({ to }, { tool: 'post.look', untrusted: true })
    expect(await lines()).toHaveLength(1)
    expect(await approved({ to: 'b' }, { tool: 'post.look', run: 'r-2' })).toMatchObject({ ok: true })
    await hub.endRun('r-2')
    expect(await lines()).toEqual([])
  })

  it('for values that stand for others in a rule, or cannot be seen', async () => {
    for (const to of ['from-user', 'approved-before', '*', 'a?c', 'a\u202eb', 'x'.repeat(600)])
      for (const tool of ['post.erase', 'post.erase']) await approved({ to }, { tool })
    expect(await lines()).toEqual([])
  })

  it('for a tool that is called like a capability', async () => {
    for (const to of ['a', 'a']) await approved({ to }, { tool: 'memory' })
    expect(await suggested()).toMatchObject({ approvals: 2, rules: [] })
  })

  it('for one approval, for remembered answers, and for changed arguments', async () => {
    await approved({ to: 'once' })
    const remembered = () => ({ decision: 'allow', remember: 'session' }) as const
    for (const _ of [1, 2, 3]) await hub.callDynamic('post.send', { to: 'r' }, { run: 'r-1', approve: remembered })
    const changed = () => ({ decision: 'allow', input: { to: 'changed' } }) as const
    for (const _ of [1, 2]) await hub.callDynamic('post.erase', { to: 'b' }, { run: 'r-1', approve: changed })
    const { rules, approvals } = await suggested()
    expect({ approvals, rules: rules.flatMap(({ yaml }) => yaml) }).toEqual({
      approvals: 2,
      rules: ['{ allow: "post.send", when: { tainted: false } }'],
    })
  })
})

it('takes a call that was first left and then approved as approved', async () => {
  await answered(undefined, { to: 'a' })
  for (const to of ['a', 'a']) await approved({ to })
  expect(await lines()).toHaveLength(1)
})

it('counts approvals since a time, and refusals of any time', async () => {
  for (const to of ['a', 'a']) await approved({ to })
  expect(await suggested(Date.now() + 60_000)).toMatchObject({ approvals: 0, rules: [], calls: 2 })
  expect(await suggested(Date.now() - 60_000)).toMatchObject({ approvals: 2, rules: [{ saves: 2 }] })
})

it('suggests nothing if a record cannot be read, and works without any', async () => {
  expect(await suggestFromRuns(hub, join(runs, 'none'))).toMatchObject({ runs: 0, rules: [] })
  for (const to of ['a', 'a']) await approved({ to })
  await hub.endRun('r-1')
  appendFileSync(join(runs, 'r-1', 'events.jsonl'), 'no event\n')
  mkdirSync(join(runs, 'r-2'))
  writeFileSync(join(runs, 'r-2', 'events.jsonl'), '\u0000\u0001\n')
  const { rules, unreadable } = await suggestFromRuns(hub, runs)
  expect(rules).toEqual([])
  expect(unreadable.map(({ run }) => run).toSorted()).toEqual(['r-1', 'r-2'])
  expect(unreadable[0]!.reason).toBe('1 of its lines cannot be read')
})
