import { describe, expect, it } from 'vitest'
import {
  type Received,
  type Script,
  type ScriptedProgram,
  scriptedHost,
} from '../../../test/support/scripted-mcp-server.ts'
import { pinsOf } from '../../../test/support/source-store.ts'
import type { AnyTool, BaseContext } from '../../core/src/tool.ts'
import { ServerLink } from './server-link.ts'

const ctx = { signal: new AbortController().signal, progress: () => {}, notice: () => {} } as unknown as BaseContext
const done = { result: { content: [{ type: 'text', text: 'done' }], resultType: 'complete' } }

/** A link to a server whose tools the test changes. */
function open(
  {
    call = () => done,
    ...script
  }: Script & { call?: (received: Received, program: ScriptedProgram) => object | undefined } = {},
  startTimeoutMs?: number,
) {
  const state = { tools: [{ name: 'go', description: 'Reads.' }], lists: 0 }
  const reply = (received: Received, program: ScriptedProgram) => {
    if (received.method === 'tools/call') return call(received, program)
    if (received.method !== 'tools/list') return { error: { code: -32601, message: 'no' } }
    state.lists++
    return { result: { tools: state.tools, resultType: 'complete', ttlMs: 0, cacheScope: 'private' } }
  }
  const scripted = scriptedHost({ reply, ...script })
  let offers = 0
  const server = { command: 'x', startTimeoutMs }
  const link = new ServerLink({
    name: 's',
    server,
    names: ['s'],
    host: scripted.host,
    env: {},
    pins: pinsOf(scripted.host.data),
    onTools: () => void offers++,
  })
  const execute = (tool: AnyTool = link.serverTools.tools[0]!) => tool.execute({}, ctx as never) as Promise<unknown>
  return { ...scripted, link, state, execute, offers: () => offers }
}

