import { ToolError } from '@tool-hub/core/errors'
import { expect, it } from 'vitest'
import { type Received, scriptedHost } from '../../../test/support/scripted-mcp-server.ts'
import { pinsOf } from '../../../test/support/source-store.ts'
import type { McpServer } from '../../core/src/mcp-server.ts'
import type { SourceHost } from '../../core/src/source.ts'
import type { AnyTool } from '../../core/src/tool.ts'
import { createMcpSource } from './mcp-source.ts'
import { RunningServers } from './running-servers.ts'

type Expected = Parameters<SourceHost['expect']>

/** Servers that all have the same tools, and what the hub is offered. */
function open(servers: Record<string, McpServer>, others: Partial<SourceHost> = {}) {
  const tools = [{ name: 'go', description: 'Reads.' }]
  const reply = ({ method }: Received) => (method === 'tools/list' ? { result: { tools } } : undefined)
  const expected: Expected[] = []
  const offers: string[][] = []
  const offer = (given: readonly AnyTool[]) => {
    offers.push(given.map(({ name }) => name))
    return [{ name: 'mcp/a.go', why: 'it is refused' }]
  }
  const scripted = scriptedHost(
    { reply },
    { expect: (...given: Expected) => void expected.push(given), offer, ...others },
  )
  const running = new RunningServers(servers, { host: scripted.host, env: {} })
  const prefixes = () => expected.map(([prefix]) => prefix)
  const arrive = (prefix: string) => (expected.find(([each]) => each === prefix)![1] as () => Promise<unknown>)()
  const problem = (prefix: string) => expected.find(([each]) => each === prefix)![2]!()
  return { ...scripted, running, tools, offers, prefixes, arrive, problem }
}

const command = 'x'

it('expects calls by both names of a tool, those of the longest server name first', async () => {
  const { running, prefixes, arrive, offers } = open({
    a: { command },
    a_bc: { command },
    a_b: { command, disabled: false },
    off: { command, disabled: true },
  })
  expect(prefixes()).toEqual(['mcp/a_bc.', 'mcp_a_bc_', 'mcp/a_b.', 'mcp_a_b_', 'mcp/a.', 'mcp_a_'])
  await arrive('mcp_a_')
  await arrive('mcp/a_b.')
  expect(offers).toEqual([['mcp/a.go'], ['mcp/a_b.go', 'mcp/a.go']])
  await running.close()
})

it('says how each server is', async () => {
  const { running, arrive, tools } = open({ a: { command }, b: { command }, off: { command, disabled: true } })
  tools.push({ name: 'broken', description: 'Reads.', inputSchema: 'none' } as never)
  const leftOut = [{ tool: 'broken', why: 'its arguments are no object' }]
  const off = { name: 'off', state: 'disabled', tools: [], leftOut: [] }
  expect(running.status()).toEqual([
    { name: 'a', state: 'connecting', tools: [], leftOut: [] },
    { name: 'b', state: 'connecting', tools: [], leftOut: [] },
    off,
  ])
  await arrive('mcp/a.')
  const [a] = running.status()
  expect(a).toStrictEqual({ name: 'a', state: 'connected', era: 'legacy', tools: ['mcp/a.go'], leftOut })
  await running.close()
})

it('says why a server is down, to calls by its names too', async () => {
  const failure = new ToolError('CONFIG_INVALID', 'x is missing.')
  const { running, arrive, problem } = open({ a: { command } }, { startProgram: () => Promise.reject(failure) })
  expect(problem('mcp/a.')).toBeUndefined()
  await expect(arrive('mcp/a.')).rejects.toBe(failure)
  expect([problem('mcp/a.'), problem('mcp_a_')]).toEqual([failure, failure])
  expect(running.status()).toStrictEqual([{ name: 'a', state: 'down', problem: failure, tools: [], leftOut: [] }])
  await running.close()
})

it('warns once of a tool that the hub refuses', async () => {
  const { running, arrive, warnings } = open({ a: { command }, b: { command } })
  await arrive('mcp/a.')
  expect(warnings).toEqual(['mcp/a.go is left out: it is refused'])
  await arrive('mcp/b.')
  expect(warnings).toEqual(['mcp/a.go is left out: it is refused'])
  await running.close()
})

it('takes what the owner accepts, here or in another process', async () => {
  const { running, arrive, tools, host, clock, offers } = open({ a: { command } })
  await arrive('mcp/a.')
  expect(clock.waiting).toBe(0)
  expect(await running.accept('a')).toEqual([])
  tools.push({ name: 'more', description: 'New.' })
  expect(await running.accept('a')).toEqual([])
  expect(running.status()).toMatchObject([{ changed: ['mcp/a.more'], tools: ['mcp/a.go'] }])
  expect(await running.accept('a')).toEqual(['more'])
  expect(running.status()[0]).not.toHaveProperty('changed')
  expect([clock.waiting, offers.at(-1)]).toEqual([0, ['mcp/a.go', 'mcp/a.more']])
  tools[0]!.description = 'Deletes.'
  await running.accept('a')
  expect(clock.waiting).toBe(1)
  await clock.advance(4_000)
  expect(running.status()).toMatchObject([{ changed: ['mcp/a.go'] }])
  const before = offers.length
  await pinsOf(host.data).accept('a')
  await clock.advance(1_999)
  expect(offers).toHaveLength(before)
  await clock.advance(1)
  await expect.poll(() => offers.length).toBe(before + 1)
  expect(running.status()[0]).not.toHaveProperty('changed')
  expect(clock.waiting).toBe(0)
  expect(await running.accept('none')).toEqual([])
  await running.close()
})

it('looks for no answer of the owner once it is closed', async () => {
  const { running, arrive, tools, clock, timers } = open({ a: { command } })
  await arrive('mcp/a.')
  tools[0]!.description = 'Deletes.'
  await running.accept('a')
  expect(clock.waiting).toBe(1)
  expect(timers.at(-1)).toEqual({ ms: 2_000, background: true })
  await running.close()
  // The end of a program is waited for half a second.
  await clock.advance(500)
  expect(clock.waiting).toBe(0)
})

it('is one source of one hub at a time', async () => {
  const { host } = scriptedHost({})
  const source = createMcpSource({ a: { command, disabled: true } })
  expect([source.name, source.status(), await source.acceptDefinitions('a')]).toEqual(['mcp', [], []])
  await source.close!()
  await source.start(host)
  expect(source.status()).toMatchObject([{ name: 'a', state: 'disabled' }])
  await expect((async () => source.start(host))()).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
    message: 'These MCP servers are connected to a hub already.',
  })
  await source.close!()
  expect(source.status()).toEqual([])
  await source.start(host)
  await source.close!()
})
