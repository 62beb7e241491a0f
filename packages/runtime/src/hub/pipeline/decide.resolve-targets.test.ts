import { ToolError } from '@tool-hub/core/errors'
import { describe, expect, it } from 'vitest'
import { validCall } from '../../../../../test/support/call-stages.ts'
import { sha256 } from '../../../../core/src/lib/hash.ts'
import { type AnyTool, type Capability, defineTool, type TargetFacts } from '../../../../core/src/tool.ts'
import { createRedactor } from '../../records/redaction/redact.ts'
import type { RunState } from '../run-state.ts'
import type { Runtime } from '../runtime.ts'
import { Call } from './call.ts'
import { resolveTargets, targetLines } from './decide.ts'
import { registerable } from './registered-tool.ts'

const ALL: Capability[] = ['read:fs', 'write:fs', 'danger:destructive', 'network', 'send', 'exec', 'memory', 'remote']

/** What a call of a tool that states these targets touches; the guards say what they were asked. */
async function resolved(stated: unknown, { capabilities = ALL, known = [] as string[] } = {}) {
  const sandbox = {
    files: () => ({
      resolve: (path: string, use: string) => `${use} /root/${path}`,
      present: (path: string) => (path === 'absent' ? undefined : `/root/${path}`),
      handle: () => ({ stat: () => Promise.reject(new ToolError('NOT_FOUND', 'Nothing is there.')) }),
    }),
    network: () => ({ resolve: (url: string) => new URL(url).href }),
    process: () => ({
      report: async () => ({ level: 'full' }),
      place: (cwd = '.') => ({ cwd: `/root/${cwd}`, roots: [] }),
    }),
    sandboxLevel: async () => 'namespaces',
  }
  const run = { sandbox, seen: new Map(known.map((path) => [`/root/${path}`, 'hash'])) } as unknown as RunState
  let isReady = false
  const readyForCommands = async () => {
    isReady = true
  }
  const runtime = { commands: { ready: readyForCommands, secondParser: async () => undefined } } as unknown as Runtime
  const call = new Call({ id: 'c1', run: 'r', wire: 'x.y', caller: 'c', options: {}, input: { a: 1 } })
  const targets = typeof stated === 'function' ? stated : stated === undefined ? undefined : () => stated
  const plain = defineTool({ name: 'x.y', description: 'x', input: {}, capabilities, execute: () => 1 })
  const valid = validCall(call, registerable({ ...plain, targets } as AnyTool, 'caller'))
  await resolveTargets(runtime, run, valid)
  return { call: valid, isReady, lines: valid.targets.map(({ capability, value }) => `${capability} ${value}`) }
}

const refusal = (stated: unknown, capabilities = ALL) =>
  resolved(stated, { capabilities }).then(
    () => undefined,
    (error: ToolError) => `${error.code} ${error.message}`,
  )

describe('what a call touches', () => {
  it.each<[Capability, string, string]>([
    ['read:fs', 'a', 'read /root/a'],
    ['write:fs', 'a', 'write /root/a'],
    ['danger:destructive', 'a', 'write /root/a'],
    ['network', 'https://A.example', 'https://a.example/'],
    ['send', 'https://A.example', 'https://a.example/'],
    ['exec', 'ls -l', 'ls -l'],
    ['memory', 'a', 'a'],
    ['remote', 'mcp:a/b', 'mcp:a/b'],
  ])('by %s is what its guard makes of it', async (capability, value, real) => {
    expect((await resolved({ [capability]: value })).lines).toEqual([`${capability} ${real}`])
    expect((await resolved({ [capability]: [value, value] })).lines).toHaveLength(2)
  })

  it('that destroys something else than files is named as the tool names it', async () => {
    const capabilities: Capability[] = ['danger:destructive']
    expect((await resolved({ 'danger:destructive': 'a' }, { capabilities })).lines).toEqual(['danger:destructive a'])
  })

  it('uses the capabilities of its tool, but those that it states without any target', async () => {
    const capabilities: Capability[] = ['memory', 'read:fs']
    const used = async (stated: unknown) => (await resolved(stated, { capabilities })).call.capabilities
    expect(await used(undefined)).toEqual(['memory', 'read:fs'])
    expect(await used({})).toEqual(['memory', 'read:fs'])
    expect(await used({ memory: undefined })).toEqual(['memory', 'read:fs'])
    expect(await used({ memory: [] })).toEqual(['read:fs'])
    expect(await used({ memory: 'x' })).toEqual(['memory', 'read:fs'])
  })

  it.each<[string, unknown, string]>([
    [
      'an undeclared capability',
      { canvas: 'a' },
      'INTERNAL targets() of x.y names canvas, which the tool does not declare.',
    ],
    ['a number', { memory: 7 }, 'INPUT_SCHEMA_INVALID A target of memory must be a string, got number.'],
    [
      'a command for a path',
      { 'read:fs': { command: 'ls' } },
      'INPUT_SCHEMA_INVALID A target of read:fs must be a string, got object.',
    ],
    ['a list of its own', [], 'INTERNAL targets() of x.y must return a plain object, not a promise.'],
  ])('is not %s', async (_, stated, message) => {
    expect(await refusal(stated)).toBe(message)
  })

  it('is at most 1,000 targets, and the call is to be split', async () => {
    const many = (length: number) => ({ memory: Array.from({ length }, (_, at) => `${at}`) })
    expect((await resolved(many(1_000))).lines).toHaveLength(1_000)
    await expect(resolved(many(1_001))).rejects.toMatchObject({ fix: { hint: 'Split the call into smaller ones.' } })
  })

  it('knows what the run has not read', async () => {
    const seen: boolean[] = []
    const stating =
      (path: string) =>
      (_: unknown, { isUnread }: TargetFacts) => {
        seen.push(isUnread(path))
        return {}
      }
    expect((await resolved(stating('a'))).call.unread).toBe('a')
    expect((await resolved(stating('a'), { known: ['a'] })).call.unread).toBeUndefined()
    expect((await resolved(stating('absent'))).call.unread).toBeUndefined()
    expect(seen).toEqual([true, false, false])
  })
})

