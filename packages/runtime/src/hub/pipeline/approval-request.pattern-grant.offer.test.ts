import { describe, expect, it } from 'vitest'
import { validCall } from '../../../../../test/support/call-stages.ts'
import { type AnyTool, type Capability, defineTool } from '../../../../core/src/tool.ts'
import { compilePolicy } from '../../../../policy/src/compile-policy.ts'
import type { RunState } from '../run-state.ts'
import type { Runtime } from '../runtime.ts'
import { patternOf } from './approval-request.ts'
import { Call } from './call.ts'
import { decideCall } from './decide.ts'
import { registerable } from './registered-tool.ts'

interface Offered {
  readonly name?: string
  readonly capability?: Capability
  readonly values: readonly string[]
  readonly input?: unknown
  readonly tool?: Record<string, unknown>
  readonly effect?: 'ask' | 'allow'
}

/** The pattern that is offered with the approval of a call on these targets. */
function offered({ name = 'x.save', capability = 'write:fs', values, input, tool, effect = 'ask' }: Offered) {
  const owner = [{ rule: { [effect]: capability } as never, source: { file: 'policy', index: 0 }, base: '/' }]
  const runtime = {
    policy: compilePolicy({ owner }),
    sources: { requests: new Map() },
    settings: { isSandboxRequired: false },
  } as unknown as Runtime
  const call = new Call({ id: 'c1', run: 'r', wire: name, caller: 'c', options: {}, input })
  const plain = defineTool({ name, description: 'x', input: {}, capabilities: [capability], execute: () => 1 })
  const targets = values.map((value) => ({ capability, value }))
  const registered = registerable({ ...plain, ...tool } as AnyTool, 'caller')
  const valid = validCall(call, registered, { capabilities: [capability], targets })
  const run = { tainted: false } as RunState
  return patternOf(runtime, run, decideCall(runtime, run, valid))
}

describe('the pattern of a folder', () => {
  const inFolder = (path: unknown, value = `/root/${path}`) => offered({ values: [value], input: { path } })

  it('is the folder that the call spells out below the root', () => {
    expect(inFolder('docs/a.md')).toEqual({ on: ['/root/docs/**'], shown: 'x.save in docs/' })
    expect(inFolder('docs/deep/a.md')).toEqual({ on: ['/root/docs/deep/**'], shown: 'x.save in docs/deep/' })
    expect(inFolder('a..b/.c/d.md')).toMatchObject({ shown: 'x.save in a..b/.c/' })
    expect(inFolder('a~/b.md')).toMatchObject({ shown: 'x.save in a~/' })
  })

  it.each([
    ['a.md'],
    ['/etc/a.md'],
    ['~/a.md'],
    ['../docs/a.md'],
    ['docs/../a.md'],
    ['docs/..'],
    ['./docs/a.md'],
    ['docs/./a.md'],
    [7],
  ])('is none for %s', (path) => {
    expect(inFolder(path)).toBeUndefined()
  })

  it('is none where the file is elsewhere, one of several, or not spelled out', () => {
    expect(inFolder('docs/a.md', '/elsewhere/a.md')).toBeUndefined()
    expect(inFolder('docs/a.md', '/root/otherdocs/a.md')).toBeUndefined()
    expect(offered({ values: ['/root/docs/a.md', '/root/docs/b.md'], input: { path: 'docs/a.md' } })).toBeUndefined()
    expect(offered({ values: ['/root/docs/a.md', '/root/docs/a.md'], input: { path: 'docs/a.md' } })).toBeDefined()
    expect(offered({ values: ['/root/docs/a.md'], input: 'docs/a.md' })).toBeUndefined()
    expect(offered({ values: [], input: { path: 'docs/a.md' } })).toBeUndefined()
  })

  it('is none for what is remote', () => {
    const values = ['https://a.example/docs/a.md']
    expect(offered({ capability: 'remote', values, input: { path: 'docs/a.md' } })).toBeUndefined()
  })

  it.each([
    [['https://a.example/docs/a.md', 'https://a.example/b'], 'https://a.example/**'],
    [['http://a.example:8080/'], 'http://a.example:8080/**'],
    [['https://a.example/', 'https://b.example/'], undefined],
    [['https://[::1]/'], undefined],
    // What has a meaning in patterns may stand in a host, and other signs with it.
    [['https://a_b.example/'], undefined],
    [['https://a*.example/'], undefined],
    [['https://a.example*/'], undefined],
    [['https://{a,b}.example/'], undefined],
    [['ftp://a.example/'], undefined],
    [['not an address'], undefined],
    [[], undefined],
  ])('of the addresses %j is %s', (values, pattern) => {
    expect(offered({ capability: 'network', values, input: {} })?.on).toEqual(pattern && [pattern])
  })

  it('is none for a tool in doubt, or a call that is not asked', () => {
    const of = { values: ['/root/docs/a.md'], input: { path: 'docs/a.md' } }
    expect(offered({ ...of, tool: { doubt: 'It changed.' } })).toBeUndefined()
    expect(offered({ ...of, effect: 'allow' })).toBeUndefined()
  })
})

describe('the pattern of an MCP server', () => {
  const ofServer = (name: string, ...values: string[]) => offered({ name, capability: 'remote', values })
  const every = { on: ['mcp:every/*'], shown: 'mcp:every/*', tools: 'mcp/every.' }

  it('is all tools of the server', () => {
    expect(ofServer('mcp/every.echo', 'mcp:every/echo')).toEqual(every)
    expect(ofServer('mcp/every.echo', 'mcp:every/echo', 'mcp:every/sum')).toEqual(every)
    expect(ofServer('mcp/a-b_1.echo', 'mcp:a-b_1/echo')).toMatchObject({ shown: 'mcp:a-b_1/*' })
  })

  it('is none for other tools, and none for the target of another server', () => {
    expect(ofServer('x/mcp/every.echo', 'mcp:every/echo')).toBeUndefined()
    expect(ofServer('mcp/every', 'mcp:every/echo')).toBeUndefined()
    expect(ofServer('mcp/every.echo', 'mcp:other/echo')).toBeUndefined()
    expect(ofServer('mcp/every.echo', 'mcp:every/echo', 'mcp:other/echo')).toBeUndefined()
    expect(ofServer('mcp/every.echo')).toBeUndefined()
    expect(ofServer('mcp/undefined', 'mcp:undefined/echo')).toBeUndefined()
  })
})
