import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { foundCall } from '../../../../../test/support/call-stages.ts'
import { type AnyTool, type Capability, defineTool } from '../../../../core/src/tool.ts'
import { fakeClock } from '../../../../testing/src/fake-clock.ts'
import { createRedactor } from '../../records/redaction/redact.ts'
import type { Runtime } from '../runtime.ts'
import { checkChange } from './approve.ts'
import { Call } from './call.ts'
import { HookChain } from './hooks.ts'
import { checkInputSize, rewrite, validate } from './judge.ts'
import { registerable } from './registered-tool.ts'

const SETTINGS = { inputDepth: 3, inputBytes: 100, inputEntries: 4 }

function world(input: unknown, { capabilities = [] as Capability[], schema = z.looseObject({}) as z.ZodType } = {}) {
  const runtime = {
    settings: SETTINGS,
    redactor: createRedactor({}),
    hooks: new HookChain(fakeClock()),
  } as unknown as Runtime
  const call = new Call({ id: 'c1', run: 'r', wire: 'jot', caller: 'c', options: {}, input })
  const tool = defineTool({ name: 'x.y', description: 'x', input: schema, capabilities, execute: () => 1 })
  return { runtime, call: foundCall(call, registerable(tool as AnyTool, 'caller')) }
}

describe('the arguments of a call', () => {
  it.each<[string, unknown, boolean]>([
    ['as deep as allowed', { a: { b: 1 } }, true],
    ['too deep', { a: { b: { c: { d: 1 } } } }, false],
    ['too many', { a: 1, b: 1, c: 1, d: 1, e: 1 }, false],
    ['too large', { a: 'x'.repeat(200) }, false],
  ])('that are %s', async (_, input, isFine) => {
    const { runtime, call } = world(input)
    const change = () => checkChange(runtime, call, input)
    if (isFine) {
      checkInputSize(runtime, call.call)
      expect(call.call.input).toEqual(input)
      expect(call.call.input).not.toBe(input)
      expect(call.call.inputBytes).toBeGreaterThan(0)
      await change()
    } else {
      expect(() => checkInputSize(runtime, call.call)).toThrow()
      await expect(change()).rejects.toThrow()
    }
  })

  it('are bounded again after hooks have changed them', async () => {
    const { runtime, call } = world({ a: 1 })
    runtime.hooks.add({ before: () => ({ input: { a: 'x'.repeat(200) } }) })
    await expect(rewrite(runtime, call)).rejects.toThrow()
  })

  it('are what the schema makes of them, immediately or later', async () => {
    const filled = world({}, { schema: z.strictObject({ n: z.number().default(7) }) })
    const valid = await validate(filled.runtime, filled.call)
    expect([valid.input, filled.call.call.valid]).toEqual([{ n: 7 }, valid])
    const slow = z.strictObject({ n: z.number().refine(async (n) => n > 0) })
    const late = world({ n: 1 }, { schema: slow })
    await validate(late.runtime, late.call)
    expect(Boolean(late.call.call.valid)).toBe(true)
    const wrong = world({ n: -1 }, { schema: slow })
    await expect(validate(wrong.runtime, wrong.call)).rejects.toMatchObject({
      code: 'INPUT_SCHEMA_INVALID',
      message: expect.stringMatching(/^Invalid arguments for jot: /),
    })
    expect(Boolean(wrong.call.call.valid)).toBe(false)
  })

  it('may not write a redaction mark into a file', () => {
    const input = { text: 'key=[redacted:token]' }
    const writing = world(input, { capabilities: ['write:fs'] })
    expect(() => validate(writing.runtime, writing.call)).toThrow(
      expect.objectContaining({
        code: 'INPUT_SCHEMA_INVALID',
        message: 'The arguments contain a redaction mark; writing it would destroy the secret that it stands for.',
        fix: { hint: 'Use an edit that leaves the marked text unchanged.' },
      }),
    )
    const reading = world(input, { capabilities: ['read:fs'] })
    validate(reading.runtime, reading.call)
    const plain = world({ text: 'plain' }, { capabilities: ['write:fs'] })
    validate(plain.runtime, plain.call)
    expect([Boolean(reading.call.call.valid), Boolean(plain.call.call.valid)]).toEqual([true, true])
  })

  it('that an approver wants instead may hold no mark at all', async () => {
    const { runtime, call } = world({}, { capabilities: [] })
    await expect(checkChange(runtime, call, { text: '[redacted:token]' })).rejects.toMatchObject({
      code: 'INPUT_SCHEMA_INVALID',
      message: 'The changed arguments contain a redaction mark in place of a secret.',
      fix: { hint: 'Approve the call unchanged, or replace the marked text.' },
    })
    await expect(checkChange(runtime, call, 7)).rejects.toMatchObject({ code: 'INPUT_SCHEMA_INVALID' })
    expect(call.call.input).toEqual({})
  })
})
