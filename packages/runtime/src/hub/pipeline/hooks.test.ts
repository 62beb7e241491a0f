import { ToolError } from '@tool-hub/core/errors'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { foundCall } from '../../../../../test/support/call-stages.ts'
import type { ToolResult } from '../../../../core/src/call.ts'
import type { Effect, Hooks } from '../../../../core/src/plugin.ts'
import { type AnyTool, defineTool } from '../../../../core/src/tool.ts'
import { fakeClock } from '../../../../testing/src/fake-clock.ts'
import { Call } from './call.ts'
import { HookChain } from './hooks.ts'
import { registerable } from './registered-tool.ts'

const save = defineTool({
  name: 'notes.save',
  description: 'Saves a note, for tests.',
  input: z.strictObject({}),
  capabilities: ['memory'],
  dialects: { coding: { name: 'jot' } },
  execute: () => 'saved',
}) as AnyTool

function callOf(tool: AnyTool | undefined = save): Call {
  const call = new Call({ id: '1', run: 'r', wire: 'notes.save', caller: 'c', options: {}, input: { n: 0 } })
  if (tool) foundCall(call, registerable(tool, 'caller'))
  return call
}

function chain(...hooks: Hooks[]): HookChain {
  const made = new HookChain(fakeClock())
  for (const each of hooks) made.add(each)
  return made
}

const RESULT = { data: 1, summary: 'one' } as unknown as ToolResult

describe('the hooks of a call', () => {
  it('are asked by their order, those without one as if it were 0, and else as they came', async () => {
    const fired: string[] = []
    const hook = (label: string, order?: number): Hooks => ({ order, before: () => void fired.push(label) })
    await chain(hook('5', 5), hook('-1', -1), hook('none'), hook('1', 1), hook('0', 0)).before(callOf())
    expect(fired).toEqual(['-1', 'none', '0', '1', '5'])
  })

  it.each([0.5, -0.5])(
    'without an order come where 0 is, whether another one has %d before or after them',
    async (order) => {
      for (const isFirst of [true, false]) {
        const fired: number[] = []
        const [other, plain]: Hooks[] = [
          { order, before: () => void fired.push(order) },
          { before: () => void fired.push(0) },
        ]
        await chain(...(isFirst ? [other!, plain!] : [plain!, other!])).before(callOf())
        expect(fired).toEqual([0, order].sort((a, b) => a - b))
      }
    },
  )

  it('are known by name, and whether one looks at this call', () => {
    const hooks = chain({ match: 'other.*', decide: () => {} }, { before: () => {} })
    expect((['before', 'decide', 'after', 'settled'] as const).filter((name) => hooks.names.has(name))).toEqual([
      'before',
      'decide',
    ])
    expect([hooks.looksAt('before', callOf()), hooks.looksAt('decide', callOf())]).toEqual([true, false])
    expect(hooks.looksAt('after', callOf())).toBe(false)
  })

  it.each<[Hooks['match'], boolean]>([
    [undefined, true],
    ['notes.save', true],
    ['notes_save', true],
    ['jot', true],
    ['notes.*', true],
    ['group:notes', true],
    ['memory', true],
    [['nothing', 'mem*'], true],
    ['*', true],
    ['notes.sav', false],
    ['network', false],
    [['other', 'another.*'], false],
    [[], false],
  ])('match %j: %s', (match, isMatch) => {
    expect(chain({ match, before: () => {} }).looksAt('before', callOf())).toBe(isMatch)
  })

  it('match a group by a pattern, also where a part of its name begins with a dot', () => {
    const hooks = chain({ match: 'group:notes/*', before: () => {} })
    expect(hooks.looksAt('before', callOf({ ...save, group: 'notes/.private' } as AnyTool))).toBe(true)
  })

  it('do not look at a call whose tool was not found', async () => {
    const call = callOf()
    call.found = undefined
    const never = () => {
      throw new Error('asked')
    }
    const hooks = chain({ before: never, settled: never })
    await hooks.before(call)
    await hooks.settled(call, RESULT, never)
    expect(hooks.looksAt('before', call)).toBe(false)
  })
})

describe('before', () => {
  it('makes another input, each hook from that of the one before it', async () => {
    const call = callOf()
    const more: Hooks['before'] = ({ input }) => ({ input: { n: (input as { n: number }).n + 1 } })
    await chain(
      { before: more },
      { before: () => undefined },
      { before: () => null as never },
      { before: more },
    ).before(call)
    expect(call.input).toEqual({ n: 2 })
  })

  it.each<[unknown]>([['text'], [{}], [Object.create({ input: 1 })], [7]])('may not answer %j', async (answer) => {
    await expect(chain({ before: () => answer as never }).before(callOf())).rejects.toMatchObject({
      code: 'POLICY_DENIED',
      message: 'The before hook returned something other than { input } or nothing, so notes.save is blocked.',
    })
  })
})

