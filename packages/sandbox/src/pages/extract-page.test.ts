import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { extractPage } from './extract-page.ts'

const FILLER = 'Bread needs flour, water, salt and, above all, time. '.repeat(10)

const markdown = (html: string) => extractPage({ html, url: 'https://example.com/food/bread', as: 'markdown' })
const text = (html: string) => extractPage({ html, url: 'https://example.com/food/bread', as: 'text' })

describe('the article of a page', () => {
  const page = `<!doctype html><html lang="en"><head><title>Bread &amp; butter</title><meta name="author" content="Jo Baker"></head>
    <body><nav><a href="/">Home</a> <a href="/all">All</a></nav><article><h1>Bread</h1><p>${FILLER}</p><h2>How</h2><p>${FILLER}</p></article>
    <footer>Imprint</footer></body></html>`

  it('has a title, an author, a language and no menus', () => {
    expect(markdown(page)).toMatchObject({ title: 'Bread & butter', byline: 'Jo Baker', language: 'en' })
    expect(markdown(page).text).toContain('## How')
    expect(markdown(page).text).not.toMatch(/Home|Imprint/)
  })

  it('is plain paragraphs as text', () => {
    expect(text(page).text).toContain(`${FILLER.trim()}\n\nHow\n\nBread`)
  })
})

describe('a page without an article', () => {
  it.each(['', '   ', '<!doctype html>', '<html>', '<head><title></title>', '\0\0'])('is empty for %j', (html) => {
    expect(markdown(html)).toEqual({ text: '' })
    expect(text(html)).toEqual({ text: '' })
  })

  it('is the text of its body, however it is written', () => {
    expect(text('just <b>words</b>, no<i>thing</i> else').text).toBe('just words, nothing else')
    expect(markdown('<title>T</title><p>one<p>two').text).toBe('one\n\ntwo')
    expect(text('<html><head><title>T</title></head>\n<body>hi</body></html>tail')).toEqual({
      title: 'T',
      text: 'hi tail',
    })
    expect(text('<p>a&amp;b&nbsp;c&lt;d&#x65;&bogus;</p>').text).toBe('a&b c<de&bogus;')
  })
})

describe('links and pictures', () => {
  it('makes links whole and drops those that are no web addresses', () => {
    expect(markdown('<a href="../wine">wine</a> <a href="//other.example/x">x</a>').text).toBe(
      '[wine](https://example.com/wine) [x](https://other.example/x)',
    )
    for (const href of [
      'javascript:alert(1)',
      ' JavaScript:alert(1)',
      'data:text/html,x',
      'java\nscript:x',
      'file:///etc',
    ])
      expect(markdown(`<a href="${href}">go</a>`).text).toBe('go')
  })

  it('takes links from where the page says', () => {
    expect(markdown('<base href="https://cdn.example/v2/"><a href="a">a</a>').text).toBe(
      '[a](https://cdn.example/v2/a)',
    )
    expect(markdown('<base href="javascript:x"><a href="a">a</a>').text).toBe('[a](https://example.com/food/a)')
  })

  it('keeps addresses for mail and telephones, and no scheme that only ends like one', () => {
    expect(markdown('<a href="mailto:a@b.example">m</a> <a href="tel:+1">t</a>').text).toBe(
      '[m](mailto:a@b.example) [t](tel:+1)',
    )
    for (const href of ['xmailto:a', 'shttp://a/', 'xtel:1'])
      expect(markdown(`<a href="${href}">go</a>`).text).toBe('go')
  })

  it('keeps links of 2000 characters and descriptions of 500', () => {
    const link = (length: number) => `https://a.example/${'x'.repeat(length - 18)}`
    expect(markdown(`<a href="${link(2_000)}">go</a>`).text).toBe(`[go](${link(2_000)})`)
    expect(markdown(`<a href="${link(2_001)}">go</a>`).text).toBe('go')
    expect(text(`<img alt="${'a'.repeat(501)}">`).text).toBe(`(image: ${'a'.repeat(500)})`)
    expect(text(`<title>${'t'.repeat(501)}</title>x`).title).toBe('t'.repeat(500))
  })

  it('keeps what a picture shows, not the picture', () => {
    expect(markdown('<p>See <img src="https://spy.example/?q=secret" alt="a loaf"> here').text).toBe(
      'See (image: a loaf) here',
    )
    expect(markdown('<p>See <img src=x> here').text).toBe('See here')
  })
})

