import type { Client } from '@modelcontextprotocol/client'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { eventsOf } from '../../../../../test/support/events-of.ts'
import { type FormReply, useServedHubs } from '../../../../../test/support/mcp-served.ts'
import { defineTool } from '../../../../core/src/tool.ts'
import { fakeClock } from '../../../../testing/src/fake-clock.ts'

const { serve: serveHub, connect } = useServedHubs()
/** Nobody is known here, and yet asked. */
const serve: typeof serveHub = (options, serving) => serveHub(options, { elicitation: true, ...serving })
const ERAS = ['legacy', 'modern'] as const

/** A tool that policy asks about, and how often it ran. */
function shredder() {
  const shredded: string[] = []
  const tool = defineTool({
    name: 'paper.shred',
    description: 'Destroys a paper.',
    input: z.strictObject({ paper: z.string() }),
    capabilities: ['danger:destructive'],
    targets: ({ paper }) => ({ 'danger:destructive': paper }),
    execute: ({ paper }) => {
      shredded.push(paper)
      return `shredded ${paper}`
    },
  })
  return { tool, shredded, policy: [{ ask: 'paper.shred', reason: 'it is gone after' }] as const }
}

const ALLOW: FormReply = { action: 'accept', content: { decision: 'allow' } }

function textOf(result: object): string {
  return (result as { content: { text: string }[] }).content.map(({ text }) => text).join('\n')
}

interface InputRequired {
  readonly resultType: 'input_required'
  readonly requestState: string
  readonly inputRequests: Record<string, { method: string; params: { message: string } }>
}

/** One round of a call in the modern era, answered by hand. */
function round(client: Client, params: Record<string, unknown>): Promise<object & Partial<InputRequired>> {
  return client.request({ method: 'tools/call', params } as never, { allowInputRequired: true } as never)
}

