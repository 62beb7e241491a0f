import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type AnyTool, type Capability, defineTool } from '../../../../core/src/tool.ts'
import { type Origin, registerable } from './registered-tool.ts'
import { Registry } from './registry.ts'

function toolOf(more: Record<string, unknown> = {}): AnyTool {
  const tool = defineTool({
    name: 'notes.save',
    description: 'Saves.',
    input: z.strictObject({}),
    execute: () => 'saved',
  })
  return { ...tool, ...more } as AnyTool
}

describe('a tool that is registered', () => {
  it.each<[string, Record<string, unknown>, string]>([
    ['no function', { execute: 'run' }, 'The tool notes.save has no execute function.'],
    ['no description', { description: undefined }, 'The tool notes.save has no description.'],
    ['no schema', { input: undefined }, 'The tool notes.save has no input schema.'],
    ['null for a schema', { input: null }, 'The tool notes.save has no input schema.'],
    ['a text for a schema', { input: 'any' }, 'The tool notes.save has no input schema.'],
    ['a name for a list', { texts: 'body' }, 'The tool notes.save needs a list of argument names in texts.'],
    ['numbers for names', { texts: [1] }, 'The tool notes.save needs a list of argument names in texts.'],
    [
      'an unknown capability',
      { capabilities: ['read:fs', 'read:sf'] },
      'The tool notes.save declares the unknown capability "read:sf". Did you mean read:fs?',
    ],
  ])('is refused with %s', (_, more, message) => {
    expect(() => registerable(toolOf(more), 'caller')).toThrow(
      expect.objectContaining({
        code: 'CONFIG_INVALID',
        message,
        fix: { hint: 'See docs/reference/contract.md for what a tool needs.' },
      }),
    )
  })

  it('is refused when it is nothing, or a dialect or an alias of it has no proper name', () => {
    const wrong = [undefined, toolOf({ name: 'no spaces' })]
    const dialects = [{ name: 'no spaces' }, { name: 'save', aliases: ['ok', 'no spaces'] }]
    for (const tool of [...wrong, ...dialects.map((dialect) => toolOf({ dialects: { d: dialect } }))])
      expect(() => registerable(tool as AnyTool, 'caller')).toThrow(/is not a tool name/)
  })

  it('may have a schema that is a function', () => {
    const schema = Object.assign(() => {}, { '~standard': z.strictObject({})['~standard'] })
    expect(registerable(toolOf({ input: schema }), 'caller').input.validate({})).toMatchObject({ ok: true })
  })

  it('is known by its name, its wire name, and those of its dialects and their aliases', () => {
    const input = z.strictObject({ text: z.string() })
    const entry = registerable(
      toolOf({ dialects: { coding: { name: 'save', aliases: ['keep', 'store'], input }, chat: { name: 'exec' } } }),
      'caller',
    )
    expect(entry.names).toEqual(['notes.save', 'notes_save', 'save', 'keep', 'store', 'exec'])
    expect([...entry.dialects].map(([name, { kind }]) => [name, kind])).toEqual([
      ['save', 'coding'],
      ['keep', 'coding'],
      ['store', 'coding'],
      ['exec', 'chat'],
    ])
    expect(entry.dialects.get('keep')!.input!.validate({ text: 'x' })).toMatchObject({ ok: true })
    expect(entry.dialects.get('exec')!.input).toBeUndefined()
    expect(registerable(toolOf({ name: 'save' }), 'caller').names).toEqual(['save'])
  })

  it('is not meant by a rule on the capability that it is named like, where it has that one', () => {
    const dialects = { coding: { name: 'exec' } }
    expect(registerable(toolOf({ dialects }), 'caller').ruleNames).toContain('exec')
    expect(registerable(toolOf({ dialects, capabilities: ['exec'] }), 'caller').ruleNames).toEqual([
      'notes.save',
      'notes_save',
    ])
  })

  it('is in its own group, or in that of its area', () => {
    expect(registerable(toolOf(), 'caller')).toMatchObject({ group: 'notes', groups: ['group:notes'] })
    expect(registerable(toolOf({ group: 'notes' }), 'caller')).toMatchObject({
      group: 'notes',
      groups: ['group:notes'],
    })
    const reading = registerable(toolOf({ dialects: { coding: { name: 'read' } } }), 'caller')
    expect(reading.groups).toEqual(['group:notes', 'group:fs', 'group:files'])
  })

  it.each<[string, Record<string, unknown>, string]>([
    ['a function', {}, 'function'],
    ['core by its name', { name: 'core/notes.save' }, 'core'],
    ['a function in the place of a core tool', { name: 'core/notes.save', override: true }, 'function'],
    ['a function whose name only holds the word', { name: 'x.core/notes' }, 'function'],
    ['what it says', { name: 'core/notes.save', kind: 'mcp' }, 'mcp'],
  ])('is of the kind %s', (_, more, kind) => {
    expect(registerable(toolOf(more), 'caller').kind).toBe(kind)
  })

  it('may be called by scripts, unless it destroys or says otherwise', () => {
    const callersOf = (more: Record<string, unknown>) => registerable(toolOf(more), 'caller').callers
    expect(callersOf({})).toEqual(['direct', 'script'])
    expect(callersOf({ capabilities: ['danger:destructive'] })).toEqual(['direct'])
    expect(callersOf({ capabilities: ['danger:destructive'], callers: ['script'] })).toEqual(['script'])
  })

  it('has an output schema only where it declares one', () => {
    expect(registerable(toolOf({ output: undefined }), 'caller').output).toBeUndefined()
    const { output } = registerable(toolOf({ output: z.string() }), 'caller')
    expect(output!.validate(1)).toMatchObject({ ok: false })
  })
})