describe('the commands of a call', () => {
  it.each<[string, unknown]>([
    ['a number', 7],
    ['nothing', {}],
    ['both forms', { command: 'ls', argv: ['ls'] }],
    ['no words', { argv: [] }],
    ['a word that is a number', { argv: ['ls', 7] }],
    ['words in a text', { argv: 'ls' }],
    ['a line that is a number', { command: 7 }],
    ['null', null],
  ])('are not %s', async (_, command) => {
    expect(await refusal({ exec: [command] })).toBe(
      'INPUT_SCHEMA_INVALID A command must be a bash command line, or a list of arguments that run without a shell.',
    )
  })

  it('are read, each in its folder and with its variables', async () => {
    const { call, isReady } = await resolved({
      exec: ['ls -l', { argv: ['make', 'all'], cwd: 'sub', env: ['A'] }, { command: 'ls -l', cwd: 'sub' }],
    })
    expect([isReady, call.sandbox]).toEqual([true, 'full'])
    expect(call.commands).toEqual([
      { value: 'ls -l', cwd: '/root/.', env: [] },
      { value: 'make all', cwd: '/root/sub', env: ['A'] },
      { value: 'ls -l', cwd: '/root/sub', env: [] },
    ])
    // The same words in two folders are judged as one.
    expect([...call.readings].map(([value, { parts }]) => [value, parts.length])).toEqual([
      ['ls -l', 2],
      ['make all', 1],
    ])
  })

  it('that are none need no folder, only the level of the sandbox', async () => {
    for (const stated of [undefined, { memory: 'x' }]) {
      const { call } = await resolved(stated, { capabilities: ['exec', 'memory'] })
      expect([call.sandbox, call.commands]).toEqual(['namespaces', []])
    }
    const unused = await resolved({ exec: [] })
    expect([unused.call.sandbox, unused.call.capabilities.includes('exec')]).toEqual([undefined, false])
    expect((await resolved(undefined, { capabilities: ['memory'] })).call.sandbox).toBeUndefined()
    expect((await resolved({ memory: 'x' }, { capabilities: ['memory'] })).isReady).toBe(false)
  })
})

it('the lines of targets hide secrets, and keep two apart by their hash', () => {
  const SECRET = 'the-owners-own-secret'
  const runtime = { redactor: createRedactor({ values: [SECRET] }) } as unknown as Runtime
  const call = new Call({ id: 'c1', run: 'r', wire: 'x.y', caller: 'c', options: {}, input: {} })
  const valid = validCall(call)
  valid.targets = [
    { capability: 'memory', value: 'plain' },
    { capability: 'memory', value: `a ${SECRET}` },
  ]
  const [plain, hidden] = targetLines(runtime, valid)
  expect(plain).toBe('memory plain')
  expect(hidden).toMatch(/^memory a \[redacted:[a-z-]+\] \([0-9a-f]{16}\)$/)
  expect(hidden).toContain(sha256(`a ${SECRET}`).slice(0, 16))
})
