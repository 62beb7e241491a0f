import { describe, expect, it } from 'vitest'
import { started } from '../../../../../test/support/record-run.ts'
import { encodeEvent } from './event-line.ts'

/** Arguments whose JSON has so many bytes. */
const argsOf = (bytes: number) => 'x'.repeat(bytes - 2)
const encode = (more: Parameters<typeof started>[1]) => JSON.parse(encodeEvent(started('c', more))!)

describe('the JSON of an event', () => {
  it('has arguments of up to 2,048 bytes, however long the rest is', () => {
    const purpose = 'p'.repeat(1_000)
    expect(encode({ args: argsOf(2_048), purpose })).toMatchObject({ args: argsOf(2_048), purpose })
    expect(encode({ args: argsOf(2_049), purpose })).toEqual({
      ...started('c', { purpose }),
      args: undefined,
      argsBytes: 2_049,
    })
    expect(encode({ args: `é${argsOf(2_047)}`, purpose })).toMatchObject({ argsBytes: 2_049 })
    expect(encode({ args: argsOf(5_000), argsBytes: 7 })).toMatchObject({ argsBytes: 7 })
  })

  it('has long fields where there are no arguments', () => {
    expect(encode({ args: undefined, purpose: 'p'.repeat(5_000) })).not.toHaveProperty('argsBytes')
    const text = encodeEvent({ type: 'call-late', callId: 'c', tool: 't'.repeat(5_000), ok: true, durationMs: 1 })
    expect(JSON.parse(text!)).not.toHaveProperty('argsBytes')
  })

  it('leaves out arguments that have no size, without a size', () => {
    const cycle: Record<string, unknown> = { a: 'x'.repeat(1_000), b: 'x'.repeat(1_000), c: 'x' }
    cycle.self = cycle
    const event = encode({ args: cycle })
    expect(event).toMatchObject({ callId: 'c', caller: 'test' })
    expect(event).not.toHaveProperty('args')
    expect(event).not.toHaveProperty('argsBytes')
  })

  it('is none of what has no type', () => {
    expect(encodeEvent({ callId: 'c' } as never)).toBeUndefined()
    expect(encodeEvent({ callId: 'c', type: 'call-late' } as never)).toBeUndefined()
    expect(encodeEvent({ type: 1 } as never)).toBeUndefined()
  })
})
