import { ToolError } from '@tool-hub/core/errors'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { SourceHost, ToolSource } from '../../../core/src/source.ts'
import { defineTool } from '../../../core/src/tool.ts'
import { type TestHub, testHub } from '../../../testing/src/tool-contract.ts'

const hubs: TestHub[] = []

afterEach(async () => {
  await Promise.all(hubs.splice(0).map((hub) => hub.close()))
})

function hubOf(...options: Parameters<typeof testHub>): TestHub {
  const hub = testHub(...options) as unknown as TestHub
  hubs.push(hub)
  return hub
}

const say = (name: string, says = name) =>
  defineTool({ name, description: says, input: { type: 'object' }, execute: () => says })

/** A source whose host the test holds. */
function heldSource(name = 'held'): ToolSource & { host: SourceHost } {
  const source = {
    name,
    host: undefined as unknown as SourceHost,
    start(host: SourceHost) {
      source.host = host
    },
  }
  return source
}

describe('a source of tools', () => {
  it('brings tools, replaces them as a whole, and takes them along when it goes', async () => {
    const source = heldSource()
    const hub = hubOf()
    const disconnect = hub.connect(source)
    source.host.offer([say('a.one'), say('a.two')])
    expect((await hub.callDynamic('a.two', {})).data).toBe('a.two')
    source.host.offer([say('a.one', 'again')])
    expect((await hub.callDynamic('a.one', {})).data).toBe('again')
    expect((await hub.callDynamic('a.two', {})).error?.code).toBe('TOOL_NOT_FOUND')
    await disconnect()
    expect((await hub.callDynamic('a.one', {})).error?.code).toBe('TOOL_NOT_FOUND')
    expect(source.host.offer([say('a.one')])).toEqual([])
    expect((await hub.callDynamic('a.one', {})).error?.code).toBe('TOOL_NOT_FOUND')
  })

  it('leaves out what it cannot bring, says why, and brings the rest', async () => {
    const source = heldSource()
    const hub = hubOf({ tools: [say('mine.own', 'the caller')] })
    hub.connect(source)
    const tools = [say('b.good'), say('b.good', 'twice'), say('core/fs.readText'), say('no name'), say('mine.own')]
    expect(source.host.offer(tools).map(({ name }) => name)).toEqual(['b.good', 'core/fs.readText', 'no name'])
    expect((await hub.callDynamic('b.good', {})).data).toBe('b.good')
    expect((await hub.callDynamic('mine.own', {})).data).toBe('the caller')
  })

  it('restores what it had replaced', async () => {
    const source = heldSource()
    const hub = hubOf()
    const disconnect = hub.connect(source)
    source.host.offer([{ ...say('core/util.time.now', 'noon'), override: true }, say('read', 'mine')])
    expect((await hub.callDynamic('core/util.time.now', {})).data).toBe('noon')
    expect((await hub.callDynamic('read', {})).data).toBe('mine')
    await disconnect()
    expect((await hub.callDynamic('core/util.time.now', {})).data).not.toBe('noon')
    expect(hub.registry.get('read')?.name).toBe('core/fs.readText')
  })

  it('keeps calls waiting for what is on its way, and no others', async () => {
    const source = heldSource()
    const hub = hubOf()
    hub.connect(source)
    let resolve = () => {}
    source.host.expect('late.', new Promise<void>((arrived) => (resolve = arrived)))
    const waiting = hub.callDynamic('late.tool', {})
    expect((await hub.callDynamic('other.tool', {})).error?.code).toBe('TOOL_NOT_FOUND')
    expect((await hub.callDynamic('late.tool', {}, { signal: AbortSignal.abort() })).status).toBe('aborted')
    source.host.offer([say('late.tool')])
    resolve()
    expect((await waiting).data).toBe('late.tool')
  })

  it('tells why what it promised is not there', async () => {
    const source = heldSource()
    const hub = hubOf()
    hub.connect(source)
    const problem = new ToolError('EXEC_FAILED', 'The server late went away.')
    source.host.expect('late.', Promise.reject(problem), () => problem)
    expect((await hub.callDynamic('late.tool', {})).error).toMatchObject({ code: 'EXEC_FAILED' })
    await hub.ready({ all: true })
  })

  it('that fails to start is reported, and takes nothing down', async () => {
    const warn = vi.spyOn(process, 'emitWarning').mockReturnValue()
    const hub = hubOf({ sources: [{ name: 'broken', start: () => Promise.reject(new Error('no power')) }] })
    await hub.ready()
    expect(warn).toHaveBeenCalledWith(expect.stringMatching(/broken.*no power/), 'ToolHubWarning')
    expect((await hub.callDynamic('core/util.time.now', {})).ok).toBe(true)
    warn.mockRestore()
  })

  it('notifies listeners each time the list of tools changes', () => {
    const source = heldSource()
    const hub = hubOf()
    hub.connect(source)
    const before = hub.cards()
    expect(hub.cards()).toBe(before)
    let changes = 0
    const stop = hub.onToolsChanged(() => changes++)
    source.host.offer([say('a.one')])
    expect(hub.cards()).toHaveLength(before.length + 1)
    expect(hub.cards().find(({ tool }) => tool === 'a.one')).toMatchObject({ name: 'a_one', capabilities: [] })
    stop()
    source.host.offer([])
    expect(changes).toBe(1)
  })

  it('hides what it says is secret, from then on', async () => {
    const source = heldSource()
    const hub = hubOf()
    hub.connect(source)
    source.host.offer([say('a.one', 'the word is open-sesame-42')])
    source.host.hide(['open-sesame-42'])
    expect((await hub.callDynamic('a.one', {})).data).not.toContain('sesame')
  })

  it('adds the wishes of skills to what approvers of a run see, and allows nothing', async () => {
    const source = heldSource()
    const seen: (readonly string[])[] = []
    const hub = hubOf({
      approve: ({ requests }) => {
        seen.push(requests)
        return { decision: 'deny' }
      },
    })
    hub.connect(source)
    source.host.offer([defineTool({ ...say('far.away'), capabilities: ['remote'] })])
    source.host.request(undefined, { skill: 'courier', wants: ['far.away'] })
    source.host.request('run-b', { skill: 'courier', wants: ['far.away'] })
    expect((await hub.callDynamic('far.away', {}, { run: 'run-a' })).status).toBe('denied')
    expect((await hub.callDynamic('far.away', {}, { run: 'run-b' })).status).toBe('denied')
    expect(seen).toEqual([[], ['skill courier requests far.away']])
    const { text, effect } = await hub.explain('far.away', {}, { run: 'run-a' })
    expect(effect).toBe('ask')
    expect(text).toContain('skill courier requests far.away once it is loaded (a wish, not a grant)')
  })
})

