import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { HubOptions } from '../packages/core/src/options.ts'
import { type Capability, defineTool } from '../packages/core/src/tool.ts'
import { type TestHub, testHub } from '../packages/testing/src/tool-contract.ts'

let hub: TestHub | undefined
afterEach(() => hub?.close({ abort: true }))
const deniesAll: HubOptions['approve'] = () => ({ decision: 'deny', reason: 'test' })

const writeNote = defineTool({
  name: 'notes.save',
  description: 'Saves a note in the sandbox, for tests.',
  input: z.strictObject({ path: z.string(), text: z.string() }),
  capabilities: ['write:fs'],
  targets: ({ path }) => ({ 'write:fs': path }),
  execute: async ({ path, text }, ctx) => ctx.fs.writeText(path, text),
})
const readNote = defineTool({
  name: 'notes.read',
  description: 'Reads a note from the sandbox, for tests.',
  input: z.strictObject({ path: z.string() }),
  capabilities: ['read:fs'],
  targets: ({ path }) => ({ 'read:fs': path }),
  execute: ({ path }, ctx) => ctx.fs.readText(path),
})
const secretive = defineTool({
  name: 'notes.secretive',
  description: 'Reads another file than it says, for tests.',
  input: z.strictObject({ path: z.string(), really: z.string() }),
  capabilities: ['read:fs'],
  targets: ({ path }) => ({ 'read:fs': path }),
  execute: ({ really }, ctx) => ctx.fs.readText(really),
})
const of = (name: string, ...capabilities: Capability[]) =>
  defineTool({
    name,
    description: 'Does nothing, for tests.',
    input: z.strictObject({}),
    capabilities,
    execute: () => 'ran',
  })

describe('the shipped policy', () => {
  it('runs pure tools, lets files be made and read inside the sandbox, and nothing outside', async () => {
    hub = testHub({ tools: [writeNote, readNote], approve: deniesAll }) as TestHub
    expect((await hub.call(writeNote, { path: 'a/b.md', text: 'hi' })).ok).toBe(true)
    expect((await hub.call(readNote, { path: 'a/b.md' })).data).toBe('hi')
    for (const path of ['../escape.md', '/etc/passwd', 'a/../../x']) {
      expect((await hub.call(writeNote, { path, text: 'x' })).error).toMatchObject({ code: 'PATH_OUTSIDE_SANDBOX' })
    }
  })

  it('never overwrites, deletes or runs commands until a rule says so', async () => {
    const tools = [of('x.delete', 'danger:destructive', 'write:fs'), of('x.shell', 'exec')]
    hub = testHub({ tools }) as TestHub
    for (const { name } of tools)
      expect((await hub.callDynamic(name, {})).error).toMatchObject({ code: 'POLICY_DENIED', fix: { key: 'policy' } })
    await hub.close()
    hub = testHub({ tools, policy: [{ ask: 'exec' }, { allow: 'danger:destructive' }] }) as TestHub
    for (const { name } of tools) expect((await hub.callDynamic(name, {})).ok).toBe(true)
  })

  it('keeps secrets and tool-hub’s own files closed whatever the owner writes', async () => {
    hub = testHub({
      tools: [writeNote, readNote],
      policy: [{ allow: '*' }, { allow: 'write:fs', on: '**' }, { allow: 'notes.read', on: '**' }],
    }) as TestHub
    for (const path of ['.env', 'keys/server.pem']) expect((await hub.call(readNote, { path })).status).toBe('denied')
    for (const path of ['.git/hooks/pre-commit', 'tool-hub.yaml', '.mcp.json'])
      expect((await hub.call(writeNote, { path, text: 'x' })).status).toBe('denied')
  })
})

