import { expect, it } from 'vitest'
import { pinsOf } from '../../../test/support/source-store.ts'
import { temporaryFolder } from '../../../test/support/temporary-folder.ts'
import { fakeClock } from '../../testing/src/fake-clock.ts'
import type { ServerToolDefinition } from './definitions.ts'
import { hashDefinition } from './definitions.ts'
import { ServerTools } from './server-tools.ts'

const { signal } = new AbortController()

function define(tool: string, description = 'Does.', others: Partial<ServerToolDefinition> = {}): ServerToolDefinition {
  const definition = { tool, title: undefined, description, input: {}, output: undefined, annotations: {}, ...others }
  return { ...definition, hash: hashDefinition(definition) }
}

function open() {
  const data = temporaryFolder('server-tools')
  const warnings: string[] = []
  const host = { warn: (text: string) => void warnings.push(text), clock: fakeClock() }
  const call = () => Promise.reject(new Error('not called'))
  const serverTools = new ServerTools({
    name: 's',
    server: { command: 'x' },
    names: ['s'],
    host,
    pins: pinsOf(data),
    call,
  })
  const take = (...definitions: ServerToolDefinition[]) => serverTools.take(definitions, [], signal)
  return { serverTools, take, warnings, data }
}

/** Arguments that cannot be checked in any time. */
function endless(): object {
  const level = (number: number) => [`d${number}`, { allOf: Array(3).fill({ $ref: `#/$defs/d${number + 1}` }) }]
  const $defs = Object.fromEntries(Array.from({ length: 40 }, (_, number) => level(number)))
  return { type: 'object', not: { $ref: '#/$defs/d0' }, $defs: { ...$defs, d40: {} } }
}

it('keeps the object of a tool that stays the same, and knows what its server says now', async () => {
  const { serverTools, take } = open()
  await take(define('a'), define('b'))
  const [a, b] = serverTools.tools
  await take(define('a'), define('b', 'Other.'))
  expect(serverTools.tools[0]).toBe(a)
  expect(serverTools.tools[1]).not.toBe(b)
  expect([serverTools.has('a'), serverTools.has('c')]).toEqual([true, false])
  expect([
    serverTools.holds(define('b', 'Other.')),
    serverTools.holds(define('b')),
    serverTools.holds(define('c')),
  ]).toEqual([true, false, false])
})

it('shows what was pinned of a tool that changed, and nothing of one that is new, until the owner accepts them', async () => {
  const { serverTools, take, data, warnings } = open()
  await take(define('a', 'Reads.'))
  expect([serverTools.changed, serverTools.acceptable, serverTools.leftOut, warnings]).toEqual([[], [], [], []])
  const [changed, added] = [define('a', 'Deletes.'), define('b', 'New.')]
  await take(changed, added)
  expect(serverTools.tools.map(({ name, description }) => [name, description])).toEqual([['mcp/s.a', 'Reads.']])
  expect(serverTools.changed).toEqual(['mcp/s.a', 'mcp/s.b'])
  expect(serverTools.acceptable).toEqual(['a', 'b'])
  expect(serverTools.drifts.get('mcp/s.a')).toMatch(/^its server changed its description/)
  expect(serverTools.pending).toEqual([
    { name: 'mcp/s.b', definition: added, drift: expect.stringMatching(/^its server added it/) },
  ])
  expect([serverTools.has('b'), serverTools.leftOut]).toEqual([false, []])
  const why = 'it is new; look at it with: tool-hub mcp test s; accept it with: tool-hub mcp pin s'
  expect(warnings).toEqual([`MCP server s: b is left out: ${why}`])
  await pinsOf(data).accept('s')
  await take(changed, added)
  expect(serverTools.tools.map(({ description }) => description)).toEqual(['Deletes.', 'New.'])
  expect([serverTools.changed, serverTools.acceptable, serverTools.pending, serverTools.drifts.size]).toEqual([
    [],
    [],
    [],
    0,
  ])
})

