import { describe, expect, it } from 'vitest'
import { decidedCall } from '../../../../../test/support/call-stages.ts'
import type { Rule } from '../../../../core/src/principal.ts'
import { type AnyTool, defineTool } from '../../../../core/src/tool.ts'
import { compilePolicy } from '../../../../policy/src/compile-policy.ts'
import { fakeClock } from '../../../../testing/src/fake-clock.ts'
import { createRedactor } from '../../records/redaction/redact.ts'
import type { RunState } from '../run-state.ts'
import type { Runtime } from '../runtime.ts'
import { Call, type ValidCall } from './call.ts'
import { CallAuthority } from './call-authority.ts'
import { featureCall } from './feature-handle.ts'
import { HookChain } from './hooks.ts'
import { keepArtifact } from './record.ts'
import { registerable } from './registered-tool.ts'
import { markUntrusted } from './taint.ts'

const SECRET = 'the-owners-own-secret'

interface Options {
  readonly rules?: readonly Rule[]
  readonly options?: Record<string, unknown>
  readonly rights?: unknown
  readonly keepsRecords?: boolean
}

function world({ rules = [], options = {}, rights, keepsRecords = true }: Options = {}) {
  const owner = rules.map((rule, index) => ({ rule, source: { file: 'policy', index }, base: '/' }))
  const [lines, kept]: [unknown[], unknown[]] = [[], []]
  const clock = fakeClock()
  const runtime = {
    identity: { principal: 'token:ci', rights, runOwner: { principal: 'token:ci' } },
    redactor: createRedactor({ values: [SECRET] }),
    policy: compilePolicy({ owner }),
    hooks: new HookChain(clock),
    settings: { durability: 'behind', isSandboxRequired: false },
    calls: { callNested: async (...args: unknown[]) => args },
    runs: { readArtifact: async (...args: unknown[]) => args },
  } as unknown as Runtime
  const records = {
    append: (line: unknown) => lines.push(line),
    putArtifact: async (...args: unknown[]) => kept.push(args) && { ref: `artifact:${kept.length}` },
  }
  const tainters: string[] = []
  const run = {
    hold: {},
    get tainted() {
      return tainters.length > 0
    },
    taint: (id: string) => tainters.push(id),
    taintedBeside: (id: string) => tainters.some((other) => other !== id),
    records: keepsRecords ? records : undefined,
  } as unknown as RunState
  const call = new Call({ id: 'c1', run: 'r', wire: 'x.y', caller: 'c', options, input: {} })
  const plain = defineTool({
    name: 'x.y',
    description: 'x',
    input: {},
    capabilities: ['memory', 'send'],
    execute: () => 1,
  })
  const uses: Partial<ValidCall> = { targets: [{ capability: 'memory', value: 'note' }] }
  const decided = decidedCall(call, registerable(plain as AnyTool, 'caller'), { uses })
  return {
    runtime,
    run,
    call,
    lines,
    kept,
    tainters,
    feature: () => featureCall(new CallAuthority(runtime, run, decided)),
  }
}

