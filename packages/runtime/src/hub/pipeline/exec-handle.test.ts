import type { CommandCall } from '@tool-hub/sandbox/exec'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { decidedCall } from '../../../../../test/support/call-stages.ts'
import type { Rule } from '../../../../core/src/principal.ts'
import { type AnyTool, type Capability, defineTool } from '../../../../core/src/tool.ts'
import { compilePolicy } from '../../../../policy/src/compile-policy.ts'
import { fakeClock } from '../../../../testing/src/fake-clock.ts'
import { createRedactor } from '../../records/redaction/redact.ts'
import type { RunState } from '../run-state.ts'
import type { Runtime } from '../runtime.ts'
import { Call } from './call.ts'
import { CallAuthority } from './call-authority.ts'
import { execHandle } from './exec-handle.ts'
import { HookChain } from './hooks.ts'
import { registerable } from './registered-tool.ts'

const SECRET = 'the-owners-own-secret'

/** What the process guard receives about a call; a guard that only records it replaces the real one. */
function world({
  rules = [] as Rule[],
  capabilities = ['exec', 'network', 'send'] as Capability[],
  hasRecords = true,
} = {}) {
  const clock = fakeClock()
  const [lines, ended, added, removed]: [Record<string, unknown>[], string[], unknown[], string[]] = [[], [], [], []]
  const processes = {
    add: async (entry: unknown) => void added.push(entry),
    remove: async (id: string) => {
      removed.push(id)
      throw new Error('no disk')
    },
  }
  const runtime = {
    identity: {},
    clock,
    commands: { processes },
    hooks: new HookChain(clock),
    redactor: createRedactor({ values: [SECRET] }),
    policy: compilePolicy({
      owner: rules.map((rule, index) => ({ rule, source: { file: 'policy', index }, base: '/' })),
    }),
    settings: { isSandboxRequired: false, durability: 'behind' },
  } as unknown as Runtime
  let command: CommandCall | undefined
  const guard = {
    endCall: (id: string) => ended.push(id),
    handle: (call: CommandCall) => {
      command = call
      return 'handle'
    },
  }
  const tainted: string[] = []
  const file = {
    write: () => {},
    read: () => 'read',
    discard: () => 'discarded',
    finish: async () => ({ ref: 'artifact:1' }),
  }
  const run = {
    hold: {},
    sandbox: { process: () => guard },
    records: hasRecords ? { append: (line: never) => lines.push(line), openArtifact: () => file } : undefined,
    inFlight: 1,
    tainted: false,
    backgroundCommands: new Set(),
    earlierCommands: new Set(),
    taintedBeside: () => false,
    taint: (id: string) => tainted.push(id),
  } as unknown as RunState
  const call = new Call({ id: 'c1', run: 'r', wire: 'x.run', caller: 'c', options: {}, input: {} })
  const tool = defineTool({ name: 'x.run', description: 'x', input: {}, capabilities, execute: () => 1 })
  const uses = { commands: [{ value: 'ls', cwd: '/w', env: ['A', 'B'] }] }
  const decided = decidedCall(call, registerable(tool as AnyTool, 'caller'), { uses })
  expect(execHandle(new CallAuthority(runtime, run, decided))).toBe('handle')
  return { command: command!, call, run, lines, ended, added, removed, tainted, clock }
}

afterEach(() => vi.restoreAllMocks())