it('shows nothing of a tool that changed where what was pinned is not known any more', async () => {
  const { serverTools, take } = open()
  const output = { type: 'object' }
  const large = Array.from({ length: 6 }, (_, index) =>
    define(`t${index}`, `${index}`.repeat(190_000), { title: 'T', output }),
  )
  await take(...large)
  await take(...large.map(({ tool }) => define(tool, 'Other.', { title: 'O', output })))
  const last = serverTools.tools.at(-1)!
  expect(last).toMatchObject({
    name: 'mcp/s.t5',
    description: 'The tool t5 of the MCP server s.',
    input: { properties: {} },
  })
  expect([last.title, last.output]).toEqual([undefined, undefined])
})

it('does not show new tools that do not fit, and says how to begin anew', async () => {
  const { serverTools, take } = open()
  await take(define('first'))
  await take(...Array.from({ length: 1_998 }, (_, index) => define(`t${index}`)))
  await take(define('one'), define('two'))
  expect(serverTools.pending.map(({ name }) => name)).toEqual(['mcp/s.one', 'mcp/s.two'])
  expect(serverTools.pending[1]!.drift).toMatch(
    /^its definition cannot be compared with the one that was first seen \(now [0-9a-f]{32}\); to begin anew: tool-hub mcp pin s --forget$/,
  )
  expect(serverTools.acceptable).toEqual(['one'])
})

it('warns of five tools that are left out and of the number of the others, once', async () => {
  const { serverTools, take, warnings } = open()
  const broken = (count: number) =>
    Array.from({ length: count }, (_, index) => define(`t${index}`, 'Does.', { input: 'none' }))
  const told = (from: number, to: number) =>
    Array.from(
      { length: to - from },
      (_, index) => `MCP server s: t${from + index} is left out: its arguments are no object`,
    )
  await take(...broken(12))
  expect(warnings.splice(0)).toEqual([...told(0, 5), 'MCP server s: 7 more tools are left out.'])
  expect(serverTools.leftOut).toHaveLength(12)
  expect([serverTools.tools, serverTools.has('t0')]).toEqual([[], true])
  await take(...broken(12))
  expect(warnings.splice(0)).toEqual([])
  await take()
  await take(...broken(5))
  expect(warnings).toEqual(told(0, 5))
})

it('shows at most 80 characters of the name of a new tool, on one line', async () => {
  const { take, warnings } = open()
  await take(define('first'))
  await take(define(`\n${'n'.repeat(80)}`))
  expect(warnings[0]).toMatch(/^MCP server s: \\nn{79} is left out: it is new;/)
})

it('checks no more schemas after five that do not come to an end', async () => {
  const { serverTools, take } = open()
  const tools = Array.from({ length: 6 }, (_, index) =>
    define(`t${index}`, 'Does.', { input: { ...endless(), title: `${index}` } }),
  )
  await take(...tools.slice(0, 2), define('good'), ...tools.slice(2), define('last'))
  expect(serverTools.tools.map(({ name }) => name)).toEqual(['mcp/s.good'])
  const why = new Map(serverTools.leftOut.map((each) => [each.tool, each.why]))
  expect(why.get('t4')).toMatch(/^its input schema could not be checked: /)
  expect(why.get('t5')).toBe('5 tools of its server before it could not be checked')
  expect(why.get('last')).toBe('5 tools of its server before it could not be checked')
})

it('compiles a schema once that several tools share', async () => {
  const { serverTools, take } = open()
  const input = { type: 'object', properties: { a: { type: 'string' } } }
  await take(define('a', 'Does.', { input }), define('b', 'Does.', { input: structuredClone(input) }), define('c'))
  const [a, b, c] = serverTools.tools.map((tool) => tool.input)
  expect(b).toBe(a)
  expect(c).not.toBe(a)
})

it('keeps what it had when it is stopped', async () => {
  const { serverTools, take } = open()
  await take(define('a'))
  const before = serverTools.tools
  await expect(serverTools.take([define('a', 'Other.')], [], AbortSignal.abort(new Error('stopped')))).rejects.toThrow(
    'stopped',
  )
  expect(serverTools.tools).toBe(before)
})
