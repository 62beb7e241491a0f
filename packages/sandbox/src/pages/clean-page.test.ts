import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkEach } from '../../../../test/support/check-each.ts'
import { cleanLine, cleanText, isHidden, type PageElement, tidyLines } from './clean-page.ts'
import { OpenElements } from './limit-depth.ts'
import { pageError } from './page-workers.ts'

describe('cleanText', () => {
  it.each([
    ['zero-width characters', 'pass\u200bword\u2060\ufeff', 'password'],
    ['characters that turn the direction', 'a\u202eb\u2066c\u2069', 'abc'],
    ['controls', 'a\0b\x1b[31mc\x7f\x85', 'ab[31mc'],
    ['letters hidden in tags', 'hi\u{e0069}\u{e0067}', 'hi'],
    ['bytes hidden in variation selectors', 'hi\u{e0101}\u{e0110}\ufe01\ufe02\ufe03', 'hi\ufe01'],
    ['bits hidden in joiners', 'a\u200c\u200d\u200cb\u200dc', 'abc'],
    ['halves of characters', 'a\ud800b', 'ab'],
  ])('takes out %s', (_, text, clean) => {
    expect(cleanText(text)).toBe(clean)
  })

  it('keeps what people write: joined emoji, Persian, accents, tabs and lines', () => {
    const text = 'famille 👨‍👩‍👧 می‌خواهم é\t❤️\nend'
    expect(cleanText(text)).toBe(text)
  })

  it('writes every line end as one', () => {
    expect(cleanText('a\r\nb\rc\n')).toBe('a\nb\nc\n')
  })

  it('is done after one time', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const once = cleanText(text)
        expect(cleanText(once)).toBe(once)
      }),
    )
  })
})

describe('cleanLine and tidyLines', () => {
  it('make one line, and paragraphs with one empty line between them', () => {
    expect(cleanLine('  a \n\t b\u200b ')).toBe('a b')
    expect(tidyLines('\n\n a  \n\n\n\nb\n\n')).toBe(' a\n\nb')
    expect(tidyLines('')).toBe('')
  })
})

function element(nodeName: string, attributes: Record<string, string> = {}): PageElement {
  return {
    nodeName,
    getAttribute: (name: string) => attributes[name] ?? null,
    hasAttribute: (name: string) => name in attributes,
  } as unknown as PageElement
}
const styled = (style: string) => isHidden(element('P', { style }))

describe('a style that hides', () => {
  it('takes what is shown out of sight', () => {
    checkEach(
      [
        ...['display:none', 'DISPLAY : NONE !important', 'color:red;display:none', 'display:/* x */none'],
        ...['visibility:hidden', 'visibility: collapse', 'content-visibility:hidden'],
        ...['opacity:0', 'opacity:.0', 'opacity: 0%', 'opacity:0!important', 'opacity:00.00 '],
        ...['font-size:0', 'font-size:-0px', 'font-size:+0.0em', 'font-size:0rem', 'font-size:0pt', 'font-size:0%'],
        ...['font-size:0vw', 'font-size:0vh !important', 'text-indent:-999px', 'left:-100px', 'top:-1000em'],
        ...['d\\69 splay:none', 'd\\000069splay:none', 'di\\splay:none', 'dis\\0play:none', 'dis\\110000 play:none'],
      ],
      (style) => {
        expect(styled(style)).toBe(true)
      },
    )
  })

  it('leaves in sight what only looks similar', () => {
    checkEach(
      [
        ...['display:block', 'display:inline none', 'display', 'none:display', 'xdisplay:none', 'display:\\6eine'],
        ...['visibility:visible', 'visibility:not hidden', 'content-visibility:auto hidden'],
        ...['opacity:0.1', 'opacity:1', 'opacity:10', 'opacity:.5%', 'opacity:x 0'],
        ...['font-size:10px', 'font-size:0.1em', 'font-size:1px 0', 'font-size:0foo'],
        ...[
          'text-indent:-99px',
          'text-indent:calc(1px -100px)',
          'left:-99px',
          'left:5px -100px',
          'top:100px',
          'top:0 -100px',
        ],
        ...['right:-999px', 'a:\\10ffff', ''],
      ],
      (style) => {
        expect(styled(style)).toBe(false)
      },
    )
  })

  it('is looked for in the first 10000 characters', () => {
    const padded = (length: number) => `a:${'x'.repeat(length - 15)};display:none`
    expect([padded(10_000).length, styled(padded(10_000)), styled(padded(10_001))]).toEqual([10_000, true, false])
  })
})

