import { describe, expect, it } from 'vitest'
import { boundSnapshot } from './bound-snapshot.ts'

const BOUNDS = { maxChars: 400, maxLines: 100 }

describe('boundSnapshot', () => {
  it('leaves alone what fits', () => {
    const text = '- list [ref=e1]:\n  - listitem [ref=e2]: one'
    expect(boundSnapshot(text, BOUNDS)).toEqual({ text, isCut: false })
  })

  it('keeps the top of every part before the depth of the first', () => {
    const part = (ref: number) =>
      [`- region [ref=e${ref}]:`, ...Array.from({ length: 20 }, (_, at) => `  - text: line ${at}`)].join('\n')
    const { text, isCut } = boundSnapshot([part(1), part(2), part(3)].join('\n'), BOUNDS)
    expect(isCut).toBe(true)
    expect(text).toMatch(/region \[ref=e1\].*region \[ref=e2\]: … 20 lines left out\n- region \[ref=e3\]: … 20 lines/s)
    expect(text).toContain('line 0')
    expect(text.length).toBeLessThanOrEqual(440)
  })

  it('counts every line that is left out, once', () => {
    const lines = ['- list [ref=e1]:', ...Array.from({ length: 300 }, (_, at) => `  - listitem [ref=e${at + 2}]`)]
    const { text } = boundSnapshot(lines.join('\n'), BOUNDS)
    const missing = [...text.matchAll(/… (\d+) lines left out/g)].reduce((sum, [, count]) => sum + Number(count), 0)
    expect(missing + text.split('\n').length).toBe(lines.length)
  })

  it('cuts lines that alone are too long, and a page that is one line', () => {
    const { text, isCut } = boundSnapshot(`- text: ${'x'.repeat(5_000)}`, { maxChars: 10_000, maxLines: 10 })
    expect([isCut, text.length, text.at(-1)]).toEqual([true, 601, '…'])
    expect(boundSnapshot('x\n'.repeat(10_000), BOUNDS).text.length).toBeLessThanOrEqual(440)
    expect(boundSnapshot('', BOUNDS)).toEqual({ text: '', isCut: false })
  })
})
