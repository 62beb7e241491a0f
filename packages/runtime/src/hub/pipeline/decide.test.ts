import type { ToolError } from '@tool-hub/core/errors'
import type { FilesGuard } from '@tool-hub/sandbox/files'
import type { NetworkGuard } from '@tool-hub/sandbox/network'
import { describe, expect, it } from 'vitest'
import { decidedCall } from '../../../../../test/support/call-stages.ts'
import type { Rule, SkillRequest } from '../../../../core/src/principal.ts'
import { type AnyTool, type Capability, defineTool } from '../../../../core/src/tool.ts'
import { compilePolicy } from '../../../../policy/src/compile-policy.ts'
import { fakeClock } from '../../../../testing/src/fake-clock.ts'
import type { RunState } from '../run-state.ts'
import type { Runtime } from '../runtime.ts'
import { Call, type DecidedCall, type ValidCall } from './call.ts'
import { CallAuthority } from './call-authority.ts'
import type { CallExecution } from './call-parts.ts'
import { filesHandle, networkHandle } from './context.ts'
import { decideCall, denyCall, question } from './decide.ts'
import { HookChain } from './hooks.ts'
import { type Origin, registerable } from './registered-tool.ts'

interface Options {
  readonly rules?: readonly Rule[]
  readonly tool?: Record<string, unknown>
  readonly options?: Record<string, unknown>
  readonly origin?: Origin
  readonly requests?: readonly SkillRequest[]
  readonly isSandboxRequired?: boolean
  readonly principal?: string
}

type FilesTold = Required<Parameters<FilesGuard['handle']>[0]>
type NetworkTold = Required<Parameters<NetworkGuard['handle']>[0]>

const CAPABILITIES: Capability[] = ['memory', 'read:fs', 'write:fs', 'danger:destructive', 'exec', 'network']

/** A call of a tool that may do everything, under these rules; the guards note what they receive. */
function world({ rules = [], tool = {}, options = {}, origin = 'caller', requests = [], ...more }: Options = {}) {
  const owner = rules.map((rule, index) => ({ rule, source: { file: 'policy', index }, base: '/' }))
  const clock = fakeClock()
  const runtime = {
    clock,
    identity: { principal: more.principal },
    policy: compilePolicy({ owner }),
    hooks: new HookChain(clock),
    sources: { requests: new Map([['r', requests]]) },
    settings: { isSandboxRequired: more.isSandboxRequired ?? false, durability: 'behind', undoBytes: 5 },
    untrusted: { has: (path: string) => path === '/outside' },
  } as unknown as Runtime
  const given: unknown[] = []
  const guard = { handle: (told: unknown) => given.push(told) && { told } }
  const tainted: string[] = []
  const run = {
    hold: {},
    tainted: false,
    taint: (id: string) => tainted.push(id),
    sandbox: { files: () => guard, network: () => guard, artifacts: () => undefined },
  } as unknown as RunState
  const call = new Call({ id: 'c1', run: 'r', wire: 'x.y', caller: 'c', options, input: {} })
  const plain = defineTool({ name: 'x.y', description: 'x', input: {}, capabilities: CAPABILITIES, execute: () => 1 })
  const uses: Partial<ValidCall> = { capabilities: ['memory'], targets: [{ capability: 'memory', value: 'note' }] }
  const decided = decidedCall(call, registerable({ ...plain, ...tool } as AnyTool, origin), { uses })
  return { runtime, run, call: decided, authority: new CallAuthority(runtime, run, decided), given, tainted }
}

const thrownBy = (work: () => unknown): ToolError | undefined => {
  try {
    work()
  } catch (error) {
    return error as ToolError
  }
  return undefined
}

