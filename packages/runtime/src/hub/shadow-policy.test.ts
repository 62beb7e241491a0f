import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createToolHub } from '@tool-hub/library/create-tool-hub'
import { createMemoryStore } from '@tool-hub/library/stores'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { systemClock } from '../../../core/src/context.ts'
import { defineTool } from '../../../core/src/tool.ts'
import type { Decision } from '../../../policy/src/question.ts'
import { fakeClock } from '../../../testing/src/fake-clock.ts'
import { createRedactor } from '../records/redaction/index.ts'
import { Metrics } from '../records/telemetry.ts'
import { Call } from './pipeline/call.ts'
import type { RunState } from './run-state.ts'
import { ShadowLog, shadowFromRuns } from './shadow-policy.ts'

const send = defineTool({
  name: 'post.send',
  description: 'Sends.',
  input: z.strictObject({ to: z.string(), later: z.string().optional() }),
  capabilities: ['remote', 'read:fs'],
  targets: ({ to }) => ({ remote: to, 'read:fs': [] }),
  results: 'own',
  execute: () => 'sent',
})
const look = defineTool({
  name: 'post.look',
  description: 'Reads a file that it does not name.',
  input: z.strictObject({ path: z.string() }),
  capabilities: ['read:fs'],
  targets: () => ({ 'read:fs': '.' }),
  results: 'own',
  execute: ({ path }, ctx) => ctx.fs.readText(path),
})

let folder: string
let hub: ReturnType<typeof open>
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tool-hub-shadow-'))
  mkdirSync(join(folder, 'root'))
})
afterEach(async () => {
  vi.restoreAllMocks()
  await hub?.close({ abort: true })
  rmSync(folder, { recursive: true, force: true })
})

type Options = NonNullable<Parameters<typeof createToolHub>[0]>

function open(options: Options) {
  const runs = join(folder, 'runs')
  return createToolHub({ tools: [send, look], runs, run: 'r-1', sandbox: { root: join(folder, 'root') }, ...options })
}

/** The lines of a type in the record of the run. */
function recorded(type: string): Record<string, unknown>[] {
  const file = join(folder, 'runs', 'r-1', 'events.jsonl')
  const lines = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []
  return lines.map((line) => JSON.parse(line)).filter((event) => event.type === type)
}
const call = (to = 'ada', options = {}) => hub.callDynamic('post.send', { to }, options)

describe('a shadow policy', () => {
  it('that denies everything changes nothing, and every difference is counted, recorded and reported', async () => {
    hub = open({ policy: [{ allow: 'remote' }], shadowPolicy: [{ deny: '*' }] })
    const results = [await call(), await call(), await hub.callDynamic('core/util.time.now', {})]
    expect(results.map(({ ok }) => ok)).toEqual([true, true, true])
    await hub.endRun('r-1')
    const differed = recorded('shadow-differed')
    expect(differed).toHaveLength(3)
    expect(differed[0]).toMatchObject({
      callId: results[0]!.callId,
      tool: 'post.send',
      effect: 'allow',
      rule: 'allow remote (policy[0])',
      shadowEffect: 'deny',
      shadowRule: 'deny "*" (shadowPolicy[0])',
    })
    expect(recorded('approval-requested')).toEqual([])
    const report = hub.shadowReport()!
    expect(report).toMatchObject({ compared: 3, failed: 0 })
    expect(report.differences.map(({ tool, count, examples }) => [tool, count, examples.length])).toEqual([
      ['post.send', 2, 2],
      ['core/util.time.now', 1, 1],
    ])
    expect(report.differences[0]!.examples[0]).toMatchObject({ run: 'r-1', callId: results[1]!.callId })
    const metrics = await hub.metrics()
    expect(metrics).toContain('tool_hub_shadow_differences_total{decision="allow",shadow="deny"} 3')
    expect(metrics).toContain('tool_hub_shadow_decisions_total 3')
  })

  it('that allows everything lets nothing through', async () => {
    hub = open({ policy: [{ deny: 'remote' }], shadowPolicy: [{ allow: '*' }] })
    expect((await call()).error?.code).toBe('POLICY_DENIED')
    expect(hub.shadowReport()?.differences).toMatchObject([{ effect: 'deny', shadowEffect: 'allow', count: 1 }])
    hub.setPolicy([{ ask: 'remote' }])
    expect((await call()).error?.code).toBe('APPROVAL_UNAVAILABLE')
    expect(hub.shadowReport()?.differences).toMatchObject([{ effect: 'ask', shadowEffect: 'allow', count: 1 }])
  })

  it('that agrees leaves no trace in the record', async () => {
    hub = open({ policy: [{ allow: 'remote' }], shadowPolicy: [{ allow: 'post.send' }] })
    await call()
    await hub.endRun('r-1')
    expect(recorded('shadow-differed')).toEqual([])
    expect(hub.shadowReport()).toMatchObject({ compared: 1, differences: [] })
  })

  it('is absent by default, from the report and the metrics', async () => {
    hub = open({ policy: [{ allow: 'remote' }] })
    await call()
    expect([hub.shadowPolicy(), hub.shadowReport()]).toEqual([undefined, undefined])
    expect(await hub.metrics()).not.toContain('shadow')
  })

  it('can be replaced and ended while the hub runs; the report begins again with it, and with the policy', async () => {
    hub = open({ policy: [{ allow: 'remote' }] })
    hub.setShadowPolicy([{ deny: 'remote' }])
    await call()
    expect(hub.shadowReport()?.differences).toHaveLength(1)
    hub.setShadowPolicy([{ deny: 'remote' }])
    expect(hub.shadowReport()?.differences).toHaveLength(1)
    hub.setPolicy([{ allow: 'remote', reason: 'other' }])
    expect(hub.shadowReport()).toMatchObject({ compared: 0, differences: [] })
    await call()
    expect(() => hub.setShadowPolicy([{ deny: 'remote' }, { allow: 'remote', on: '[' }])).toThrow(/shadowPolicy\[1\]/)
    expect(hub.shadowReport()?.differences).toHaveLength(1)
    hub.setShadowPolicy(undefined)
    await call()
    expect(hub.shadowReport()).toBeUndefined()
  })

  it('is not asked by explanations', async () => {
    hub = open({ policy: [{ allow: 'remote' }], shadowPolicy: [{ deny: 'remote' }] })
    expect((await hub.explain('post.send', { to: 'ada' })).effect).toBe('allow')
    expect(hub.shadowReport()).toMatchObject({ compared: 0 })
  })

  it('that is invalid is refused with the place of its rule when the hub is created', () => {
    expect(() => open({ shadowPolicy: [{ allow: 'remote' }, { deny: '' }] })).toThrow(/shadowPolicy\[1\]/)
  })
})

