import { describe, expect, it } from 'vitest'
import { boundSnapshot } from './take-snapshot.ts'

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

describe('the bounds of a snapshot', () => {
  // With 40 characters for a note each, the lines cost 44, 46 and 47.
  const TREE = ['- a:', '  - b:', '    - c', '- d:', '  - e:', '    - f'].join('\n')

  it.each([
    ['all but the last line', 227, 5, ['- a:', '  - b:', '    - c', '- d:', '  - e: … 1 lines left out']],
    ['no deep line for want of one character', 226, 5, ['- a:', '  - b: 1', '- d:', '  - e: 1']],
    ['no deep line for want of a line', 227, 4, ['- a:', '  - b: 1', '- d:', '  - e: 1']],
    ['the second level where it just fits', 180, 5, ['- a:', '  - b: 1', '- d:', '  - e: 1']],
    ['what comes first where it does not', 179, 5, ['- a:', '  - b: 1', '- d: 2']],
    ['the first lines where there are few', 227, 3, ['- a:', '  - b: 1', '- d: 2']],
    ['the top where there is room for nothing else', 227, 2, ['- a: 2', '- d: 2']],
  ])('leave %s', (_, maxChars, maxLines, lines) => {
    const text = lines.map((line) => line.replace(/: (\d)$/, ': … $1 lines left out')).join('\n')
    expect(boundSnapshot(TREE, { maxChars, maxLines })).toEqual({ text, isCut: true })
  })

  it('are reached, not passed', () => {
    const isCut = (text: string, maxChars: number, maxLines: number) =>
      boundSnapshot(text, { maxChars, maxLines }).isCut
    expect([isCut(TREE, TREE.length, 6), isCut(TREE, TREE.length - 1, 6), isCut(TREE, TREE.length, 5)]).toEqual([
      ...[false, true, true],
    ])
    const line = 'x'.repeat(600)
    expect([isCut(line, 9_999, 9), isCut(`${line}x`, 9_999, 9)]).toEqual([false, true])
    expect(boundSnapshot(`${line}xyz`, { maxChars: 9_999, maxLines: 9 }).text).toBe(`${line}…`)
  })

  it('hold for the whole text, with room for one note', () => {
    const { text } = boundSnapshot('ab\n'.repeat(100), { maxChars: 10, maxLines: 1 })
    expect(text).toBe('ab\n'.repeat(100).slice(0, 50))
  })

  it('count a line at the nearest one above it that is left', () => {
    const lines = ['- a:', '      - deep', '  - b:', '    - c:', '      - d']
    expect(boundSnapshot(lines.join('\n'), { maxChars: 95, maxLines: 4 })).toEqual({
      text: '- a: … 1 lines left out\n  - b: … 2 lines left out',
      isCut: true,
    })
  })
})