describe('the decision on a call', () => {
  const decided = (options: Options) => {
    const { runtime, run, call } = world(options)
    return decideCall(runtime, run, call.valid)
  }

  it('is that of policy', () => {
    expect(decided({ rules: [{ allow: 'memory' }] })).toMatchObject({ effect: 'allow', decision: { effect: 'allow' } })
    expect(decided({ rules: [{ deny: 'memory' }] }).effect).toBe('deny')
  })

  it('is a denial for a kind of caller that the tool does not accept', () => {
    const rules: Rule[] = [{ allow: 'memory' }]
    const [callers, script] = [['direct'], { callerKind: 'script' }]
    expect(thrownBy(() => decided({ rules, tool: { callers }, options: script }))).toMatchObject({
      code: 'POLICY_DENIED',
      message: 'x.y may not be called by a script.',
      fix: { hint: 'Its callers: direct.' },
    })
    expect(decided({ rules, tool: { callers } }).effect).toBe('allow')
    expect(thrownBy(() => decided({ rules, tool: { callers: ['script'] } }))?.message).toMatch(/by a direct\.$/)
  })

  it('is left to a person where the tool is in doubt, unless it is no', () => {
    const tool = { doubt: 'It changed.' }
    const allowed = decided({ tool, rules: [{ allow: 'memory' }] })
    expect(allowed).toMatchObject({
      effect: 'ask',
      decision: {
        rule: 'default: a tool in doubt asks',
        source: 'built in',
        layer: 'fallback',
        reason: 'It changed.',
        fix: { hint: 'Approve the call when asked. Accept the changes of an MCP server with `tool-hub mcp pin`.' },
      },
    })
    const asked = decided({ tool, rules: [{ ask: 'memory', reason: 'Mine.' }] })
    expect(asked).toMatchObject({ effect: 'ask', decision: { reason: 'Mine. It changed.' } })
    const denied = decided({ tool, rules: [{ deny: 'memory', reason: 'Mine.' }] })
    expect(denied).toMatchObject({ effect: 'deny', decision: { reason: 'Mine.' } })
  })

  it('knows the caller, its grants, the sandbox and whether something is from outside', () => {
    const asked = (options: Options, sandbox?: 'none' | 'full', tainted = false) => {
      const { runtime, call } = world(options)
      call.valid.sandbox = sandbox
      const { caller, grants, isUnsandboxed, tainted: isTainted } = question(runtime, { tainted }, call.valid)
      return { caller, grants, isUnsandboxed, isTainted }
    }
    const plain = { caller: 'direct', grants: undefined, isUnsandboxed: false, isTainted: false }
    expect(asked({})).toEqual(plain)
    const options = { callerKind: 'script', grants: ['memory'] }
    expect(asked({ options })).toEqual({ ...plain, caller: 'script', grants: ['memory'] })
    expect(asked({ options: { untrusted: true } }).isTainted).toBe(true)
    expect(asked({ options: { untrusted: false } }, undefined, true).isTainted).toBe(true)
    for (const [sandbox, isSandboxRequired, isUnsandboxed] of [
      ['none', true, true],
      ['none', false, false],
      ['full', true, false],
    ] as const)
      expect(asked({ isSandboxRequired }, sandbox).isUnsandboxed).toBe(isUnsandboxed)
  })
})