describe('the commands of a call', () => {
  it('end with it, and know their limits and their place', () => {
    const { command, call, ended } = world()
    expect([command.callId, command.run, command.maxMs]).toEqual(['c1', 'r', undefined])
    expect(command.signal()).toBe(call.signal)
    expect(ended).toEqual([])
    call.end()
    expect(ended).toEqual(['c1'])
  })

  it.each<[string, string, string, string[], boolean]>([
    ['the very one that was judged', 'ls', '/w', ['B', 'A'], true],
    ['with fewer variables', 'ls', '/w', [], true],
    ['with another variable', 'ls', '/w', ['A', 'C'], false],
    ['in another folder', 'ls', '/x', [], false],
    ['with other words', 'ls -l', '/w', [], false],
  ])('may be %s: %s', (_, value, cwd, env, isJudged) => {
    const run = () => world({ rules: [{ deny: 'exec' }] }).command.permits(value, { cwd, env })
    if (isJudged) run()
    else expect(run).toThrow(expect.objectContaining({ code: 'POLICY_DENIED' }))
  })

  it('that are put into the background keep the run open, and are known to the next hub, until they end', async () => {
    const { command, run, lines, added, removed, clock } = world()
    await command.onBackground!('p1', `run ${SECRET}`)
    const shown = expect.stringMatching(/^run \[redacted:[a-z-]+\]$/)
    expect(run.inFlight).toBe(2)
    expect(added).toEqual([
      { id: 'p1', run: 'r', callId: 'c1', command: shown, startedAt: new Date(clock.now()).toISOString() },
    ])
    command.onEnded!('p2', 'other', { code: 0 } as never)
    expect(run.inFlight).toBe(2)
    command.onEnded!('p1', 'run', { code: 3 } as never)
    command.onEnded!('p1', 'run', { code: 3 } as never)
    expect([run.inFlight, removed]).toEqual([1, ['p1']])
    expect(lines).toEqual([
      { type: 'process-started', callId: 'c1', tool: 'x.run', process: 'p1', command: shown },
      { type: 'process-ended', callId: 'c1', tool: 'x.run', process: 'p1', code: 3 },
    ])
  })

  it('have their output among the artifacts of the result, as long as there is none', async () => {
    const { command, call } = world()
    const file = command.keepOutput!()
    expect([await file.read(0, 1), file.discard()]).toEqual(['read', 'discarded'])
    await file.finish({} as never)
    expect(call.report.artifacts).toEqual([{ ref: 'artifact:1' }])
    call.end()
    expect(await file.finish({} as never)).toEqual({ ref: 'artifact:1' })
    expect(call.report.artifacts).toHaveLength(1)
    expect(world({ hasRecords: false }).command.keepOutput).toBeUndefined()
  })

  it('that made something protected are reported, to the owner if the call is over', () => {
    const { command, call, lines } = world()
    const warned: unknown[] = []
    vi.spyOn(process, 'emitWarning').mockImplementation((...args: unknown[]) => void warned.push(args))
    command.onSetAside!({ path: '/w/.git', movedTo: '/w/.git.1' } as never)
    command.onSetAside!({ path: '/w/.git', problem: 'busy' } as never)
    const texts = [
      'A command created /w/.git, which is protected; it was renamed to /w/.git.1.',
      'A command created /w/.git, which is protected; it could not be renamed (busy), so check it.',
    ]
    expect([call.report.notices, warned]).toEqual([texts, []])
    call.end()
    command.onSetAside!({ path: '/w/.git', movedTo: '/w/.git.1' } as never)
    expect([call.report.notices.length, warned]).toEqual([2, [[texts[0], 'ToolHubWarning']]])
    expect(lines).toEqual([{ type: 'call-noticed', callId: call.id, tool: call.name, notice: texts[0] }])
  })
})

describe('the network of a command', () => {
  const url = 'https://a.example/'
  const BOTH: Rule[] = [{ allow: 'network' }, { allow: 'send' }]

  it('is there where the tool declares it, and is judged for reading and for sending', () => {
    expect(world({ capabilities: ['exec'] }).command.connect).toBeUndefined()
    const permits = (rules: Rule[]) => () => world({ rules }).command.connect!.permits(url)
    permits(BOTH)()
    for (const denied of ['network', 'send'] as const)
      expect(permits([...BOTH, { deny: denied }]), denied).toThrow(
        expect.objectContaining({
          code: 'POLICY_DENIED',
          message: expect.stringContaining(`${url} is not allowed by deny`),
        }),
      )
  })

  it('is on record, and what it reaches comes from outside', () => {
    const { command, call, lines, tainted } = world()
    const long = `${url}${'x'.repeat(3_000)}`
    command.connect!.onConnection(long, 'connected')
    expect(lines).toEqual([
      { type: 'command-connected', callId: 'c1', tool: 'x.run', url: long.slice(0, 2_000), outcome: 'connected' },
    ])
    expect([call.report.isUntrusted, tainted, call.report.notices]).toEqual([true, ['c1'], []])
  })

  it('tells five refusals to the caller and two hundred to the record', () => {
    const { command, call, lines } = world()
    const long = `${url}${'x'.repeat(300)}`
    for (let n = 0; n < 250; n++) command.connect!.onConnection(long, 'refused')
    expect(call.report.notices).toEqual(Array(5).fill(`${long.slice(0, 200)}: refused`))
    expect([lines.length, call.report.isUntrusted]).toEqual([200, false])
    command.connect!.onConnection(url, 'connected')
    expect(lines).toHaveLength(201)
    const late = world()
    late.call.end()
    late.command.connect!.onConnection(url, 'refused')
    expect([late.lines.length, late.call.report.notices]).toEqual([1, []])
  })
})