describe('what nobody sees', () => {
  it.each([
    ['a comment', '<!-- ORDER -->'],
    ['the hidden attribute', '<p hidden>ORDER</p>'],
    ['aria-hidden', '<span aria-hidden="TRUE">ORDER</span>'],
    ['display: none', '<div style="color:red; DISPLAY : none !important"><p>ORDER</p></div>'],
    ['display: none with a comment', '<p style="display:/* */none">ORDER</p>'],
    ['display: none with an escape', '<p style="d\\69splay:n\\6f ne">ORDER</p>'],
    ['visibility', '<p style="visibility:hidden">ORDER</p>'],
    ['no opacity', '<p style="opacity:0.0">ORDER</p>'],
    ['no size', '<p style="font-size:0px">ORDER</p>'],
    ['a place off the screen', '<p style="position:absolute;left:-9999px">ORDER</p>'],
    ['a script', '<script>"ORDER"</script>'],
    ['a style', '<style>ORDER</style>'],
    ['a template', '<template><p>ORDER</p></template>'],
    ['noscript', '<noscript>ORDER</noscript>'],
    ['a form field', '<input type="hidden" value="ORDER"><textarea>ORDER</textarea><select><option>ORDER</select>'],
    ['a drawing', '<svg><title>ORDER</title><text>ORDER</text></svg>'],
    ['a closed dialog', '<dialog>ORDER</dialog>'],
    ['a title that shows on hovering', '<a href="/x" title="ORDER">x</a>'],
  ])('is left out: %s', (_, html) => {
    for (const around of [html, `<article><p>${FILLER}</p>${html}<p>${FILLER}</p></article>`]) {
      expect(markdown(around).text).not.toContain('ORDER')
      expect(text(around).text).not.toContain('ORDER')
    }
  })

  it('does not take along what is seen', () => {
    expect(text('<p style="opacity:0.5;font-size:10px;left:-2px;display:block">seen').text).toBe('seen')
  })

  it('is left out of pages nested deeper than any browser goes', () => {
    const hidden = [
      '<p hidden>ORDER</p>',
      '<b style="display:none">ORDER</b>',
      '<div hidden><div></b></div>ORDER</div>',
      '<div id=">" hidden>ORDER</div>',
      "<p title='>' style='opacity:0'>ORDER</p>",
    ]
    for (const html of hidden) expect(text(`${'<div>'.repeat(1_000)}seen${html}`).text).toBe('seen')
  })
})

describe('Markdown', () => {
  it('has tables where the page has data', () => {
    const html = `<table><thead><tr><th>Kind</th><th>Price</th></tr></thead><tbody>
      <tr><td>Rye | dark</td><td><b>3</b><br>Euro</td></tr></tbody></table>`
    expect(markdown(html).text).toBe('| Kind | Price |\n| --- | --- |\n| Rye \\| dark | **3** Euro |')
  })

  it('has no tables where the page uses them for its layout', () => {
    expect(markdown('<table><tr><td>left<td><table><tr><td>right</table></table>').text).not.toContain('|')
    expect(markdown('<table><tr><td>alone</table>').text).toBe('alone')
  })

  it('has headings, lists, code and quotes', () => {
    const html =
      '<h2>Do</h2><ul><li>one<li>two<ol><li>a</ol></ul><pre><code class="language-js">if (a)\n  b()</code></pre><blockquote>said</blockquote>'
    expect(markdown(html).text).toBe('## Do\n\n-   one\n-   two\n    1.  a\n\n```js\nif (a)\n  b()\n```\n\n> said')
  })

  it('cannot be written by the text of a page', () => {
    expect(markdown('<p># no heading [no](http://link.example)').text).toBe(
      '\\# no heading \\[no\\](http://link.example)',
    )
  })
})

describe('plain text', () => {
  it('has lines for items and rows, and keeps what is preformatted', () => {
    expect(text('<ul><li>one<li><p>two</p></ul><table><tr><td>a<td>b<tr><td>c</table><pre>x\n  y</pre>').text).toBe(
      '- one\n- two\n\na\tb\nc\n\nx\n  y',
    )
  })

  it('has a blank only where the page has one', () => {
    expect(text('x<b>a b</b>c').text).toBe('xa bc')
    expect(text('x<b> a b </b>c').text).toBe('x a b c')
    expect(text('x <b>a</b> c').text).toBe('x a c')
    expect(text('<p>a<p>b<br>c').text).toBe('a\n\nb\nc')
  })
})

describe('any page at all', () => {
  const piece = fc.constantFrom(
    ...'<p> </p> <div> </div> <table> <tr> <td> <ul> <li> <a href=x> </a> <b <!-- --> <script> </script> <pre> <svg> <body> <html> <head> <title> &amp; &#0; <![CDATA[ ]]> <? > " \' ='.split(
      ' ',
    ),
    'words and more words, ',
    '<p hidden>ORDER</p>',
    '\0',
  )

  it('is read, and nothing hidden is', () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), fc.constantFrom('markdown', 'text'), (pieces, as) => {
        const page = extractPage({ html: pieces.join(''), url: 'https://example.com/', as })
        expect(page.text).not.toMatch(/[\0\u200b]/)
      }),
      { numRuns: 300 },
    )
  })
})