describe('a call that is denied', () => {
  const refused = (options: Options, change: (call: DecidedCall) => void = () => {}) => {
    const { runtime, run, call } = world(options)
    const decided = decideCall(runtime, run, call.valid)
    change(decided)
    return thrownBy(() => denyCall(decided))
  }

  it('names the rule that denied it, or the hook', () => {
    expect(refused({ rules: [{ allow: 'memory' }] })).toBeUndefined()
    expect(refused({ rules: [{ ask: 'memory' }] })).toBeUndefined()
    const named = refused({ rules: [{ deny: 'memory', reason: 'no notes' }] })
    expect(named).toMatchObject({
      code: 'POLICY_DENIED',
      message: expect.stringMatching(/^x\.y is denied by deny memory .*: no notes\.$/),
    })
    const hooked = refused({ rules: [{ allow: 'memory' }] }, (call) => {
      call.effect = 'deny'
    })
    expect(hooked).toMatchObject({
      code: 'POLICY_DENIED',
      message: 'x.y is denied by a decide hook.',
      fix: { hint: 'Ask the owner of the hook.' },
    })
  })

  it('because of a file that was not read hints to read it, where that alone would help', () => {
    const unread = (capabilities: readonly Capability[], rules: Rule[]) => {
      const { runtime, run, call } = world({ rules })
      call.valid.capabilities = capabilities
      call.valid.targets = capabilities.map((capability) => ({ capability, value: '/a' }))
      call.valid.unread = 'a'
      const decided = decideCall(runtime, run, call.valid)
      return thrownBy(() => denyCall(decided))
    }
    const destroying = unread(['danger:destructive'], [{ deny: 'danger:destructive' }])
    expect(destroying?.message).toMatch(/\. "a" exists, and this run has not read it\.$/)
    expect(destroying?.fix).toEqual({ hint: expect.stringMatching(/^Read the whole file first, then write\. Or: ./) })
    const both = unread(['danger:destructive', 'write:fs'], [{ deny: 'danger:destructive' }, { deny: 'write:fs' }])
    expect(both?.message).not.toContain('has not read')
    expect(both?.fix.hint).not.toContain('Read the whole file')
  })
})

describe('at the moment of use', () => {
  const held = (capability: Capability, value: string, options: Options, approvedBy?: string) => {
    const { call, authority } = world(options)
    call.call.approvedBy = approvedBy
    call.valid.targets = [
      { capability: 'read:fs', value: '/named' },
      { capability: 'exec', value: 'make' },
    ]
    return thrownBy(() => authority.permits(capability, value))
  }

  it.each<[string, Capability, string, Rule[], string | undefined, boolean]>([
    ['what was named and judged before', 'read:fs', '/named', [{ deny: 'read:fs' }], undefined, true],
    ['what was named for something else', 'write:fs', '/named', [{ deny: 'write:fs' }], undefined, false],
    ['what is allowed', 'read:fs', '/other', [{ allow: 'read:fs' }], undefined, true],
    ['what would be asked', 'read:fs', '/other', [{ ask: 'read:fs' }], undefined, false],
    ['what would be asked below an approved folder', 'read:fs', '/named/a', [{ ask: 'read:fs' }], 'ada', true],
    ['what only begins like it', 'read:fs', '/named2', [{ ask: 'read:fs' }], 'ada', false],
    ['what is below a folder that nobody approved', 'read:fs', '/named/a', [{ ask: 'read:fs' }], undefined, false],
    ['another use below it', 'write:fs', '/named/a', [{ ask: 'write:fs' }], 'ada', false],
    ['what is denied below it', 'read:fs', '/named/a', [{ deny: 'read:fs' }], 'ada', false],
    ['a command below a command', 'exec', 'make/all', [{ ask: 'exec' }], 'ada', false],
  ])('%s: %s %s', (_, capability, value, rules, approvedBy, isFine) => {
    const error = held(capability, value, { rules }, approvedBy)
    if (isFine) expect(error).toBeUndefined()
    else
      expect(error).toMatchObject({
        code: 'POLICY_DENIED',
        message: expect.stringContaining(`x.y used ${capability} ${value}, which is not among its targets: `),
        fix: { hint: 'Return the target from targets() of the tool, so that policy decides before the call.' },
      })
  })

  it('the owner is not asked, but is denied like anybody', () => {
    expect(held('read:fs', '/other', { rules: [{ ask: 'read:fs' }], origin: 'owner' })).toBeUndefined()
    expect(held('read:fs', '/other', { rules: [{ deny: 'read:fs' }], origin: 'owner' })?.code).toBe('POLICY_DENIED')
  })

  it('a decide hook that was not asked has not said yes', () => {
    const { runtime, authority } = world({ rules: [{ allow: 'read:fs' }] })
    runtime.hooks.add({ match: 'other', decide: () => {} })
    authority.permits('read:fs', '/a')
    runtime.hooks.add({ decide: () => {} })
    expect(() => authority.permits('read:fs', '/a')).toThrow(/: a decide hook was not asked\.$/)
    authority.permits('memory', 'note')
  })

  it('only the thing in question is judged', () => {
    const { authority } = world({ rules: [{ allow: 'read:fs' }, { deny: 'memory' }] })
    expect(authority.decide('read:fs', '/a').effect).toBe('allow')
  })
})