describe('what follows from the capabilities of a tool', () => {
  const derived = (capabilities: readonly Capability[], origin: Origin) => {
    const { hasEffects, recordsFirst, usesFeature } = registerable(toolOf({ capabilities }), origin)
    return { hasEffects, recordsFirst, usesFeature }
  }
  const [effects, first, feature] = [{ hasEffects: true }, { recordsFirst: true }, { usesFeature: true }]
  const none = { hasEffects: false, recordsFirst: false, usesFeature: false }

  it.each<[Origin, Capability[], Partial<typeof none>]>([
    ['caller', [], {}],
    ['caller', ['read:fs'], {}],
    ['caller', ['read:fs', 'write:fs'], { ...effects, ...first }],
    ['plugin', ['network'], { ...effects, ...first }],
    ['caller', ['memory'], { ...effects, ...first, ...feature }],
    // Built-in tools act through handles, which record before they change something.
    ['builtin', ['read:fs'], {}],
    ['builtin', ['write:fs'], effects],
    ['owner', ['write:fs'], effects],
    ['builtin', ['exec', 'network', 'send'], effects],
    ['builtin', ['write:fs', 'danger:destructive'], effects],
    ['owner', ['danger:destructive', 'write:fs'], effects],
    ['builtin', ['danger:destructive'], { ...effects, ...first }],
    ['builtin', ['danger:destructive', 'read:fs'], { ...effects, ...first }],
    ['builtin', ['remote', 'write:fs'], { ...effects, ...first }],
    ['builtin', ['remote'], { ...effects, ...first }],
    ['builtin', ['session'], { ...effects, ...feature }],
    ['builtin', ['message'], { ...effects, ...feature }],
    ['builtin', ['schedule'], { ...effects, ...feature }],
    ['builtin', ['browser'], { ...effects, ...feature }],
    ['builtin', ['canvas'], { ...effects, ...feature }],
  ])('of a %s, %j', (origin, capabilities, expected) => {
    expect(derived(capabilities, origin)).toEqual({ ...none, ...expected })
  })
})

