import { expect, it } from 'vitest'
import { readDefinitions } from './definitions.ts'

const names = (tools: readonly unknown[], options = {}) =>
  readDefinitions(tools, options).definitions.map(({ tool }) => tool)
/** Why the only tool of these is left out. */
function why(given: unknown, options = {}): string {
  const { definitions, leftOut } = readDefinitions([given], options)
  expect(definitions).toEqual([])
  expect(leftOut).toHaveLength(1)
  return leftOut[0]!.why
}
/** A tool whose definition has this many characters. */
function ofSize(chars: number, name = 'a') {
  const empty = { name, description: '' }
  return { name, description: 'x'.repeat(chars - JSON.stringify(empty).length) }
}
const nested = (levels: number): unknown => JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`)

it('leaves out a tool with a number that cannot be written again, and no other', () => {
  const numbers = {
    properties: { b: { maximum: Number.POSITIVE_INFINITY }, a: { default: [Number.NEGATIVE_INFINITY] } },
  }
  const { definitions, leftOut } = readDefinitions([
    { name: 'good', inputSchema: { properties: { a: { maximum: 1e300 } } } },
    { name: 'input', inputSchema: numbers },
    { name: 'output', outputSchema: numbers },
    { name: 'annotations', annotations: numbers },
  ])
  expect(definitions.map(({ tool }) => tool)).toEqual(['good'])
  expect(leftOut.map(({ tool }) => tool)).toEqual(['input', 'output', 'annotations'])
  expect(leftOut[0]!.why).toContain('a number that no JSON can hold')
})

it('reads all that a definition says, and nothing else', () => {
  const whole = {
    name: 'a',
    title: 'A',
    description: 'Does.',
    inputSchema: { type: 'object' },
    outputSchema: { type: 'object', properties: {} },
    annotations: { readOnlyHint: true },
    execution: { taskSupport: 'optional' },
    other: 1,
  }
  expect(readDefinitions([whole]).definitions).toEqual([
    {
      tool: 'a',
      title: 'A',
      description: 'Does.',
      input: { type: 'object' },
      output: { type: 'object', properties: {} },
      annotations: { readOnlyHint: true },
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    },
  ])
})

it('reads a tool without what is broken and not needed', () => {
  const broken = { name: 'a', title: 1, description: 2, annotations: 3, execution: 4 }
  expect(readDefinitions([broken, { name: 'b' }]).definitions).toMatchObject(
    ['a', 'b'].map((tool) => ({
      tool,
      title: undefined,
      description: '',
      input: undefined,
      output: undefined,
      annotations: {},
    })),
  )
})

it('takes the first of two with one name, and names the other in at most 80 characters', () => {
  const name = `\n${'n'.repeat(80)}`
  const { definitions, leftOut } = readDefinitions([
    { name, title: 'first' },
    { name, title: 'second' },
  ])
  expect(definitions).toMatchObject([{ tool: name, title: 'first' }])
  expect(leftOut).toEqual([{ tool: `\\n${'n'.repeat(79)}`, why: 'another has the same name' }])
})

it.each([
  ['no object', 'text', 'one without a name'],
  ['null', null, 'one without a name'],
  ['nothing', undefined, 'one without a name'],
  ['no name', { title: 'A' }, 'one without a name'],
  ['a number for a name', { name: 1 }, 'one without a name'],
  ['an empty name', { name: '' }, ''],
  ['an output schema that is not an object', { name: 'a', outputSchema: [] }, 'a'],
])('is not a tool: %s', (_, given, tool) => {
  const { leftOut } = readDefinitions([given])
  expect(leftOut).toEqual([{ tool, why: expect.stringMatching(/^it is not a tool: [^\n]+$/) }])
})

it('is not a tool where its name has over 1,000 characters', () => {
  expect(names([{ name: 'n'.repeat(1_000) }])).toHaveLength(1)
  expect(why({ name: 'n'.repeat(1_001) })).toMatch(/^it is not a tool: .*1000/)
})

it('is over a limit where it has over 200,000 characters or 100 levels', () => {
  expect(names([ofSize(200_000)])).toEqual(['a'])
  expect(why(ofSize(200_001))).toBe('it has 200001 characters, the limit is 200000')
  expect(names([{ name: 'a', inputSchema: nested(99) }])).toEqual(['a'])
  expect(why({ name: 'a', inputSchema: nested(100) })).toBe('it is over 100 levels deep')
})

it('leaves out what comes after five million characters', () => {
  const most = Array.from({ length: 25 }, (_, index) => ofSize(200_000, `t${index}`))
  expect(names(most)).toHaveLength(25)
  expect(readDefinitions([...most, { name: 'last' }]).leftOut).toEqual([
    { tool: 'last', why: 'the definitions of its server have over 5000000 characters' },
  ])
})

it('can only be called in a way that the hub knows', () => {
  expect(why({ name: 'a', execution: { taskSupport: 'required' } })).toBe('it can only be called as a task')
})

it('says what is wrong with arguments as headers, where the transport has headers', () => {
  const given = { name: 'a', inputSchema: { properties: { a: { type: 'string', 'x-mcp-header': 'a b' } } } }
  expect(why(given, { hasHeaders: true })).toBe('its x-mcp-header is not the name of a header')
  expect(names([given], { hasHeaders: false })).toEqual(['a'])
  expect(names([given])).toEqual(['a'])
})

it('tells at most 300 characters of why one cannot be read, and reads the others', () => {
  const unreadable = {
    name: 'a',
    toJSON: () => {
      throw new Error(`no\n${'x'.repeat(400)}`)
    },
  }
  const { definitions, leftOut } = readDefinitions([unreadable, { name: 'b' }])
  expect(leftOut).toEqual([{ tool: 'a', why: `it cannot be read: no\\n${'x'.repeat(297)}` }])
  expect(definitions).toMatchObject([{ tool: 'b' }])
})