describe('a tool in doubt', () => {
  const doubted = (doubt: string) => defineTool({ ...say('far.changed'), doubt })

  it('asks and shows the doubt, though a rule allows it; a yes holds for this doubt only', async () => {
    const source = heldSource()
    const reasons: string[] = []
    const hub = hubOf({
      policy: [{ allow: 'far.changed' }],
      approve: ({ reason }) => {
        reasons.push(reason)
        return { decision: 'allow', remember: 'session', covers: 'targets' }
      },
    })
    hub.connect(source)
    source.host.offer([doubted('its description changed')])
    for (const _ of [1, 2]) expect((await hub.callDynamic('far.changed', {})).ok).toBe(true)
    source.host.offer([doubted('it changed again')])
    expect((await hub.callDynamic('far.changed', {})).ok).toBe(true)
    expect(reasons).toEqual(['its description changed', 'it changed again'])
  })

  it('stays denied where it is denied', async () => {
    const hub = hubOf({ tools: [doubted('odd')], policy: [{ deny: 'far.changed' }] })
    expect((await hub.callDynamic('far.changed', {})).error?.code).toBe('POLICY_DENIED')
  })
})

describe('what acts elsewhere', () => {
  it('asks unless a rule allows it, and its results count as content from outside', async () => {
    const tool = defineTool({
      ...say('far.away'),
      capabilities: ['remote'],
      targets: () => ({ remote: 'mcp:far/away' }),
    })
    const hub = hubOf({ tools: [tool], approve: undefined })
    expect((await hub.callDynamic('far.away', {})).error?.code).toBe('APPROVAL_UNAVAILABLE')
    const allowed = hubOf({ tools: [tool], policy: [{ allow: 'remote', on: 'mcp:far/*' }], approve: undefined })
    const result = await allowed.callDynamic('far.away', {})
    expect(result).toMatchObject({ ok: true, meta: { labels: ['untrusted'] } })
  })
})