describe('a server', () => {
  it('is connected once for all who ask, and offers its tools', async () => {
    const { link, programs, offers, execute } = open()
    const [one, two] = await Promise.all([link.connect(), link.connect()])
    expect([two, await link.connect(), link.connection]).toEqual([one, one, one])
    expect([programs.length, offers(), link.problem]).toEqual([1, 1, undefined])
    expect(await execute()).toMatchObject({ content: [{ text: 'done' }] })
    await link.close()
    expect(link.connection).toBeUndefined()
    expect(await programs[0]!.ended).toMatchObject({ signal: 'SIGTERM' })
  })

  it('is not called by a tool that it does not have any more, or that it changed', async () => {
    const { link, state, execute, programs } = open()
    await link.connect()
    const [tool] = link.serverTools.tools
    state.tools[0]!.description = 'Deletes.'
    await link.refresh()
    await expect(execute(tool)).rejects.toMatchObject({
      code: 'CONFLICT',
      message: 's changed the tool "go" meanwhile; it was not called.',
      fix: { hint: 'Look at its tools again, then call.' },
    })
    state.tools.length = 0
    await link.refresh()
    await expect(execute(tool)).rejects.toMatchObject({
      code: 'TOOL_NOT_FOUND',
      message: 's does not have the tool "go" any more.',
    })
    expect(programs[0]!.received.some(({ method }) => method === 'tools/call')).toBe(false)
    await link.close()
  })

  it('shows at most 80 characters of a name in errors', async () => {
    const { link, state, execute } = open()
    state.tools[0]!.name = `\n${'n'.repeat(80)}`
    await link.connect()
    const [tool] = link.serverTools.tools
    state.tools.length = 0
    await link.refresh()
    await expect(execute(tool)).rejects.toThrow(`s does not have the tool "\\\\n${'n'.repeat(79)}" any more.`)
    await link.close()
  })

  it('is looked at again when it refuses arguments, since the tool may be gone', async () => {
    const refuse = () => ({ error: { code: -32602, message: 'Unknown tool' } })
    const gone = open({ call: refuse })
    await gone.link.connect()
    gone.state.tools.length = 0
    await expect(gone.execute()).rejects.toMatchObject({ code: 'TOOL_NOT_FOUND' })
    const there = open({ call: refuse })
    await there.link.connect()
    await expect(there.execute()).rejects.toMatchObject({ code: 'INPUT_SCHEMA_INVALID' })
    expect(there.state.lists).toBe(2)
    const failing = open({ call: () => ({ error: { code: -1, message: 'no' } }) })
    await failing.link.connect()
    await expect(failing.execute()).rejects.toMatchObject({ code: 'EXEC_FAILED' })
    expect(failing.state.lists).toBe(1)
    for (const { link } of [gone, there, failing]) await link.close()
  })

  it('that ends is connected again by itself, or for a call, but not for both', async () => {
    const { link, programs, clock, execute } = open()
    await link.connect()
    programs[0]!.exit(1)
    await expect.poll(() => link.problem?.message).toBe('s ended with exit code 1.')
    expect(link.connection).toBeUndefined()
    expect(await execute()).toMatchObject({ content: [{ text: 'done' }] })
    await clock.advance(60_000)
    expect([programs.length, link.problem]).toEqual([2, undefined])
    programs[1]!.exit(1)
    await expect.poll(() => link.problem).toBeDefined()
    await clock.advance(1_000)
    await expect.poll(() => link.connection).toBeDefined()
    expect(programs).toHaveLength(3)
    await link.close()
  })

  it('that lives for half a minute each time is connected again without end', async () => {
    const { link, programs, clock, timers } = open()
    await link.connect()
    for (let life = 1; life <= 6; life++) {
      await clock.advance(30_000)
      programs.at(-1)!.exit(1)
      await expect.poll(() => link.problem).toBeDefined()
      await clock.advance(500)
      await expect.poll(() => link.connection).toBeDefined()
    }
    expect(programs).toHaveLength(7)
    await link.close()
    // None of them keeps the process of the hub alive.
    expect(timers.filter(({ background }) => background !== true)).toEqual([])
  })

  it('that takes too long is given up, after 30 seconds where nothing else is set', async () => {
    for (const [given, timeoutMs] of [
      [undefined, 30_000],
      [5_000, 5_000],
    ] as const) {
      const { link, clock, programs } = open({ onStart: () => false }, given)
      const failed = link.connect().catch((error: unknown) => error)
      await expect.poll(() => programs.length).toBe(1)
      await clock.advance(timeoutMs - 1)
      expect(link.problem).toBeUndefined()
      await clock.advance(1)
      expect(await failed).toMatchObject({
        code: 'TIMEOUT',
        message: `s did not connect and list its tools within ${timeoutMs} ms.`,
        fix: { hint: 'Raise startTimeout of mcpServers.s, or look at it with: tool-hub mcp test s.' },
      })
      await link.close()
    }
  })

  it('that breaks while it lists its tools says why', async () => {
    const { link, programs } = open({ reply: (_, program) => void program.exit(5) })
    await expect(link.connect()).rejects.toThrow('s ended with exit code 5.')
    expect(link.connection).toBeUndefined()
    expect(programs).toHaveLength(1)
    await link.close()
  })

  it('ends every attempt with its hub', async () => {
    const { link } = open({ onStart: () => false })
    const connecting = link.connect().catch((error: unknown) => error)
    await link.close()
    expect(await connecting).toMatchObject({ code: 'ABORTED', message: 'The MCP server s was closed.' })
  })
})

describe('a server that says when its tools change', () => {
  const capabilities = { tools: { listChanged: true } }

  it('is listed again', async () => {
    const { link, programs, clock, state, offers } = open({ capabilities })
    await link.connect()
    state.tools.push({ name: 'more', description: 'New.' })
    programs[0]!.send({ method: 'notifications/tools/list_changed' })
    await expect.poll(() => clock.waiting).toBe(1)
    await clock.advance(200)
    await expect.poll(() => link.serverTools.pending.length).toBe(1)
    expect(offers()).toBe(2)
    await link.close()
  })

  it('in a stream that ends is looked at later each time, at most every five minutes', async () => {
    const { link, clock, state } = open({ era: 'modern', capabilities })
    await link.connect()
    const waits: number[] = []
    for (let look = 1; look <= 9; look++) {
      await expect.poll(() => clock.waiting).toBe(1)
      const before = state.lists
      let waited = 0
      while (state.lists === before) {
        await clock.advance(1_000)
        waited += 1_000
      }
      waits.push(waited)
    }
    expect(waits).toEqual([5, 10, 20, 40, 80, 160, 300, 300, 300].map((seconds) => seconds * 1_000))
    await link.close()
    await expect.poll(() => clock.waiting).toBe(0)
  })
})
