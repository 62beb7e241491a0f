import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type Effect, HOOK_NAMES, type Hooks } from '../packages/core/src/plugin.ts'
import { defineTool } from '../packages/core/src/tool.ts'
import { fakeClock } from '../packages/testing/src/fake-clock.ts'
import { testHub } from '../packages/testing/src/tool-contract.ts'
import { eventsOf } from './support/events-of.ts'

const add = defineTool({
  name: 'math.add',
  description: 'Adds two numbers, for tests.',
  input: z.strictObject({ a: z.number(), b: z.number().default(1) }),
  output: z.strictObject({ sum: z.number() }),
  execute: ({ a, b }) => ({ sum: a + b }),
})

async function callWith(hooks: Hooks | Hooks[], input: unknown = { a: 1 }) {
  const hub = testHub({ tools: [add], hooks: [hooks].flat() })
  try {
    return await hub.callDynamic('math.add', input)
  } finally {
    await hub.close()
  }
}

describe('hooks', () => {
  for (const name of HOOK_NAMES) {
    it(`${name} fires once a call, with the call in view`, async () => {
      const seen: unknown[] = []
      await callWith({ [name]: (call: unknown) => void seen.push(call) })
      expect(seen).toEqual([
        expect.objectContaining({ tool: 'math.add', caller: 'library', callId: expect.any(String) }),
      ])
    })

    it(`${name} is skipped for tools that its matcher does not name`, async () => {
      const seen: unknown[] = []
      const hook = { [name]: (call: unknown) => void seen.push(call) }
      await callWith([
        { match: 'other.*', ...hook },
        { match: ['group:fs', 'network'], ...hook },
      ])
      expect(seen).toEqual([])
      await callWith([
        { match: 'math.*', ...hook },
        { match: 'group:math', ...hook },
      ])
      expect(seen).toHaveLength(2)
    })
  }

  it('fire in the order before, decide, after, settled, and by `order` within each', async () => {
    const fired: string[] = []
    const hooks = (label: string, order: number): Hooks => ({
      order,
      before: () => void fired.push(`before ${label}`),
      decide: () => void fired.push(`decide ${label}`),
      after: () => void fired.push(`after ${label}`),
      settled: () => void fired.push(`settled ${label}`),
    })
    await callWith([hooks('second', 2), hooks('first', 1)])
    expect(fired).toEqual(HOOK_NAMES.flatMap((name) => [`${name} first`, `${name} second`]))
  })

  it('before may rewrite the input, which is validated after', async () => {
    expect((await callWith({ before: () => ({ input: { a: 40, b: 2 } }) })).data).toEqual({ sum: 42 })
    expect((await callWith({ before: () => ({ input: { a: 'no' } }) })).error?.code).toBe('INPUT_SCHEMA_INVALID')
    const hostile = JSON.parse('{"a":1,"__proto__":{}}')
    expect((await callWith({ before: () => ({ input: hostile }) })).error?.code).toBe('INPUT_SCHEMA_INVALID')
  })

  it('decide may only tighten', async () => {
    expect((await callWith({ decide: () => 'deny' })).error).toMatchObject({ code: 'POLICY_DENIED' })
    const hub = testHub({ tools: [add], policy: [{ deny: 'math.add' }], hooks: [{ decide: () => 'allow' }] })
    expect((await hub.call(add, { a: 1 })).error?.code).toBe('POLICY_DENIED')
    await hub.close()
  })

  it('after may change the data, which is checked again', async () => {
    expect((await callWith({ after: () => ({ data: { sum: 7 } }) })).data).toEqual({ sum: 7 })
    expect((await callWith({ after: () => ({ data: { sum: 'seven' } }) })).error?.code).toBe('OUTPUT_SCHEMA_INVALID')
  })

  it('that fail, hang or answer nonsense block the call', async () => {
    const fails: Hooks[] = [
      { before: () => Promise.reject(new Error('no')) },
      { before: () => 'nonsense' as never },
      {
        decide: () => {
          throw new Error('no')
        },
      },
      { decide: () => 'perhaps' as Effect },
      { decide: () => 'constructor' as Effect },
      {
        after: () => {
          throw new Error('no')
        },
      },
      { after: () => ({ dta: 1 }) as never },
    ]
    for (const hook of fails) expect((await callWith(hook)).error?.code).toBe('POLICY_DENIED')
    const clock = fakeClock()
    const hub = testHub({ tools: [add], clock, hooks: [{ timeoutMs: 50, before: () => new Promise(() => {}) }] })
    const call = hub.call(add, { a: 1 })
    await clock.advance(50)
    expect((await call).error).toMatchObject({ code: 'POLICY_DENIED', message: expect.stringContaining('50 ms') })
    await hub.close()
  })

  it('settled may only look: its failure is recorded and the result stands', async () => {
    const hub = testHub({
      tools: [add],
      hooks: [
        {
          settled: () => {
            throw new Error('broken watcher')
          },
        },
      ],
    })
    expect((await hub.call(add, { a: 1 })).data).toEqual({ sum: 2 })
    await hub.endRun(hub.run)
    expect((await eventsOf(hub)).map(({ type }) => type)).toContain('hook-failed')
    await hub.close()
  })
})