describe.each(ERAS)('what policy asks, in the %s era', (era) => {
  it('is a form that says what is asked, in plain text', async () => {
    const { tool, policy, shredded } = shredder()
    const { url } = await serve({ tools: [tool], policy, approve: undefined })
    const shown: string[] = []
    const client = await connect(url, era, {
      onForm: (message) => {
        shown.push(message)
        return ALLOW
      },
    })
    const paper = 'will\u202e\nReason: harmless'
    expect(textOf(await client.callTool({ name: 'paper_shred', arguments: { paper } }))).toContain('shredded')
    expect(shredded).toEqual([paper])
    expect(shown).toHaveLength(1)
    const lines = shown[0]!.split('\n')
    expect(lines[0]).toBe('May paper.shred run?')
    expect(lines.filter((line) => line.startsWith('Reason: '))).toEqual(['Reason: it is gone after'])
    expect(lines).toContainEqual(expect.stringMatching(/^Target: danger:destructive will/))
    expect(lines).toContainEqual('Input: {"paper":"will\\u202e\\nReason: harmless"}')
    expect(shown[0]).not.toContain('\u202e')
  })

  it.each([
    ['deny', { action: 'accept', content: { decision: 'deny' } }],
    ['what was not offered', { action: 'accept', content: { allow: 'everything for ever' } }],
    ['decline', { action: 'decline' }],
    ['cancel', { action: 'cancel' }],
  ] as [string, FormReply][])(
    'is refused when the person says %s, and on record by the name of the client',
    async (_, reply) => {
      const { tool, policy, shredded } = shredder()
      const { hub, url } = await serve({ tools: [tool], policy, approve: undefined })
      let run = ''
      hub.onEvent((event) => {
        if (event.type === 'approval-requested') run = event.request.run
      })
      const client = await connect(url, era, { onForm: () => reply })
      const result = await client.callTool({ name: 'paper_shred', arguments: { paper: 'will' } })
      expect(result).toMatchObject({ isError: true })
      expect(textOf(result)).toMatch(/^APPROVAL_DENIED: mcp:test-client refused paper.shred/)
      expect(shredded).toEqual([])
      const answered = (await eventsOf(hub, run)).filter(({ type }) => type === 'approval-answered')
      expect(answered).toMatchObject([{ decision: 'deny', by: 'mcp:test-client' }])
    },
  )

  it('is remembered for the session when the person says so, and only there', async () => {
    const { tool, policy } = shredder()
    const { url } = await serve({ tools: [tool], policy, approve: undefined })
    let asked = 0
    const onForm = (): FormReply => {
      asked++
      return { action: 'accept', content: { allow: 'this session: this exact call' } }
    }
    const client = await connect(url, era, { onForm })
    for (const paper of ['a', 'a', 'b']) await client.callTool({ name: 'paper_shred', arguments: { paper } })
    expect(asked).toBe(2)
  })

  it('is remembered for the tool on the same targets when the person says so', async () => {
    let asked = 0
    const tool = defineTool({
      name: 'paper.shred',
      description: 'Destroys a paper.',
      input: z.strictObject({ paper: z.string(), slowly: z.boolean().default(false) }),
      capabilities: ['danger:destructive'],
      targets: ({ paper }) => ({ 'danger:destructive': paper }),
      execute: ({ paper }) => paper,
    })
    const { url } = await serve({ tools: [tool], policy: [{ ask: 'paper.shred' }], approve: undefined })
    const onForm = (): FormReply => {
      asked++
      return { action: 'accept', content: { allow: 'this session: this tool on the same targets' } }
    }
    const client = await connect(url, era, { onForm })
    for (const args of [{ paper: 'a' }, { paper: 'a', slowly: true }, { paper: 'b' }]) {
      await client.callTool({ name: 'paper_shred', arguments: args })
    }
    expect(asked).toBe(2)
  })

  it('goes to the watchers of the hub when the client shows no forms', async () => {
    const { tool, policy, shredded } = shredder()
    const { hub, url } = await serve({ tools: [tool], policy, approve: undefined })
    const client = await connect(url, era)
    const alone = await client.callTool({ name: 'paper_shred', arguments: { paper: 'one' } })
    expect(textOf(alone)).toMatch(/^APPROVAL_UNAVAILABLE: /)
    hub.approvals.watch(({ id }) => hub.approvals.reply(id, { decision: 'allow', by: 'anna' }))
    await client.callTool({ name: 'paper_shred', arguments: { paper: 'two' } })
    expect(shredded).toEqual(['two'])
  })

  it('is answered by the first who answers', async () => {
    const { tool, policy, shredded } = shredder()
    const { hub, url } = await serve({ tools: [tool], policy, approve: undefined })
    const client = await connect(url, era, {
      onForm: async () => {
        // While the form is open somebody at the hub says yes; what the client says after is too late.
        const [request] = hub.approvals.list()
        hub.approvals.reply(request!.id, { decision: 'allow', by: 'anna' })
        return { action: 'decline' }
      },
    })
    expect(textOf(await client.callTool({ name: 'paper_shred', arguments: { paper: 'will' } }))).toContain(
      'shredded will',
    )
    expect(shredded).toEqual(['will'])
  })

  it('is not put to a client when the owner wants it otherwise', async () => {
    const { tool, policy } = shredder()
    const { url } = await serve({ tools: [tool], policy }, { elicitation: false })
    const client = await connect(url, era, { onForm: () => ({ action: 'decline' }) })
    expect(textOf(await client.callTool({ name: 'paper_shred', arguments: { paper: 'x' } }))).toContain('shredded x')
  })

  it('is not put to a client of whom nobody knows who it is, unless the owner wants it', async () => {
    const { tool, policy } = shredder()
    const { url } = await serveHub({ tools: [tool], policy, approve: undefined })
    const client = await connect(url, era, { onForm: () => ALLOW })
    const result = await client.callTool({ name: 'paper_shred', arguments: { paper: 'x' } })
    expect(textOf(result)).toMatch(/^APPROVAL_UNAVAILABLE: /)
    const token = 'a-token-that-nobody-guesses'
    const known = await serveHub({ tools: [tool], policy, approve: undefined }, { auth: { token } })
    const headers = { authorization: `Bearer ${token}` }
    const friend = await connect(known.url, era, { onForm: () => ALLOW, headers })
    expect(textOf(await friend.callTool({ name: 'paper_shred', arguments: { paper: 'x' } }))).toBe('shredded x')
  })

  it('is asked for a call that a tool makes, whose work continues after', async () => {
    const { tool, policy, shredded } = shredder()
    let begun = 0
    const outer = defineTool({
      name: 'tidy',
      description: 'Tidies up.',
      input: z.strictObject({}),
      execute: async (_, ctx) => {
        begun++
        return (await ctx.call('paper.shred', { paper: 'old' })).ok
      },
    })
    const { url } = await serve({ tools: [tool, outer], policy, approve: undefined })
    const client = await connect(url, era, { onForm: () => ALLOW })
    expect(textOf(await client.callTool({ name: 'tidy', arguments: {} }))).toBe('true')
    expect([begun, shredded]).toEqual([1, ['old']])
  })
})