describe('decide', () => {
  it.each<[Effect, (Effect | undefined | null)[], Effect]>([
    ['allow', [], 'allow'],
    ['allow', [undefined, null], 'allow'],
    ['allow', ['ask'], 'ask'],
    ['allow', ['ask', 'deny', 'allow'], 'deny'],
    ['ask', ['allow'], 'ask'],
    ['deny', ['allow', 'ask'], 'deny'],
  ])('of %s, after hooks that answer %j, is %s', async (effect, answers, decided) => {
    const seen: Effect[] = []
    const hooks = answers.map(
      (answer): Hooks => ({
        decide: (_, current) => {
          seen.push(current)
          return answer as Effect
        },
      }),
    )
    expect(await chain(...hooks).decide(callOf(), effect)).toBe(decided)
    expect(seen).toHaveLength(answers.length)
    if (seen.length > 0) expect(seen[0]).toBe(effect)
  })

  it('shows each hook what the hooks before it have made of the decision', async () => {
    const seen: Effect[] = []
    const look: Hooks = { decide: (_, current) => void seen.push(current) }
    await chain(look, { decide: () => 'ask' }, look).decide(callOf(), 'allow')
    expect(seen).toEqual(['allow', 'ask'])
  })

  it.each<[unknown]>([['perhaps'], ['toString'], [true]])('may not answer %j', async (answer) => {
    await expect(chain({ decide: () => answer as never }).decide(callOf(), 'allow')).rejects.toThrow(
      'The decide hook returned something other than allow, ask, deny or nothing, so notes.save is blocked.',
    )
  })
})

describe('after', () => {
  it('changes the data, each hook from that of the one before it, and says whether any did', async () => {
    expect(await chain({ after: () => undefined }, { after: () => null as never }).after(callOf(), RESULT)).toEqual({
      data: 1,
      changed: false,
    })
    const more: Hooks['after'] = (_, { data, summary }) => ({ data: `${summary} ${data}` })
    expect(await chain({ after: more }, { after: () => undefined }, { after: more }).after(callOf(), RESULT)).toEqual({
      data: 'one one 1',
      changed: true,
    })
    expect(await chain({ after: () => ({ data: undefined }) }).after(callOf(), RESULT)).toEqual({ changed: true })
  })

  it.each<[unknown]>([['text'], [{ dta: 1 }], [Object.create({ data: 1 })]])('may not answer %j', async (answer) => {
    await expect(chain({ after: () => answer as never }).after(callOf(), RESULT)).rejects.toThrow(
      'The after hook returned something other than { data } or nothing, so notes.save is blocked.',
    )
  })
})

describe('a hook that fails', () => {
  const broken = () => {
    throw new Error('no')
  }

  it('blocks the call with an error that names the hook and keeps its cause', async () => {
    const own = new ToolError('CONFLICT', 'mine')
    const failure = await chain({ before: broken })
      .before(callOf())
      .catch((error) => error)
    expect(failure).toMatchObject({
      code: 'POLICY_DENIED',
      message: 'The before hook failed, so notes.save is blocked.',
      fix: { hint: 'Fix the before hook; its error is in the audit log.' },
      details: { hook: 'before' },
      cause: { message: 'no' },
    })
    await expect(chain({ decide: () => Promise.reject(own) }).decide(callOf(), 'allow')).rejects.toBe(own)
  })

  it('of the end of a call is reported, and the others see the end nevertheless', async () => {
    const [failures, seen]: [string[], unknown[]] = [[], []]
    await chain({ settled: broken }, { settled: (_, result) => void seen.push(result) }).settled(
      callOf(),
      RESULT,
      ({ message }) => failures.push(message),
    )
    expect(failures).toEqual(['The settled hook failed, so notes.save is blocked.'])
    expect(seen).toEqual([RESULT])
  })

  it.each<[number | undefined, number]>([
    [50, 50],
    [undefined, 5_000],
  ])('to answer within its limit of %s blocks after %d ms, and leaves no timer behind', async (timeoutMs, ms) => {
    const clock = fakeClock()
    const hooks = new HookChain(clock)
    hooks.add({ timeoutMs, before: () => new Promise(() => {}) })
    let end: unknown
    const waiting = hooks.before(callOf()).catch((error) => {
      end = error.message
    })
    await clock.advance(ms - 1)
    expect(end).toBeUndefined()
    await clock.advance(1)
    await waiting
    expect(end).toBe(`The before hook did not answer within ${ms} ms, so notes.save is blocked.`)
    expect(clock.waiting).toBe(0)
  })

  it('leaves no timer behind, nor does one that answers', async () => {
    const clock = fakeClock()
    const hooks = new HookChain(clock)
    hooks.add({ before: () => undefined })
    await hooks.before(callOf())
    expect(clock.waiting).toBe(0)
  })
})
