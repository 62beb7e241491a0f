import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { toolContext } from '../../../../../test/support/tool-context.ts'
import { testHub } from '../../../../testing/src/tool-contract.ts'
import { textTruncate } from './text-truncate.ts'

interface Options {
  maxChars?: number
  maxBytes?: number
  keep?: 'head' | 'tail' | 'middle'
  marker?: string
}

interface Cut {
  text: string
  cutChars: number
  chars: number
  bytes: number
}

function truncate(text: string, options: Options = {}): Cut {
  return textTruncate.execute({ text, maxChars: 30_000, keep: 'middle', marker: '…', ...options }, toolContext()) as Cut
}

describe('core/util.text.truncate', () => {
  it('gives a text that fits back as it is', () => {
    expect(truncate('short 😀')).toEqual({ text: 'short 😀', cutChars: 0, chars: 7, bytes: 10 })
    expect(truncate('')).toEqual({ text: '', cutChars: 0, chars: 0, bytes: 0 })
  })

  it('keeps the head, the tail or both ends, the marker counted in', () => {
    expect(truncate('0123456789', { maxChars: 5, keep: 'head' }).text).toBe('0123…')
    expect(truncate('0123456789', { maxChars: 5, keep: 'tail' }).text).toBe('…6789')
    expect(truncate('0123456789', { maxChars: 5, keep: 'middle' })).toEqual({
      text: '01…89',
      cutChars: 6,
      chars: 5,
      bytes: 7,
    })
  })

  it('tells the number of characters that were cut', () => {
    expect(truncate('x'.repeat(100), { maxChars: 20, marker: '[{cut} cut]' }).text).toBe('xxxxxx[89 cut]xxxxx')
  })

  it('cuts by bytes too', () => {
    const { text, bytes } = truncate('é'.repeat(100), { maxBytes: 21, keep: 'head' })
    expect(text).toBe(`${'é'.repeat(9)}…`)
    expect(bytes).toBe(21)
  })

  it('marks every cut, with fewer characters where the marker does not fit', async () => {
    const hub = testHub()
    onTestFinished(() => hub.close())
    const text = 'Do NOT delete the production database'
    const cut = async (options: object) => {
      const result = await hub.callDynamic('core/util.text.truncate', { text, ...options })
      return (result.data as Cut).text
    }
    expect(await cut({ maxChars: 20 })).toBe('Do NO[…27 cut…]abase')
    expect(await cut({ maxChars: 10, keep: 'head' })).toBe('Do NOT de…')
    expect(await cut({ maxChars: 10, keep: 'tail' })).toBe('… database')
    expect(await cut({ maxChars: 1 })).toBe('…')
    expect(await cut({ maxBytes: 2 })).toBe('D~')
  })

  it('never separates a letter from its accent or the parts of an emoji', () => {
    expect(truncate('e\u0301'.repeat(3), { maxChars: 1, keep: 'head', marker: '' }).text).toBe('')
    expect(truncate('abe\u0301def', { maxChars: 3, keep: 'head', marker: '' }).text).toBe('ab')
    expect(truncate('ab👩‍👩‍👧cd', { maxChars: 4, keep: 'head', marker: '' }).text).toBe('ab')
    expect(truncate('ab👩‍👩‍👧cd', { maxChars: 4, keep: 'tail', marker: '' }).text).toBe('cd')
    expect(truncate('🇩🇪🇫🇷🇮🇹', { maxChars: 3, keep: 'head', marker: '' }).text).toBe('🇩🇪')
  })

  it('keeps its limits and whole characters on any text', () => {
    const anyText = fc.string({ unit: 'grapheme', maxLength: 200 })
    const keep = fc.constantFrom('head', 'tail', 'middle')
    fc.assert(
      fc.property(
        anyText,
        fc.integer({ min: 1, max: 60 }),
        fc.integer({ min: 1, max: 90 }),
        keep,
        (text, maxChars, maxBytes, side) => {
          const cut = truncate(text, { maxChars, maxBytes, keep: side, marker: '[{cut}]' })
          if (cut.cutChars > 0) expect(cut.text).toMatch(/\[|…|~/)
          expect([...cut.text].length).toBe(cut.chars)
          expect(cut.chars).toBeLessThanOrEqual(maxChars)
          expect(Buffer.byteLength(cut.text)).toBe(cut.bytes)
          expect(cut.bytes).toBeLessThanOrEqual(maxBytes)
          expect(Buffer.from(cut.text).toString()).toBe(cut.text)
        },
      ),
    )
  })

  it('copes with lone surrogates and long runs of accents', () => {
    expect(truncate('\ud83d'.repeat(10), { maxChars: 4, keep: 'head', marker: '' }).chars).toBe(4)
    expect(truncate(`a${'\u0301'.repeat(10_000)}`, { maxChars: 100, keep: 'head', marker: '' }).chars).toBe(100)
  })

  it('cuts megabytes', () => {
    expect(truncate('😀 text '.repeat(500_000)).chars).toBeLessThanOrEqual(30_000)
  })

  it('leaves evidence', () => {
    const ctx = toolContext()
    textTruncate.execute({ text: 'secret text', maxChars: 6, keep: 'head', marker: '…' }, ctx)
    expect(ctx.collected).toEqual([
      { type: 'tool', ref: 'call-1', summary: 'cut 6 characters, kept the head: 6 characters, 8 bytes' },
    ])
  })
})
