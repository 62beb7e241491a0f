import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { limitDepth } from './limit-depth.ts'

describe('limitDepth', () => {
  it('leaves a usual page as it is', () => {
    const html = `<!doctype html><p>a<p>b<ul>${'<li>x'.repeat(5_000)}</ul>${'<br>'.repeat(5_000)}<script>"<b>".repeat(9)</script>`
    expect(limitDepth(html)).toBe(html)
  })

  it('keeps 256 levels, and the text of those below', () => {
    expect(limitDepth(`${'<div>'.repeat(1_000)}text${'</div>'.repeat(1_000)}`)).toBe(
      `${'<div>'.repeat(256)}text${'</div>'.repeat(256)}`,
    )
  })

  it('counts an element that was never closed as ended by the end of the one around it', () => {
    const html = '<div><b><font color=red>x</div><ruby>a<rt>b</ruby>'.repeat(2_000)
    expect(limitDepth(html)).toBe(html)
  })

  it('is not misled by ends without a beginning', () => {
    expect(limitDepth('<div></b>'.repeat(1_000))?.match(/<div>/g)).toHaveLength(256)
  })

  it('does not count the tags in scripts and comments', () => {
    const html = `<script>${'<div>'.repeat(5_000)}</script><!--${'<div>'.repeat(5_000)}--><b>x</b>`
    expect(limitDepth(html)).toBe(html)
  })

  it('keeps the tags that hide something at any depth, and refuses a page of nothing else', () => {
    expect(limitDepth(`${'<div>'.repeat(600)}<p hidden>a</p><div style="display:none">b</div>`)).toContain(
      '<div style="display:none">b</div>',
    )
    expect(limitDepth('<div style="display:none">'.repeat(2_000))).toBeUndefined()
  })

  it('gives back any text without tags as it is', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const plain = text.replaceAll('<', '')
        expect(limitDepth(plain)).toBe(plain)
      }),
    )
  })

  it('comes to the end of 1 MB of nonsense: looking all through it for each tag would take minutes', () => {
    const nonsense = [
      '<a',
      '<',
      '<a>',
      '<!--',
      '<script>',
      '</a',
      '<a <a>',
      '<textarea></textare>',
      '<a></b>',
      '<a></a>',
    ]
    for (const text of nonsense) {
      expect(() => limitDepth(text.repeat(Math.floor(1_000_000 / text.length)))).not.toThrow()
    }
  })
})
