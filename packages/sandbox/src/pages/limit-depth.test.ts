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

  it('takes no name from inside of what is not a tag', () => {
    for (const html of ['< <b>'.repeat(1_000), '<1 <b>'.repeat(1_000), '<!-- <b> -->'.repeat(1_000)]) {
      expect(limitDepth(html)).toBe(html)
    }
  })

  it('refuses 512 levels that must stay, and takes one less', () => {
    expect(limitDepth('<div hidden>'.repeat(511))).toBe('<div hidden>'.repeat(511))
    expect(limitDepth('<div hidden>'.repeat(512))).toBeUndefined()
  })

  it('does not count elements without content or that end themselves', () => {
    const names = 'area base br col embed frame hr img input link meta param source track wbr'.split(' ')
    for (const name of names) {
      const html = `<${name} hidden>`.repeat(600)
      expect(limitDepth(html), name).toBe(html)
    }
    expect(limitDepth('<b hidden/>'.repeat(600))).toBe('<b hidden/>'.repeat(600))
  })

  it('does not count what stands in elements whose content is not markup', () => {
    const names = ['script', 'style', 'textarea', 'title', 'xmp', 'iframe', 'noembed', 'noframes', 'plaintext']
    for (const name of names) {
      const html = `<${name}>${'<p hidden><div hidden>'.repeat(600)}</${name.toUpperCase()}>`
      expect(limitDepth(html), name).toBe(html)
    }
  })

  it('keeps a tag below 256 levels whose end is not known', () => {
    const deep = '<div>'.repeat(300)
    for (const tag of ['<p title=">', "<p title='>", '<p STYLE=x>', '<template>', '<noscript>']) {
      expect(limitDepth(`${deep}${tag}x`)?.endsWith(`${tag}x`), tag).toBe(true)
    }
    expect(limitDepth(`${deep}<p title="a">x`)?.endsWith('<div>x')).toBe(true)
  })

  it('returns any text without tags as it is', () => {
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