describe('an element that shows nothing', () => {
  it('is known by its name', () => {
    checkEach(
      `SCRIPT STYLE TEMPLATE NOSCRIPT IFRAME FRAME FRAMESET OBJECT EMBED APPLET SVG MATH CANVAS AUDIO VIDEO MAP INPUT
    SELECT DATALIST TEXTAREA PROGRESS METER NOEMBED NOFRAMES PLAINTEXT PORTAL svg`.split(/\s+/),
      (name) => {
        expect(isHidden(element(name))).toBe(true)
      },
    )
  })

  it('says so by an attribute, or is a dialog that is not open', () => {
    const hidden = [
      element('P', { hidden: '' }),
      element('P', { 'aria-hidden': ' TRUE ' }),
      element('DIALOG'),
      element('P', { style: 'display:none' }),
    ]
    const seen = [element('P'), element('P', { 'aria-hidden': 'false' }), element('DIALOG', { open: '' })]
    expect([hidden.map(isHidden), seen.map(isHidden)]).toEqual([
      [true, true, true, true],
      [false, false, false],
    ])
  })
})

describe('elements that have not ended', () => {
  it.each([
    ['p', 'p'],
    ['li', 'li'],
    ['dt', 'dt dd'],
    ['dd', 'dt dd'],
    ['rt', 'rt rp'],
    ['rp', 'rt rp'],
    ['td', 'td th thead'],
    ['th', 'td th'],
    ['tr', 'tr td th'],
    ['tbody', 'tr td th thead tbody'],
    ['tfoot', 'tr td th thead tbody'],
    ['option', 'option'],
    ['optgroup', 'option optgroup'],
    ['div', ''],
  ])('are ended by the beginning of %s: %s', (name, ended) => {
    const all = 'p li dt dd rt rp td th tr thead tbody tfoot option optgroup div'.split(' ')
    const found = all.filter((before) => {
      const open = new OpenElements()
      open.begin(before, false)
      open.begin(name, false)
      return open.depth === 1
    })
    expect(found.toSorted().join(' ')).toBe(ended.split(' ').toSorted().join(' '))
  })

  it('are ended together, by an end that is at most 256 elements away', () => {
    const depthAfter = (inside: number) => {
      const open = new OpenElements()
      open.begin('a', false)
      for (let count = 0; count < inside; count += 1) open.begin('b', false)
      return [open.end('a'), open.depth]
    }
    expect([depthAfter(0), depthAfter(255), depthAfter(256)]).toEqual([
      [false, 0],
      [false, 0],
      [true, 256],
    ])
  })

  it('stay where only an end without a beginning comes', () => {
    const open = new OpenElements()
    open.begin('a', false)
    expect([open.end('b'), open.depth, open.end('a'), open.end('a'), open.depth]).toEqual([false, 1, false, false, 0])
  })
})

it('names a page that cannot be read by 200 characters of its address', () => {
  const error = pageError('u'.repeat(201), 'it is broken')
  expect(error).toMatchObject({
    code: 'UPSTREAM_ERROR',
    message: `The page ${'u'.repeat(200)} cannot be read: it is broken.`,
    retryable: false,
    fix: { hint: 'Try extractMode text, or get it as it is with core/http.fetchText.' },
  })
  expect(pageError('u', 'x', 'why').cause).toBe('why')
})
