import { describe, expect, it } from 'vitest'
import { type AnyTool, defineTool } from '../../../../core/src/tool.ts'
import { OwnTools } from '../principal-hub.ts'
import type { Origin } from './registered-tool.ts'
import { Registry } from './registry.ts'

/** A tool that says whose it is; each of `dialects` is the name of a dialect of its own kind. */
function toolOf(
  name: string,
  says = 'it',
  { dialects = [], override }: { readonly dialects?: readonly string[]; readonly override?: boolean } = {},
): AnyTool {
  return {
    ...defineTool({ name, description: says, input: { type: 'object' }, execute: () => says }),
    dialects: Object.fromEntries(dialects.map((dialect) => [`kind-${dialect}`, { name: dialect }])),
    override,
  } as AnyTool
}

const source = (name: string) => ({ name })
const saysOf = (table: Registry | OwnTools, name: string) => table.find(name)?.entry.tool.description
const namesOf = (table: Registry | OwnTools) => table.list().map(({ tool }) => tool.name)

describe('two tools of one name', () => {
  const ORDER: Origin[] = ['builtin', 'plugin', 'caller', 'owner']

  it.each(ORDER.flatMap((first) => ORDER.map((second) => [first, second] as const)))(
    'of which the first is of a %s and the second of a %s: the higher origin wins',
    (first, second) => {
      const registry = new Registry()
      registry.register(toolOf('a.b', 'first'), first)
      const addSecond = () => registry.register(toolOf('a.b', 'second', { override: true }), second)
      if (first === second) expect(addSecond).toThrow('The name a.b is taken by the tool a.b.')
      else addSecond()
      const isSecondHigher = ORDER.indexOf(second) > ORDER.indexOf(first)
      expect(saysOf(registry, 'a.b')).toBe(isSecondHigher ? 'second' : 'first')
      expect(saysOf(registry, 'a_b')).toBe(isSecondHigher ? 'second' : 'first')
      expect(namesOf(registry)).toEqual(['a.b'])
    },
  )

  it('of which the higher has fewer names: those that are gone lead nowhere', () => {
    const registry = new Registry()
    registry.register(toolOf('a.b', 'first', { dialects: ['see', 'look'] }), 'plugin')
    registry.register(toolOf('a.b', 'second', { dialects: ['look'] }), 'caller')
    expect([...registry.names()].sort()).toEqual(['a.b', 'a_b', 'look'])
    expect(saysOf(registry, 'look')).toBe('second')
  })

  it('by a dialect: only one of a lower origin gives it up', () => {
    const registry = new Registry()
    registry.register(toolOf('a.b', 'first', { dialects: ['see', 'look'] }), 'plugin')
    registry.register(toolOf('see', 'second'), 'caller')
    expect([saysOf(registry, 'see'), saysOf(registry, 'look'), saysOf(registry, 'a.b')]).toEqual([
      'second',
      'first',
      'first',
    ])
    expect(registry.find('a.b')!.entry.names).toEqual(['a.b', 'a_b', 'look'])
    for (const [name, origin] of [
      ['look', 'plugin'],
      ['look', 'builtin'],
      ['a_b', 'caller'],
    ] as const)
      expect(() => registry.register(toolOf(name), origin), name).toThrow(
        expect.objectContaining({
          code: 'CONFIG_INVALID',
          message: `The name ${name} is taken by the tool a.b.`,
          fix: { hint: 'Rename one of the two tools, or its dialect.' },
        }),
      )
    expect(namesOf(registry)).toEqual(['a.b', 'see'])
  })
})