describe('what a shadow policy sees', () => {
  it('is the taint, the user’s words and the grants of the call', async () => {
    const shadowPolicy = [
      { allow: 'remote', where: { to: 'from-user' } },
      { deny: 'remote', when: { tainted: true } },
    ] as const
    hub = open({ policy: [{ allow: 'remote' }], shadowPolicy })
    await call('ada', { userText: "write to 'ada'" })
    expect(hub.shadowReport()?.differences).toEqual([])
    await call('eve')
    expect(hub.shadowReport()?.differences).toMatchObject([{ shadowEffect: 'ask', count: 1 }])
    await call('ada', { untrusted: true })
    expect(hub.shadowReport()?.differences).toMatchObject([{ shadowEffect: 'ask' }, { shadowEffect: 'deny' }])
    await call('ada', { grants: ['network'] })
    expect(hub.shadowReport()?.differences).toHaveLength(2)
  })

  it('is what people have approved before, also where the policy in force does not look for it', async () => {
    hub = open({
      policy: [{ ask: 'post.send', when: { tainted: true } }, { allow: 'post.send' }],
      shadowPolicy: [{ allow: 'post.send', where: { to: 'approved-before' } }, { ask: 'post.send' }],
      approve: () => ({ decision: 'allow', by: 'ada', remember: 'always', covers: 'values' }),
    })
    await call('bob', { untrusted: true, run: 'r-2', userText: 'hello' })
    expect((await hub.grants.list()).map(({ covers }) => covers)).toEqual(['values'])
    await call('bob')
    expect(hub.shadowReport()?.differences).toEqual([])
    await call('eve')
    expect(hub.shadowReport()?.differences).toMatchObject([{ effect: 'allow', shadowEffect: 'ask', count: 1 }])
  })

  it('is looked up without waiting for a store that does not answer, and without running hooks', async () => {
    const clock = fakeClock()
    const asked: string[] = []
    const store = createMemoryStore()
    const list = vi.spyOn(store.grants, 'list').mockReturnValue(new Promise(() => {}))
    hub = open({
      clock,
      store,
      policy: [{ allow: 'post.send' }],
      shadowPolicy: [{ allow: 'post.send', where: { to: 'approved-before' } }],
      hooks: [{ decide: ({ tool }) => void asked.push(tool) }],
    })
    const calling = call('bob')
    await vi.waitFor(() => expect(list).toHaveBeenCalled(), { timeout: 100_000 })
    await clock.advance(1_000)
    expect((await calling).ok).toBe(true)
    expect(asked).toEqual(['post.send'])
    expect(hub.shadowReport()?.differences).toMatchObject([{ effect: 'allow', shadowEffect: 'ask' }])
  })

  it('is compared before hooks tighten, and again with the arguments that an approver changed', async () => {
    hub = open({
      policy: [{ ask: 'post.send' }],
      shadowPolicy: [{ ask: 'post.send' }, { deny: 'post.send', on: 'eve' }],
      hooks: [{ match: 'core/util.time.now', decide: () => 'deny' }],
      approve: () => ({ decision: 'allow', by: 'ada', input: { to: 'eve' } }),
    })
    expect((await hub.callDynamic('core/util.time.now', {})).error?.code).toBe('POLICY_DENIED')
    expect(hub.shadowReport()).toMatchObject({ compared: 1, differences: [] })
    expect((await call('bob')).ok).toBe(true)
    expect(hub.shadowReport()).toMatchObject({ compared: 3, differences: [{ effect: 'ask', shadowEffect: 'deny' }] })
  })

  it('includes the rules of the principal that calls, and of those that contain it', async () => {
    hub = open({ policy: [{ allow: 'remote' }], shadowPolicy: [{ allow: 'post.send' }] })
    const outer = { name: 'token:ci', policy: [{ deny: 'remote', on: 'eve' }] } as const
    const inner = hub.as({ name: 'session:1', within: outer, policy: [{ deny: 'remote', on: 'bob' }] })
    for (const to of ['ada', 'bob', 'eve']) await inner.callDynamic('post.send', { to })
    expect(hub.shadowReport()).toMatchObject({ compared: 3, differences: [] })
    hub.setShadowPolicy([{ deny: 'post.send', on: 'ada' }, { allow: 'post.send' }])
    for (const to of ['ada', 'bob', 'eve']) await inner.callDynamic('post.send', { to })
    expect(hub.shadowReport()?.differences).toMatchObject([{ effect: 'allow', shadowEffect: 'deny', count: 1 }])
    hub.setShadowPolicy(undefined)
    expect((await inner.callDynamic('post.send', { to: 'ada' })).ok).toBe(true)
  })

  it('is also what a call uses later, once for each call', async () => {
    for (const name of ['a.txt', 'b.txt']) writeFileSync(join(folder, 'root', name), name)
    hub = open({ policy: [], shadowPolicy: [{ deny: 'read:fs', on: join(folder, 'root', '*.txt') }] })
    expect((await hub.callDynamic('post.look', { path: 'a.txt' })).ok).toBe(true)
    await hub.endRun('r-1')
    expect(recorded('shadow-differed')).toMatchObject([
      { tool: 'post.look', effect: 'allow', shadowEffect: 'deny', target: expect.stringMatching(/^read:fs .*a\.txt$/) },
    ])
  })
})