describe('an answer in the modern era', () => {
  const call = { name: 'paper_shred', arguments: { paper: 'will' } }
  const accept = (result: Partial<InputRequired>, reply: FormReply = ALLOW) => ({
    requestState: result.requestState,
    inputResponses: Object.fromEntries(Object.keys(result.inputRequests ?? {}).map((key) => [key, reply])),
  })
  const refused = { code: -32602, message: expect.stringContaining('Invalid or expired requestState') }

  it('counts once', async () => {
    const { tool, policy, shredded } = shredder()
    const { url } = await serve({ tools: [tool], policy, approve: undefined })
    const client = await connect(url, 'modern', { onForm: () => ALLOW })
    const asked = await round(client, call)
    expect(asked.resultType).toBe('input_required')
    expect(textOf(await round(client, { ...call, ...accept(asked) }))).toContain('shredded will')
    await expect(round(client, { ...call, ...accept(asked) })).rejects.toMatchObject(refused)
    expect(shredded).toEqual(['will'])
  })

  it('counts for the very call that was asked about', async () => {
    const { tool, policy, shredded } = shredder()
    const { url } = await serve({ tools: [tool], policy, approve: undefined })
    const client = await connect(url, 'modern', { onForm: () => ALLOW })
    const asked = await round(client, call)
    const answer = accept(asked)
    const other = { ...call, arguments: { paper: 'another' } }
    await expect(round(client, { ...other, ...answer })).rejects.toMatchObject(refused)
    await expect(round(client, { ...call, name: 'core_time_now', ...answer })).rejects.toMatchObject(refused)
    const tampered = `${answer.requestState!.slice(0, -2)}AA`
    await expect(round(client, { ...call, ...answer, requestState: tampered })).rejects.toMatchObject(refused)
    expect(shredded).toEqual([])
    // None of that used it up.
    expect(textOf(await round(client, { ...call, ...answer }))).toContain('shredded will')
  })

  it('without an answer to what was asked is asked again', async () => {
    const { tool, policy, shredded } = shredder()
    const { url } = await serve({ tools: [tool], policy, approve: undefined })
    const client = await connect(url, 'modern', { onForm: () => ALLOW })
    const asked = await round(client, call)
    const again = await round(client, { ...call, requestState: asked.requestState, inputResponses: { other: ALLOW } })
    expect(again.resultType).toBe('input_required')
    expect(textOf(await round(client, { ...call, ...accept(again) }))).toContain('shredded will')
    expect(shredded).toEqual(['will'])
  })

  it('that comes after the call was given up still counts for the same call, made anew', async () => {
    const clock = fakeClock()
    const { tool, policy, shredded } = shredder()
    const { url } = await serve({ tools: [tool], policy, approve: undefined }, { clock })
    const client = await connect(url, 'modern', { onForm: () => ALLOW })
    const asked = await round(client, call)
    await clock.advance(301_000)
    expect(textOf(await round(client, { ...call, ...accept(asked) }))).toContain('shredded will')
    const askedAgain = await round(client, call)
    await clock.advance(301_000)
    const denied = await round(client, { ...call, ...accept(askedAgain, { action: 'decline' }) })
    expect(textOf(denied)).toMatch(/^APPROVAL_DENIED: mcp:test-client refused/)
    expect(shredded).toEqual(['will'])
  })
})