describe('hooks in the form of the engine format', () => {
  it('rewrite the input and the output, with the canonical name', async () => {
    const seen: unknown[] = []
    const result = await callWith({
      beforeToolCall: (name, input) => {
        seen.push([name, input])
        return { a: 2, b: 3 }
      },
      afterToolCall: async (name, input, output) => {
        seen.push([name, input, output])
        return { sum: 50 }
      },
    })
    expect(seen).toEqual([
      ['math.add', { a: 1 }],
      ['math.add', { a: 2, b: 3 }, { sum: 5 }],
    ])
    expect(result).toMatchObject({ ok: true, data: { sum: 50 } })
  })

  it('change nothing if they return nothing, block the call if they throw, and are limited by match', async () => {
    expect(await callWith({ beforeToolCall() {}, afterToolCall() {} })).toMatchObject({ data: { sum: 2 } })
    const stop = () => {
      throw new Error('not today')
    }
    expect(await callWith({ beforeToolCall: stop })).toMatchObject({ ok: false, error: { code: 'POLICY_DENIED' } })
    expect(await callWith({ match: 'other.*', beforeToolCall: stop })).toMatchObject({ ok: true })
  })

  it('run in addition to those of this pipeline, and keep `this`', async () => {
    class Guard {
      readonly seen: string[] = []
      before() {
        this.seen.push('before')
      }
      beforeToolCall(name: string) {
        this.seen.push(name)
      }
    }
    const guard = new Guard()
    await callWith(guard)
    expect(guard.seen).toEqual(['before', 'math.add'])
  })
})

describe('hooks that would never run', () => {
  it.each([
    [{ befor() {} }, 'Unknown hook "befor".', 'Did you mean before?'],
    [{ beforeToolCal() {} }, 'Unknown hook "beforeToolCal".', 'Did you mean beforeToolCall'],
    [{ onEnd() {} }, 'Unknown hook "onEnd".', 'The hooks are before, decide'],
    [{ before: 'x' }, 'The hook before is not a function.', ''],
    [new (class Nothing {})(), 'The hooks have no function.', ''],
    ['before', 'Hooks are an object with functions.', ''],
  ])('are refused: %j', (hooks, message, hint) => {
    const made = () => testHub({ tools: [add], hooks: [hooks as Hooks] })
    expect(made).toThrow(
      expect.objectContaining({ code: 'CONFIG_INVALID', message, fix: { hint: expect.stringContaining(hint) } }),
    )
  })

  it('are refused in a plugin, too, whether listed or added by its setup', async () => {
    const hooks = { beforeCall() {} } as Hooks
    const listed = () => testHub({ tools: [add], plugins: [{ name: 'p', hooks }] })
    expect(listed).toThrow(/The plugin p could not be set up: Unknown hook "beforeCall"/)
    const hub = testHub({ tools: [add], plugins: [{ name: 'p', setup: async (api) => api.addHooks(hooks) }] })
    expect(await hub.callDynamic('math.add', { a: 1 })).toMatchObject({ ok: false, error: { code: 'CONFIG_INVALID' } })
    await hub.close()
  })

  it('are not those whose function is undefined', async () => {
    expect(await callWith({ before: undefined, match: undefined })).toMatchObject({ ok: true })
  })
})

it('the hooks of a hub may be one object', async () => {
  const seen: string[] = []
  const hub = testHub({ tools: [add], hooks: { before: ({ tool }) => void seen.push(tool) } })
  await hub.callDynamic('math.add', { a: 1 })
  await hub.close()
  expect(seen).toEqual(['math.add'])
})
