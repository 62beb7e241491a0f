import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MAX_TOOL_OUTPUT_LENGTH, shortenText, truncateOutput } from './output.ts'

const unicode = fc.string({ unit: 'binary', maxLength: 400 })
const mode = fc.constantFrom('head' as const, 'tail' as const, 'middle' as const)

describe('cutText', () => {
  it('leaves a text that fits as it is', () => {
    expect(shortenText('hello', { maxChars: 5, mode: 'middle' })).toEqual({ text: 'hello', cutChars: 0 })
  })

  it('keeps head and tail and states how many characters went', () => {
    const { text, cutChars } = shortenText(`begin${'x'.repeat(20_000)}end`, { maxChars: 100, mode: 'middle' })
    expect(text).toMatch(/^begin.*\n… \[19,\d{3} characters cut\] …\n.*end$/s)
    expect(text).toContain(`[${cutChars.toLocaleString('en-US')} characters cut]`)
    expect(text.length).toBeLessThanOrEqual(100)
  })

  it('keeps the side that is asked for, under the mark of the caller', () => {
    const mark = (cut: number) => `[${cut} more in artifact:abc]`
    expect(shortenText(`a${'x'.repeat(100)}z`, { maxChars: 30, mode: 'head', mark }).text).toMatch(
      /^axx.*\[\d+ more in artifact:abc\]$/,
    )
    expect(shortenText(`a${'x'.repeat(100)}z`, { maxChars: 30, mode: 'tail', mark }).text).toMatch(
      /^\[\d+ more in artifact:abc\].*xxz$/,
    )
  })

  it('is never too long, counts exactly, keeps true ends and whole characters, for any text', () => {
    fc.assert(
      fc.property(unicode, fc.nat({ max: 300 }), mode, (text, maxChars, mode) => {
        let stated = -1
        const mark = (count: number) => {
          stated = count
          return `<${count}>`
        }
        const cut = shortenText(text, { maxChars, mode, mark })
        expect(cut.text.length).toBeLessThanOrEqual(Math.max(maxChars, 1))
        if (cut.cutChars === 0) {
          expect(cut.text).toBe(text)
          return
        }
        const marks = [`<${cut.cutChars}>`, `[…${cut.cutChars} cut…]`, '…']
        const marker = marks.find((mark) => cut.text.includes(mark)) ?? ''
        expect(marker).not.toBe('')
        if (marker === marks[0]) expect(stated).toBe(cut.cutChars)
        const kept = cut.text.length - marker.length
        expect(kept + cut.cutChars).toBe(text.length)
        expect(reassembles(text, cut.text, marker)).toBe(true)
        if (isWellFormed(text)) expect(isWellFormed(cut.text)).toBe(true)
      }),
    )
  })

  it.each([0, -1, Number.NaN, 0.5])('marks the cut also where the limit is %d', (maxChars) => {
    expect(shortenText('Do NOT delete', { maxChars, mode: 'middle' })).toEqual({ text: '…', cutChars: 13 })
    expect(truncateOutput('Do NOT delete', maxChars)).toBe('…')
  })

  it('leaves an empty text empty, whatever the limit', () => {
    expect(truncateOutput('', 0)).toBe('')
  })

  it('cuts no more than it must beside half of a pair that came alone', () => {
    const mark = () => ''
    expect(shortenText('ab\ud800cd', { maxChars: 3, mode: 'head', mark })).toEqual({ text: 'ab\ud800', cutChars: 2 })
    expect(shortenText('ab\udc00cd', { maxChars: 3, mode: 'tail', mark })).toEqual({ text: '\udc00cd', cutChars: 2 })
  })

  it('marks the cut with fewer characters where the mark does not fit', () => {
    const order = 'Do NOT delete the production database'
    expect(truncateOutput(order, 20)).toBe('Do NO[…27 cut…]abase')
    expect(truncateOutput(order, 10)).toBe('Do NO…base')
    expect(shortenText(order, { maxChars: 4, mode: 'head' })).toEqual({ text: 'Do …', cutChars: 34 })
    expect(shortenText(order, { maxChars: 4, mode: 'tail' })).toEqual({ text: '…ase', cutChars: 34 })
    expect(truncateOutput(order, 1)).toBe('…')
  })

  it('takes any number for a limit', () => {
    expect(shortenText('hello', { maxChars: Number.POSITIVE_INFINITY, mode: 'head' }).cutChars).toBe(0)
  })
})

describe('truncateOutput', () => {
  it('gives a model at most 30,000 characters of a longer text, and says what is missing', () => {
    expect(MAX_TOOL_OUTPUT_LENGTH).toBe(30_000)
    const short = 'y'.repeat(30_000)
    expect(truncateOutput(short)).toBe(short)
    expect(truncateOutput(`${short}y`)).toContain('characters cut')
    const cut = truncateOutput('x'.repeat(1_000_000))
    expect(cut.length).toBeLessThanOrEqual(30_000)
    expect(cut.length).toBeGreaterThan(29_990)
    expect(cut).toMatch(/97\d,\d{3} characters cut/)
  })
})

/** True when the cut text is a head and a tail of the whole around the marker. */
function reassembles(whole: string, cut: string, marker: string): boolean {
  for (let at = 0; at <= cut.length - marker.length; at++) {
    const [head, tail] = [cut.slice(0, at), cut.slice(at + marker.length)]
    if (cut.startsWith(marker, at) && whole.startsWith(head) && whole.endsWith(tail)) return true
  }
  return false
}

function isWellFormed(text: string): boolean {
  return !/\p{Surrogate}/u.test(text)
}