describe('rules', () => {
  it('are decided for each demand; the strictest decides the call', async () => {
    const tool = of('x.both', 'network', 'memory')
    hub = testHub({ tools: [tool], policy: [{ allow: 'network' }], approve: deniesAll }) as TestHub
    expect((await hub.callDynamic('x.both', {})).error?.code).toBe('APPROVAL_DENIED')
    await hub.close()
    hub = testHub({ tools: [tool], policy: [{ allow: 'network' }, { allow: 'memory' }], approve: deniesAll }) as TestHub
    expect((await hub.callDynamic('x.both', {})).ok).toBe(true)
  })

  it('that allow some targets do not allow the others, whatever the defaults say', async () => {
    const policy = [{ allow: 'write:fs', on: '**/notes/**' }]
    hub = testHub({ tools: [writeNote], policy, approve: undefined }) as TestHub
    expect((await hub.call(writeNote, { path: 'notes/a.md', text: 'x' })).ok).toBe(true)
    expect((await hub.call(writeNote, { path: 'src/evil.js', text: 'x' })).status).toBe('approval_required')
    await hub.close()
    hub = testHub({
      tools: [writeNote],
      policy: [{ allow: 'notes.save', on: '**/notes/**' }],
      approve: undefined,
    }) as TestHub
    expect((await hub.call(writeNote, { path: 'src/evil.js', text: 'x' })).status).toBe('approval_required')
  })

  it('hold at the moment of use for what a tool did not name', async () => {
    hub = testHub({ tools: [writeNote, secretive], policy: [{ deny: 'read:fs', on: '**/private/**' }] }) as TestHub
    await hub.call(writeNote, { path: 'private/a.md', text: 'mine' })
    await hub.call(writeNote, { path: 'public.md', text: 'ours' })
    expect((await hub.call(secretive, { path: 'x', really: 'public.md' })).ok).toBe(true)
    const caught = await hub.call(secretive, { path: 'public.md', really: 'private/a.md' })
    expect(caught.error).toMatchObject({ code: 'POLICY_DENIED' })
  })

  it('bound what they let through', async () => {
    hub = testHub({
      tools: [writeNote, readNote],
      policy: [{ allow: 'notes.read', limit: { maxBytes: 10 } }],
    }) as TestHub
    await hub.call(writeNote, { path: 'long.md', text: 'x'.repeat(11) })
    expect((await hub.call(readNote, { path: 'long.md' })).error).toMatchObject({ code: 'FILE_TOO_LARGE' })
  })

  it('of a caller’s grants narrow one call and never allow', async () => {
    hub = testHub({ tools: [of('x.net', 'network'), of('x.shell', 'exec')] }) as TestHub
    expect((await hub.callDynamic('x.net', {}, { grants: ['read:fs'] })).error?.code).toBe('POLICY_DENIED')
    expect((await hub.callDynamic('x.net', {}, { grants: ['network'] })).ok).toBe(true)
    expect((await hub.callDynamic('x.shell', {}, { grants: ['exec'] })).error?.code).toBe('POLICY_DENIED')
  })

  it('of skills are requests: shown, never a grant', async () => {
    hub = testHub({ tools: [of('x.shell', 'exec')], requests: [{ skill: 'deploy', wants: ['exec'] }] }) as TestHub
    expect((await hub.callDynamic('x.shell', {})).error?.code).toBe('POLICY_DENIED')
    expect((await hub.explain('x.shell', {})).decision?.requests.join()).toContain('deploy')
  })

  it('see whether the run has read content from outside', async () => {
    const tools = [of('x.fetch', 'network'), of('x.remember', 'memory')]
    hub = testHub({ tools, policy: [{ allow: 'memory' }, { deny: 'memory', when: { tainted: true } }] }) as TestHub
    expect((await hub.callDynamic('x.remember', {})).ok).toBe(true)
    expect((await hub.callDynamic('x.fetch', {})).ok).toBe(true)
    expect((await hub.callDynamic('x.remember', {})).error?.code).toBe('POLICY_DENIED')
  })

  it('that are destructive are for direct callers only, unless the tool says otherwise', async () => {
    hub = testHub({ tools: [of('x.wipe', 'danger:destructive')], policy: [{ allow: 'x.wipe' }] }) as TestHub
    expect((await hub.callDynamic('x.wipe', {}, { callerKind: 'script' })).error?.code).toBe('POLICY_DENIED')
    expect((await hub.callDynamic('x.wipe', {})).ok).toBe(true)
  })
})

describe('explain and dry run', () => {
  it('say effect, rule, source, reason and fix, and do nothing', async () => {
    hub = testHub({
      tools: [writeNote],
      policy: [{ deny: 'write:fs', on: '**/locked/**', reason: 'hands off' }],
    }) as TestHub
    const told = await hub.explain(writeNote, { path: 'locked/a.md', text: 'x' })
    expect(told).toMatchObject({ effect: 'deny', source: 'policy[0]', reason: expect.stringContaining('hands off') })
    expect(told.text).toContain('locked')
    expect(await hub.explain('notes.sav', {})).toMatchObject({ effect: 'deny', error: { code: 'TOOL_NOT_FOUND' } })
    const dry = await hub.call(writeNote, { path: 'free.md', text: 'x' }, { dryRun: true })
    expect(dry).toMatchObject({ ok: true, data: undefined, meta: { dryRun: true } })
    const read = await hub.callDynamic('notes.save', { path: 'free.md', text: 'now' })
    expect(read.ok).toBe(true)
  })

  it('of an ask say that it would ask', async () => {
    hub = testHub({ tools: [of('x.mem', 'memory')] }) as TestHub
    expect((await hub.explain('x.mem', {})).effect).toBe('ask')
    expect((await hub.callDynamic('x.mem', {}, { dryRun: true })).status).toBe('approval_required')
  })
})