describe('a tool in the place of a built-in one', () => {
  const builtin = () => {
    const registry = new Registry()
    registry.register(toolOf({ capabilities: ['read:fs'], dialects: { coding: { name: 'exec' } } }), 'builtin')
    return registry
  }
  const entryOf = (registry: Registry) => registry.find('notes.save')!.entry

  it('says that it overrides, and is judged by the capabilities of both', () => {
    const registry = builtin()
    expect(() => registry.register(toolOf(), 'caller')).toThrow(
      expect.objectContaining({
        code: 'CONFIG_INVALID',
        message: 'notes.save is the name of a built-in tool.',
        fix: {
          hint: 'Give your tool another name, or define it with override: true to replace the built-in tool.',
        },
      }),
    )
    registry.register(toolOf({ override: true, capabilities: ['network'] }), 'caller')
    expect(entryOf(registry)).toMatchObject({
      capabilityList: ['network', 'read:fs'],
      floor: ['read:fs'],
      hasEffects: true,
      recordsFirst: true,
    })
    expect([...entryOf(registry).capabilities]).toEqual(['network', 'read:fs'])
  })

  it('keeps the capabilities of the built-in one also when it is replaced itself', () => {
    const registry = builtin()
    registry.register(toolOf({ override: true, capabilities: ['network'] }), 'plugin')
    expect(() => registry.register(toolOf({ capabilities: ['memory'] }), 'caller')).toThrow(/built-in tool/)
    registry.register(toolOf({ override: true, capabilities: ['memory'] }), 'caller')
    expect(entryOf(registry).capabilityList).toEqual(['memory', 'read:fs'])
    expect(entryOf(registry).floor).toEqual(['read:fs'])
  })

  it('needs to say nothing when it is the owner’s, or when no built-in tool was there', () => {
    const registry = builtin()
    registry.register(toolOf(), 'owner')
    expect(entryOf(registry)).toMatchObject({ origin: 'owner', capabilityList: ['read:fs'] })
    const other = new Registry()
    other.register(toolOf({ capabilities: ['network'] }), 'plugin')
    other.register(toolOf(), 'caller')
    expect(entryOf(other)).toMatchObject({ origin: 'caller', capabilityList: [] })
    expect(entryOf(other).floor).toBeUndefined()
  })

  it('is meant by a rule on its name, not on the capability that it shares with the built-in one', () => {
    const registry = new Registry()
    registry.register(toolOf({ capabilities: ['exec'] }), 'builtin')
    registry.register(toolOf({ override: true, dialects: { coding: { name: 'exec' } } }), 'caller')
    expect(entryOf(registry).ruleNames).toEqual(['notes.save', 'notes_save'])
  })

  it('and one that gives up a dialect are no longer in the group of that name', () => {
    const registry = new Registry()
    registry.register(
      toolOf({ capabilities: ['exec'], dialects: { a: { name: 'read' }, b: { name: 'exec' } } }),
      'builtin',
    )
    registry.register(toolOf({ name: 'read' }), 'caller')
    const { names, ruleNames, groups, dialects } = entryOf(registry)
    expect(names).toEqual(['notes.save', 'notes_save', 'exec'])
    expect(ruleNames).toEqual(['notes.save', 'notes_save'])
    expect(groups).toEqual(['group:notes', 'group:runtime'])
    expect([...dialects.keys()]).toEqual(['exec'])
  })
})

describe('a tool as a model or a door sees it', () => {
  const registry = new Registry()
  const input = z.strictObject({ text: z.string() })
  const coding = { name: 'save', aliases: ['keep'], description: 'Saves a text.', input }
  registry.register(
    toolOf({
      title: 'Save',
      output: z.string(),
      capabilities: ['memory'],
      dialects: { coding, chat: { name: 'jot' } },
    }),
  )
  registry.register(toolOf({ name: 'plain' }))

  it('has the name, description and arguments of the dialect, else its own', () => {
    const wire = (dialect?: string) =>
      registry
        .listForLLM({ dialect })
        .map(({ name, description, parameters }) => [
          name,
          description,
          Object.keys((parameters as { properties?: object }).properties ?? {}),
        ])
    const plain = ['plain', 'Saves.', []]
    expect(wire('coding')).toEqual([['save', 'Saves a text.', ['text']], plain])
    expect(wire('chat')).toEqual([['jot', 'Saves.', []], plain])
    expect(wire('other')).toEqual([['notes_save', 'Saves.', []], plain])
    expect(wire()).toEqual([['notes_save', 'Saves.', []], plain])
    expect(registry.listForLLM()).toHaveLength(2)
  })

  it('says in addition what it is called, may do and returns', () => {
    const [saved, plain] = registry.cards({ dialect: 'coding' })
    expect(saved).toMatchObject({
      name: 'save',
      tool: 'notes.save',
      title: 'Save',
      capabilities: ['memory'],
      output: { type: 'string' },
    })
    expect(plain).toEqual({
      name: 'plain',
      description: 'Saves.',
      parameters: expect.any(Object),
      tool: 'plain',
      capabilities: [],
    })
    expect(registry.cards().map(({ name }) => name)).toEqual(['notes_save', 'plain'])
  })

  it('is left out where it is not chosen', () => {
    const only = ({ tool }: { readonly tool: AnyTool }) => tool.name === 'plain'
    expect(registry.listForLLM({ only }).map(({ name }) => name)).toEqual(['plain'])
    expect(registry.cards({ only }).map(({ name }) => name)).toEqual(['plain'])
    expect(registry.get('keep')?.name).toBe('notes.save')
    expect(registry.get('nobody')).toBeUndefined()
  })
})
