import { describe, expect, it } from 'vitest'
import { toWakeUp } from './definition.ts'

const NOW = Date.UTC(2027, 0, 1)
const YEAR = 366 * 86_400_000
const wake = (wish: Parameters<typeof toWakeUp>[0]) => toWakeUp(wish, { run: 'run-1' }, NOW)

describe('a wake-up', () => {
  it('is a schedule of one time that writes to the console', () => {
    expect(wake({ text: 'Look again.', inMs: 60_000 })).toEqual({
      name: expect.stringMatching(/^wake-myc87pc0-[0-9a-f]{6}$/),
      when: { at: '2027-01-01T00:01:00.000Z' },
      calls: [
        {
          tool: 'core/message.send',
          input: { channel: 'console', title: 'Wake-up of run-1', text: 'Look again.' },
        },
      ],
    })
    expect(wake({ at: '2027-01-02T09:00' })).toMatchObject({
      when: { at: '2027-01-02T09:00' },
      calls: [{ input: { text: 'It is time.' } }],
    })
  })

  it.each([
    [{ inMs: 1 }, '2027-01-01T00:00:00.001Z'],
    [{ inMs: YEAR }, '2028-01-02T00:00:00.000Z'],
    [{ inMs: 5, text: 'x'.repeat(4_000) }, '2027-01-01T00:00:00.005Z'],
  ])('may be %j', (wish, at) => {
    expect(wake(wish).when).toEqual({ at })
  })

  it.each([
    [{}, 'wake needs either at or inMs.'],
    [{ at: '2027-01-02T09:00', inMs: 5 }, 'wake needs either at or inMs.'],
    [{ inMs: 0 }, 'inMs is 0; it must be 1 to 31622400000.'],
    [{ inMs: YEAR + 1 }, 'inMs is 31622400001; it must be 1 to 31622400000.'],
    [{ inMs: Number.NaN }, 'inMs is NaN; it must be 1 to 31622400000.'],
    [{ inMs: 5, text: 'x'.repeat(4_001) }, 'The text has 4001 characters, the limit is 4000.'],
  ])('may not be %j', (wish, message) => {
    expect(() => wake(wish)).toThrow(expect.objectContaining({ code: 'INPUT_SCHEMA_INVALID', message }))
  })
})