describe('the options of one call', () => {
  const ask = defineTool({
    name: 'a.ask',
    description: 'Asks.',
    input: { type: 'object' },
    execute: async (_, ctx) => {
      const form = { type: 'object', properties: { size: { type: 'integer' } }, required: ['size'] }
      return (await ctx.ask({ question: 'How big?', form })).values ?? null
    },
  })

  it('bring an approver, who may leave it to the others', async () => {
    const tool = defineTool({ ...say('far.away'), capabilities: ['remote'] })
    const hub = hubOf({ tools: [tool], approve: () => ({ decision: 'deny', by: 'the hub' }) })
    const yes = await hub.call(tool, {}, { approve: () => ({ decision: 'allow', by: 'the caller' }) })
    expect(yes.meta.approvedBy).toBe('the caller')
    const left = await hub.call(tool, {}, { approve: () => undefined })
    expect(left.error?.message).toContain('the hub refused')
    const lonely = hubOf({ tools: [tool], approve: undefined })
    expect((await lonely.call(tool, {}, { approve: () => undefined })).status).toBe('approval_required')
    const stop = lonely.approvals.watch(
      ({ id }) => void lonely.approvals.reply(id, { decision: 'allow', by: 'a watcher' }),
    )
    expect((await lonely.call(tool, {}, { approve: () => undefined })).meta.approvedBy).toBe('a watcher')
    stop()
  })

  it('bring who fills in a form, which is checked', async () => {
    const hub = hubOf({ tools: [ask] })
    expect((await hub.call(ask, {}, { onQuestion: () => ({ size: 3 }) })).data).toEqual({ size: 3 })
    expect((await hub.call(ask, {}, { onQuestion: () => ({ size: 'big' }) })).error?.message).toMatch(/form/)
    expect((await hub.call(ask, {})).error?.code).toBe('APPROVAL_UNAVAILABLE')
  })

  it('bring a listener for its events', async () => {
    const seen: string[] = []
    const hub = hubOf({
      tools: [
        defineTool({
          ...say('a.slow'),
          execute: (_, ctx) => {
            ctx.pending('somebody else does it')
            return 1
          },
        }),
      ],
    })
    await hub.callDynamic('a.slow', {}, { onEvent: ({ type }) => seen.push(type) })
    expect(seen).toEqual(['call-started', 'call-pending', 'call-ended'])
  })
})

describe('a source that is required', () => {
  it('lets no call pass while it starts, and none once it has failed; others fail alone', async () => {
    const warn = vi.spyOn(process, 'emitWarning').mockReturnValue()
    const failing = { name: 'guard', required: true, start: () => Promise.reject(new Error('no \u001b[2J power')) }
    const hub = hubOf({ sources: [failing] })
    expect((await hub.callDynamic('core/util.time.now', {})).error?.message).toMatch(/guard.*power/)
    expect(hub.check()).toContainEqual(expect.objectContaining({ level: 'error', source: 'source guard' }))
    expect(String(warn.mock.calls)).not.toContain('\u001b')
    let begin = () => {}
    const slow = { name: 'slow', required: true, start: () => new Promise<void>((resolve) => (begin = resolve)) }
    const waiting = hubOf({ sources: [slow] })
    const call = waiting.callDynamic('core/util.time.now', {})
    begin()
    expect((await call).ok).toBe(true)
    warn.mockRestore()
  })
})

describe('the names of sources', () => {
  it('that rules write down for one belong to it alone', () => {
    const hub = hubOf()
    const [stranger, mcp] = [heldSource('stranger'), heldSource('mcp')]
    hub.connect(stranger)
    hub.connect(mcp)
    const wanted = ['mcp/github.create_issue', 'mcp_github_x', 'core/skill.list', 'own.tool'].map((name) => say(name))
    expect(stranger.host.offer(wanted).map(({ name }) => name)).toEqual(wanted.slice(0, 3).map(({ name }) => name))
    expect(mcp.host.offer([say('mcp/github.create_issue')])).toEqual([])
  })

  it('are placed again when one goes, whatever order they came in', async () => {
    const hub = hubOf()
    const source = heldSource('first')
    hub.connect(source)
    const withDialect = { ...say('a.one'), dialects: { coding: { name: 'foo' } } }
    source.host.offer([withDialect])
    hub.registry.register(say('foo', 'the caller'))
    source.host.offer([withDialect, say('a.two')])
    const other = heldSource('second')
    hub.connect(other)
    other.host.offer([say('b.one')])
    other.host.offer([])
    for (const name of ['a.one', 'a.two']) expect((await hub.callDynamic(name, {})).ok).toBe(true)
    expect((await hub.callDynamic('foo', {})).data).toBe('the caller')
  })

  it('that have not arrived are no mistake in rules and lists', () => {
    const hub = hubOf({
      policy: [{ allow: 'mcp/far.tool' }, { allow: 'group:mcp' }, { allow: 'mcp/nobody.tool' }],
      visibility: { allow: ['mcp/far.tool'] },
    })
    const source = heldSource('mcp')
    hub.connect(source)
    source.host.expect('mcp/far.', new Promise(() => {}))
    expect(hub.check().filter(({ level }) => level === 'error')).toEqual([
      expect.objectContaining({ message: expect.stringContaining('mcp/nobody.tool') }),
    ])
  })
})

describe('an MCP server that cannot be started', () => {
  it('is reported once as a warning, and by check() as long as it is missing', async () => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
    const hub = testHub({ mcpServers: { bad: { command: 'nope-not-there' } } })
    try {
      await hub.ready({ all: true })
      expect(warn.mock.calls).toEqual([
        [expect.stringMatching(/^The tools mcp\/bad\.\* are missing: .*nope-not-there/), 'ToolHubWarning'],
      ])
      expect(hub.check()).toEqual([
        expect.objectContaining({
          level: 'error',
          source: 'tools mcp/bad.*',
          message: expect.stringContaining('nope-not-there'),
        }),
      ])
    } finally {
      warn.mockRestore()
      await hub.close()
    }
  })
})