describe('a registry', () => {
  it('finds a tool by each of its names, with the dialect of the name', () => {
    const registry = new Registry()
    registry.register(toolOf('a.b', 'it', { dialects: ['look'] }))
    expect(registry.find('a.b')!.dialect).toBeUndefined()
    expect(registry.find('a_b')!.dialect).toBeUndefined()
    expect(registry.find('look')!.dialect).toMatchObject({ kind: 'kind-look', dialect: { name: 'look' } })
    expect(registry.find('nobody')).toBeUndefined()
    expect(registry.find('a.b')!.entry.origin).toBe('caller')
  })

  it('lists its tools by name, in whatever order they came', () => {
    const registry = new Registry()
    for (const name of ['c.a', 'a.a', 'd.a', 'b.a']) registry.register(toolOf(name))
    expect(namesOf(registry)).toEqual(['a.a', 'b.a', 'c.a', 'd.a'])
  })

  it('has another version after each change, and tells those who listen, until they stop', () => {
    const registry = new Registry()
    const versions: number[] = []
    const stop = registry.onChange(() => versions.push(registry.version))
    expect(registry.version).toBe(0)
    registry.register(toolOf('a.a'))
    registry.offer(source('s'), [toolOf('b.a')])
    stop()
    registry.register(toolOf('c.a'))
    expect(versions).toEqual([1, 2])
    expect(registry.version).toBe(3)
  })

  it('says of a name that nobody has which ones are near, dialects too', () => {
    const registry = new Registry()
    registry.register(toolOf('notes.save', 'it', { dialects: ['jot_down'] }))
    expect(registry.notFound('notes.sav')).toMatchObject({
      code: 'TOOL_NOT_FOUND',
      message: 'Unknown tool "notes.sav".',
      fix: { hint: 'Did you mean notes.save?' },
    })
    expect(registry.notFound('jot_dwn').fix.hint).toBe('Did you mean jot_down?')
    expect(registry.notFound('qqqqqqqqqqqqqqqqqqqqqqqq').fix.hint).toBe('List the tools to see their names.')
    expect(registry.notFound('x'.repeat(129)).message).toBe(`Unknown tool "${'x'.repeat(128)}".`)
  })
})

describe('what a source brings', () => {
  it('replaces what it brought before, and what it had replaced comes back', () => {
    const registry = new Registry()
    registry.register(toolOf('a.b', 'built in'), 'builtin')
    const plugin = source('p')
    expect(registry.offer(plugin, [toolOf('a.b', 'plugin', { override: true }), toolOf('p.x')])).toEqual([])
    expect([saysOf(registry, 'a.b'), ...namesOf(registry)]).toEqual(['plugin', 'a.b', 'p.x'])
    registry.offer(plugin, [toolOf('p.y')])
    expect([saysOf(registry, 'a.b'), ...namesOf(registry)]).toEqual(['built in', 'a.b', 'p.y'])
    registry.offer(plugin, [])
    expect(namesOf(registry)).toEqual(['a.b'])
    expect(registry.find('p_y')).toBeUndefined()
  })

  it('keeps what other sources brought, and what it registers one by one goes with it', () => {
    const registry = new Registry()
    const [one, other] = [source('one'), source('other')]
    registry.register(toolOf('one.a'), 'plugin', one)
    registry.register(toolOf('one.b'), 'plugin', one)
    registry.offer(other, [toolOf('other.b')])
    registry.offer(other, [toolOf('other.a')])
    expect(namesOf(registry)).toEqual(['one.a', 'one.b', 'other.a'])
    registry.offer(one, [])
    expect(namesOf(registry)).toEqual(['other.a'])
  })

  it('is the same entry as long as it is the same tool', () => {
    const registry = new Registry()
    const [plugin, tool] = [source('p'), toolOf('p.x')]
    registry.offer(plugin, [tool])
    const { entry } = registry.find('p.x')!
    registry.offer(plugin, [tool, toolOf('p.y')])
    expect(registry.find('p.x')!.entry).toBe(entry)
    expect(entry.origin).toBe('plugin')
  })

  it('is registered as far as possible; the rest is reported with the reason', () => {
    const registry = new Registry()
    registry.register(toolOf('a.b'), 'plugin')
    const refused = registry.offer(source('p'), [
      toolOf('p.x'),
      toolOf('a.b'),
      { ...toolOf('p.z'), execute: undefined } as never,
      undefined as never,
      toolOf('p.y'),
    ])
    expect(namesOf(registry)).toEqual(['a.b', 'p.x', 'p.y'])
    expect(refused).toEqual([
      { name: 'a.b', why: 'The name a.b is taken by the tool a.b.' },
      { name: 'p.z', why: 'The tool p.z has no execute function.' },
      { name: 'undefined', why: expect.stringContaining('is not a tool name') },
    ])
  })

  it.each([
    ['mcp/x.y', 'mcp'],
    ['mcp_x', 'mcp'],
    ['core/x.y', 'skills'],
    ['core_x', 'skills'],
  ])('is refused under the name %s, unless the source is %s', (name, owner) => {
    const registry = new Registry()
    expect(registry.offer(source('p'), [toolOf(name)])).toEqual([
      { name, why: `${name} is reserved for the source ${owner}.` },
    ])
    expect(registry.offer(source('q'), [toolOf('q.x', 'it', { dialects: [name.replace('/', '_')] })])).toHaveLength(1)
    expect(registry.list()).toEqual([])
    expect(registry.offer(source(owner), [toolOf(name)])).toEqual([])
    expect(registry.offer(source('r'), [toolOf(`${name}2`, 'it', { override: true })])).toEqual([])
    expect(namesOf(registry)).toEqual([name, `${name}2`])
  })

  it('gives up a dialect that another tool has when all are placed again, never its place', () => {
    const registry = new Registry()
    const [one, other] = [source('one'), source('other')]
    registry.offer(one, [toolOf('one.a', 'one', { dialects: ['see'] })])
    registry.offer(other, [toolOf('other.a', 'other', { dialects: ['see', 'look'] })])
    expect([saysOf(registry, 'see'), saysOf(registry, 'look'), saysOf(registry, 'other.a')]).toEqual([
      'one',
      'other',
      'other',
    ])
    expect(registry.find('other.a')!.entry.names).toEqual(['other.a', 'other_a', 'look'])
    registry.offer(one, [])
    expect(saysOf(registry, 'see')).toBe('other')
  })

  it('belongs to the older of two sources, or to the newer where that wins', () => {
    const offers = (newestWins?: boolean) => {
      const registry = new Registry({ newestWins })
      const [old, young] = [source('old'), source('young')]
      registry.offer(old, [toolOf('x.a', 'old'), toolOf('x.b', 'old')])
      const refused = registry.offer(young, [toolOf('x.a', 'young')])
      const owners = ['x.a', 'x.b'].map((name) => saysOf(registry, name))
      registry.offer(young, [])
      const left = ['x.a', 'x.b'].map((name) => saysOf(registry, name))
      registry.offer(old, [])
      return { refused: refused.length, owners, left, end: registry.list() }
    }
    const older = { refused: 1, owners: ['old', 'old'], left: ['old', 'old'], end: [] }
    expect(offers()).toEqual(older)
    expect(offers(false)).toEqual(older)
    // What the newer one took does not come back, and what the older kept goes with the older.
    expect(offers(true)).toEqual({ refused: 0, owners: ['young', 'old'], left: [undefined, 'old'], end: [] })
  })

  it('leaves the tools of a source alone that brings others, where the newest wins', () => {
    const registry = new Registry({ newestWins: true })
    const [one, other] = [source('one'), source('other')]
    const kept = toolOf('one.a')
    registry.offer(one, [kept])
    registry.offer(other, [toolOf('other.a')])
    registry.offer(other, [toolOf('other.a', 'anew')])
    expect([saysOf(registry, 'other.a'), saysOf(registry, 'one.a')]).toEqual(['anew', 'it'])
  })
})