describe('the handles of a call', () => {
  it('of files are for what its tool declares', () => {
    const told = (capabilities: readonly Capability[], options: Options = {}) => {
      const { call, authority, given } = world({ ...options, tool: { capabilities } })
      call.valid.capabilities = capabilities
      filesHandle(authority)
      return given[0] as FilesTold
    }
    const may = ({ canRead, canWrite, canOverwrite, canRestore, isOwner }: FilesTold) =>
      [canRead, canWrite, canOverwrite, canRestore, isOwner].map(Number).join('')
    expect(may(told(['read:fs']))).toBe('10001')
    expect(may(told(['write:fs']))).toBe('01001')
    expect(may(told(['danger:destructive']))).toBe('00101')
    expect(may(told(['write:fs'], { origin: 'owner' }))).toBe('01111')
    expect(may(told(['read:fs'], { principal: 'token:ci' }))).toBe('10000')
  })

  it('of files hold each use to its own capability', () => {
    const uses = (origin: Origin) => {
      const rules: Rule[] = [{ allow: 'read:fs' }, { allow: 'write:fs' }, { deny: 'danger:destructive' }]
      const { call, authority, given, tainted } = world({ rules, origin })
      filesHandle(authority)
      const [told] = given as [FilesTold]
      told.notice('Look.')
      told.onUntrusted('/outside')
      expect([call.call.report.notices, call.call.report.isUntrusted, tainted]).toEqual([['Look.'], true, ['c1']])
      expect([told.isUntrusted('/outside'), told.isUntrusted('/a'), told.isStopped()]).toEqual([true, false, false])
      expect([told.signal(), told.mayRead('/a'), told.journal]).toEqual([call.call.signal, true, undefined])
      return (['read', 'write', 'overwrite'] as const).map(
        (use) => thrownBy(() => told.permits('/a', use)) === undefined,
      )
    }
    expect(uses('caller')).toEqual([true, true, false])
    // What the owner's own call replaces is kept by its journal.
    expect(uses('owner')).toEqual([true, true, true])
  })

  it('of the network are held to the decision, and what answers is from outside', async () => {
    const rules: Rule[] = [{ allow: 'network' }, { deny: 'send' }]
    const { call, authority, given, tainted } = world({ rules, options: { idempotencyKey: 'k' } })
    call.decision = { constraints: { maxBytes: 7, retries: 2 } } as never
    networkHandle(authority)
    const [told] = given as [NetworkTold]
    expect([told.maxBytes, told.postRetries, told.idempotencyKey, told.signal()]).toEqual([7, 2, 'k', call.call.signal])
    told.permits('https://a.example/', 'network')
    expect(() => told.permits('https://a.example/', 'send')).toThrow(/used send/)
    const execution = { attempts: 0 } as CallExecution
    call.call.execution = execution
    told.onRetry()
    told.onAnswer(new URL('https://a.example/x'))
    await told.beforeSend()
    expect([execution.attempts, call.call.report.isUntrusted, tainted, call.call.hasChanged]).toEqual([
      1,
      true,
      ['c1'],
      true,
    ])
    const stopped: unknown[] = []
    told.onStop((reason: unknown) => stopped.push(reason))
    call.call.end()
    expect(stopped).toHaveLength(1)
  })
})
