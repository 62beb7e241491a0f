import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { judgeRedirect, judgeUrl } from './judge-url.ts'

const refused = (code: string) => expect.objectContaining({ code })

describe('judgeUrl', () => {
  it('gives the one normal form of a URL', () => {
    expect(judgeUrl('HTTPS://Example.COM.:443/a/../b?q=1#part').href).toBe('https://example.com/b?q=1')
    expect(judgeUrl('http://münchen.example').href).toBe('http://xn--mnchen-3ya.example/')
    expect(judgeUrl('http://[2001:DB8::1]:8080/').href).toBe('http://[2001:db8::1]:8080/')
  })

  it('refuses what parsers read in different ways', () => {
    const texts = [
      'http://a b/',
      'http://a\tb/',
      'http:\\\\a\\',
      'http://a.example\\.evil/',
      'http:/a/',
      'http:///a/',
      'http:a',
      '//a/',
      'a',
    ]
    for (const text of [
      ...texts,
      '',
      `http://a/${'x'.repeat(8192)}`,
      'http://a..b/',
      'http://.a/',
      'http://a:99999/',
    ]) {
      expect(() => judgeUrl(text), text).toThrow(refused('INPUT_SCHEMA_INVALID'))
    }
    for (const value of [null, 1, {}, new URL('http://a/')]) {
      expect(() => judgeUrl(value as string)).toThrow(refused('INPUT_SCHEMA_INVALID'))
    }
  })

  it('refuses an IPv4 address in any spelling but four plain numbers', () => {
    const texts = [
      '2130706433',
      '0x7f.1',
      '127.1',
      '0177.0.0.1',
      '127.0.0.1.',
      '127.0.0.0x1',
      '１２７.0.0.1',
      '%31%32%37.0.0.1',
    ]
    for (const host of texts) expect(() => judgeUrl(`http://${host}/`), host).toThrow(refused('INPUT_SCHEMA_INVALID'))
    expect(judgeUrl('http://127.0.0.1:3000/').port).toBe('3000')
  })

  it('refuses credentials, other schemes and ports of other protocols', () => {
    for (const text of ['http://u:p@a/', 'http://u@a/', 'http://@a/', 'http://a:80@b/']) {
      expect(() => judgeUrl(text)).toThrow(refused('INPUT_SCHEMA_INVALID'))
    }
    for (const text of [
      'file:///etc/passwd',
      'javascript:alert(1)',
      'ftp://a/',
      'http://a:25/',
      'http://a:0/',
      'https://a:22/',
    ]) {
      expect(() => judgeUrl(text)).toThrow(refused('HTTP_DISALLOWED_HOST'))
    }
    expect(judgeUrl('http://a/?at=x@y').search).toBe('?at=x@y')
  })

  it('is stable: the normal form of a normal form is itself', () => {
    fc.assert(
      fc.property(fc.webUrl({ withFragments: true, withQueryParameters: true }), (text) => {
        const { href } = judgeUrl(text)
        expect(judgeUrl(href).href).toBe(href)
      }),
      { numRuns: 50 },
    )
  })
})

describe('judgeRedirect', () => {
  const from = new URL('https://a.example/x/y?z')

  it('follows relative, absolute and scheme-relative locations', () => {
    expect(judgeRedirect('?page=2', from).href).toBe('https://a.example/x/y?page=2')
    expect(judgeRedirect('../w', from).href).toBe('https://a.example/w')
    expect(judgeRedirect('//b.example/x', from).href).toBe('https://b.example/x')
    expect(judgeRedirect('http://c.example', from).href).toBe('http://c.example/')
  })

  it('judges them by the same rules', () => {
    for (const location of ['/\\b.example', '//2130706433/', 'http:/127.0.0.1/', '//u@b/', 'https:b.example']) {
      expect(() => judgeRedirect(location, from), location).toThrow(refused('INPUT_SCHEMA_INVALID'))
    }
    expect(() => judgeRedirect('javascript:alert(1)', from)).toThrow(refused('HTTP_DISALLOWED_HOST'))
  })
})