describe('the tools of a principal', () => {
  function ownTools() {
    const shared = new Registry()
    shared.register(toolOf('m.shared', 'shared', { dialects: ['share'] }))
    return { shared, own: new OwnTools(shared) }
  }

  it('are everybody’s and its own, by name; nobody else sees its own', () => {
    const { shared, own } = ownTools()
    expect(own.list()).toEqual(shared.list())
    expect(own.offer(source('s'), [toolOf('z.own', 'own'), toolOf('a.own', 'own')])).toEqual([])
    expect(namesOf(own)).toEqual(['a.own', 'm.shared', 'z.own'])
    expect([...own.names()]).toEqual(['m.shared', 'm_shared', 'share', 'z.own', 'z_own', 'a.own', 'a_own'])
    expect([saysOf(own, 'a_own'), saysOf(own, 'share'), saysOf(own, 'nobody')]).toEqual(['own', 'shared', undefined])
    expect(namesOf(shared)).toEqual(['m.shared'])
  })

  it('never have a name of everybody’s tools, now or later', () => {
    const { shared, own } = ownTools()
    const refused = own.offer(source('s'), [toolOf('share', 'own'), toolOf('a.own', 'own')])
    expect(refused).toEqual([{ name: 'share', why: 'The name share is taken by a tool of the hub.' }])
    shared.register(toolOf('a.own', 'shared'))
    expect(saysOf(own, 'a.own')).toBe('shared')
    expect(namesOf(own)).toEqual(['a.own', 'm.shared'])
  })

  it('of one name belong to the source that came last', () => {
    const { own } = ownTools()
    own.offer(source('one'), [toolOf('a.own', 'one')])
    expect(own.offer(source('other'), [toolOf('a.own', 'other')])).toEqual([])
    expect(saysOf(own, 'a.own')).toBe('other')
  })

  it('change with either, and listeners are notified until they unsubscribe', () => {
    const { shared, own } = ownTools()
    const versions: number[] = [own.version]
    const stop = own.onChange(() => versions.push(own.version))
    shared.register(toolOf('n.shared'))
    own.offer(source('s'), [toolOf('a.own')])
    stop()
    shared.register(toolOf('o.shared'))
    own.offer(source('s'), [])
    expect(versions).toEqual([1, 2, 3])
    expect(own.version).toBe(5)
  })
})