it('a shadow policy that fails to decide is counted and reported once, and nothing reaches the call', async () => {
  const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
  const metrics = new Metrics()
  const log = new ShadowLog({ clock: systemClock, metrics, redactor: createRedactor() })
  const append = vi.fn()
  const run = { records: { append } } as unknown as Pick<RunState, 'records'>
  const inForce = { effect: 'allow', rule: 'allow remote' } as Decision
  const newCall = (id: string) =>
    new Call({ id, run: 'r', wire: 'x', caller: 'c', options: {}, input: {} }) as unknown as Call
  for (const id of ['c-1', 'c-2'])
    log.compare(run, newCall(id), inForce, () => {
      throw new Error('a rule broke')
    })
  expect(log.report()).toMatchObject({ compared: 0, failed: 2, differences: [] })
  expect(warn.mock.calls).toEqual([[expect.stringContaining('not affected: a rule broke'), 'ToolHubWarning']])
  append.mockImplementation(() => {
    throw new Error('the disk is full')
  })
  log.compare(run, newCall('c-3'), inForce, () => ({ ...inForce, effect: 'deny' }))
  expect(log.report()).toMatchObject({ compared: 1, failed: 3 })
  expect(await metrics.prometheus()).toContain('tool_hub_shadow_failures_total 3')
})

describe('the differences on record', () => {
  it('are counted by tool and decisions, with the calls of the time', async () => {
    hub = open({ policy: [{ allow: 'remote' }], shadowPolicy: [{ ask: 'remote' }] })
    for (const run of ['r-1', 'r-1', 'r-2']) await call('ada', { run })
    await hub.callDynamic('core/util.time.now', {})
    await hub.close()
    const runs = join(folder, 'runs')
    const report = await shadowFromRuns(runs)
    expect(report).toMatchObject({ runs: 2, calls: 4, differing: 3, unreadable: [] })
    expect(report.differences).toMatchObject([
      { tool: 'post.send', effect: 'allow', shadowEffect: 'ask', count: 3, examples: [{}, {}, {}] },
    ])
    expect(await shadowFromRuns(runs, { since: Date.now() + 60_000 })).toMatchObject({ calls: 0, differing: 0 })
    await expect(shadowFromRuns(runs, { signal: AbortSignal.abort() })).rejects.toThrow()
  })

  it('leave out lines of another shape', async () => {
    hub = open({ policy: [{ allow: 'remote' }], shadowPolicy: [{ ask: 'remote' }] })
    await call()
    await hub.close()
    const odd = { seq: 9, time: new Date().toISOString(), type: 'shadow-differed', callId: 7, effect: 'perhaps' }
    appendFileSync(join(folder, 'runs', 'r-1', 'events.jsonl'), `${JSON.stringify(odd)}\n{"seq":10,"time"\n`)
    expect(await shadowFromRuns(join(folder, 'runs'))).toMatchObject({ differing: 1 })
  })
})