describe('a call as a feature sees it', () => {
  it('says whose it is, and in which session', () => {
    const { feature, call } = world()
    const seen = {
      callId: 'c1',
      run: 'r',
      tool: 'x.y',
      session: 'r',
      caller: 'c',
      principal: 'token:ci',
      rights: { caller: 'c' },
    }
    expect(feature()).toMatchObject({ ...seen, isApproved: false, isTainted: false })
    expect(feature().rights).toEqual({ caller: 'c' })
    expect(feature().signal()).toBe(call.signal)
    call.approvedBy = 'ada'
    expect(feature().isApproved).toBe(true)
    const options = { session: 's', callerKind: 'script', grants: ['memory'] }
    const more = world({ options, rights: { name: 'token:ci' } }).feature()
    expect(more.session).toBe('s')
    expect(more.rights).toEqual({
      caller: 'c',
      principal: { name: 'token:ci' },
      callerKind: 'script',
      grants: ['memory'],
    })
  })

  it('is held to what was decided', () => {
    const { feature } = world({
      rules: [
        { allow: 'memory', on: 'a' },
        { ask: 'memory', on: 'b' },
        { deny: 'memory', on: 'note' },
      ],
    })
    const { permits, allows } = feature()
    permits('memory', 'note')
    permits('memory', 'a')
    expect(() => permits('memory', 'b')).toThrow(/used memory b/)
    expect([allows('memory', 'note'), allows('memory', 'a')]).toEqual([{ ok: true }, { ok: true }])
    expect(allows('memory', 'b')).toEqual({
      ok: false,
      why: expect.stringMatching(/^not allowed by ask memory/),
      effect: 'ask',
    })
    expect(allows('send', 'note')).toMatchObject({ ok: false })
  })

  it('is tainted by what it read, together with those that made it', () => {
    const { feature, run, call, tainters } = world()
    const seen = feature()
    seen.markUntrusted()
    expect([seen.isTainted, call.report.isUntrusted, tainters]).toEqual([true, true, ['c1']])
    const nested = new Call({ id: 'c2', run: 'r', wire: 'x.y', caller: 'c', options: {}, input: {}, parent: call })
    call.report.isUntrusted = false
    markUntrusted(run, nested)
    expect([call.report.isUntrusted, nested.report.isUntrusted]).toEqual([true, true])
  })

  it('has its connections on record, its intent too, and its notices in the result as long as there is none', async () => {
    const { feature, call, lines, runtime } = world()
    const seen = feature()
    const url = `https://a.example/${SECRET}/`
    seen.recordConnection(url.padEnd(3_000, 'x'), 'connected')
    expect(lines).toEqual([
      { type: 'command-connected', callId: 'c1', tool: 'x.y', url: expect.any(String), outcome: 'connected' },
    ])
    const { url: kept } = lines[0] as { url: string }
    expect(kept).not.toContain(SECRET)
    expect(kept.replace(/\[redacted:[a-z-]+\]/, SECRET)).toBe(url.padEnd(2_000, 'x'))
    await seen.beforeEffect()
    expect([call.hasChanged, lines.length]).toEqual([true, 2])
    seen.notice(`Look at ${SECRET}.`)
    expect(call.report.notices).toEqual([expect.stringMatching(/^Look at \[redacted:[a-z-]+\]\.$/)])
    let stops = 0
    seen.onStop(() => {
      stops++
    })
    call.end()
    seen.notice('Late.')
    expect([call.report.notices.length, stops]).toEqual([1, 1])
    expect(await seen.readArtifact('artifact:1', { maxBytes: 1 } as never)).toEqual([
      'r',
      'artifact:1',
      { maxBytes: 1, owner: { principal: 'token:ci' } },
    ])
    expect(await seen.call('a', 1)).toEqual([runtime, 'a', 1, call, undefined])
  })

  it('keeps artifacts without secrets, as long as it is not over', async () => {
    const { feature, call, kept, runtime, run } = world()
    expect(await feature().artifact(`text ${SECRET}`, { name: 'a.txt' })).toEqual({ ref: 'artifact:1' })
    const bytes = new Uint8Array([1])
    await feature().artifact(bytes)
    expect(kept).toEqual([
      [expect.stringMatching(/^text \[redacted:[a-z-]+\]$/), { name: 'a.txt' }],
      [bytes, undefined],
    ])
    expect(call.report.artifacts).toEqual([{ ref: 'artifact:1' }, { ref: 'artifact:2' }])
    call.end()
    await expect(keepArtifact(runtime, run, call, 'late')).rejects.toMatchObject({ code: 'ABORTED' })
    await expect(world({ keepsRecords: false }).feature().artifact('x')).rejects.toMatchObject({
      code: 'RECORDS_UNAVAILABLE',
      message: 'This hub keeps no records, so it cannot store an artifact.',
      fix: { hint: 'Create the hub with `runs` set to a folder.' },
    })
  })
})
