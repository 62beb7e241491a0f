import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkEach } from '../../../../test/support/check-each.ts'
import { judgeRedirect, judgeUrl, matchHost, parseHosts, spelledOut } from './judge-destination.ts'

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
      'http://a../',
      '1ftp://a/',
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

  it('measures a URL in bytes, up to 8192', () => {
    const ofBytes = (bytes: number) => `http://a/${'x'.repeat(bytes - 9)}`
    expect(judgeUrl(ofBytes(8192)).pathname).toHaveLength(8184)
    expect(() => judgeUrl(ofBytes(8193))).toThrow('The URL has 8193 bytes, the limit is 8192.')
    expect(() => judgeUrl(`http://a/${'ä'.repeat(4092)}`)).toThrow('The URL has 8193 bytes, the limit is 8192.')
    expect(() => judgeUrl(`http://a/${'ä'.repeat(4091)}`)).not.toThrow()
    expect(() => judgeUrl(`http://a/${'€'.repeat(2728)}`)).toThrow('The URL has 8193 bytes, the limit is 8192.')
  })

  it.each([
    [
      '//http://a/',
      'The URL does not begin with http:// or https:// and a host.',
      'Give a complete http or https URL.',
    ],
    ['http://a b/', 'The URL has a blank, a control character or a backslash.', 'Give a complete http or https URL.'],
    ['http://a:99999/', 'The URL cannot be parsed.', 'Give a complete http or https URL.'],
    ['http://a../', 'The host has an empty part between its dots.', 'Give a complete http or https URL.'],
    [null, 'A URL is a string, not null.', 'Give a complete http or https URL.'],
    [7, 'A URL is a string, not number.', 'Give a complete http or https URL.'],
    ['http://u@a/', 'The URL carries a user name or password.', 'Leave them out; credentials belong in a header.'],
    [
      'http://127.1:80/',
      'The host is the address 127.0.0.1 in another spelling.',
      'Write the address as four plain numbers.',
    ],
    ['http://a:25/', 'Port 25 belongs to another protocol than HTTP.', 'Use the port of a web server.'],
    ['FTP://a/', 'The scheme ftp: is not allowed, only http: and https: are.', 'Use an http or https URL.'],
  ])('says what is wrong with %j', (text, message, hint) => {
    expect(() => judgeUrl(text as string)).toThrow(
      expect.objectContaining({ message, fix: expect.objectContaining({ hint }) }),
    )
  })

  it('reaches no port of another protocol', () => {
    checkEach(
      `0 1 7 9 11 13 15 17 19 20 21 22 23 25 37 42 43 53 69 77 79 87 95 101 102 103 104 109 110 111 113 115 117 119 123
    135 137 139 143 161 179 389 427 465 512 513 514 515 526 530 531 532 540 548 554 556 563 587 601 636 989 990 993 995
    1719 1720 1723 2049 3659 4045 4190 5060 5061 6000 6566 6665 6666 6667 6668 6669 6679 6697 10080`.split(/\s+/),
      (port) => {
        expect(() => judgeUrl(`http://a:${port}/`)).toThrow(refused('HTTP_DISALLOWED_HOST'))
      },
    )
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
    expect(judgeRedirect('/w:8?u=http://d.example', from).href).toBe('https://a.example/w:8?u=http://d.example')
  })

  it('judges them by the same rules', () => {
    for (const location of ['/\\b.example', '//2130706433/', 'http:/127.0.0.1/', '//u@b/', 'https:b.example']) {
      expect(() => judgeRedirect(location, from), location).toThrow(refused('INPUT_SCHEMA_INVALID'))
    }
    expect(() => judgeRedirect('javascript:alert(1)', from)).toThrow(refused('HTTP_DISALLOWED_HOST'))
  })
})

const allows = (host: string, ...entries: string[]) => matchHost(host, parseHosts(entries))

it('matches whole names only, in their ASCII form', () => {
  expect(allows('api.github.com', 'API.github.com')).toBe(true)
  expect(allows('xn--mnchen-3ya.example', 'münchen.example')).toBe(true)
  for (const host of ['api.github.com.evil.example', 'evil-api.github.com', 'github.com', 'x.api.github.com']) {
    expect(allows(host, 'api.github.com')).toBe(false)
  }
})

it('reads *. as one label or more, without the apex', () => {
  expect(allows('a.openai.com', '*.openai.com')).toBe(true)
  expect(allows('a.b.openai.com', '*.openai.com')).toBe(true)
  for (const host of ['openai.com', 'evilopenai.com', '.openai.com', 'openai.com.evil.example']) {
    expect(allows(host, '*.openai.com')).toBe(false)
  }
})

it('lets * mean any host but this machine by name, which has to be named', () => {
  expect(allows('anything.example', '*')).toBe(true)
  for (const host of ['localhost', 'a.localhost']) expect(allows(host, '*')).toBe(false)
  expect(allows('localhost', 'localhost')).toBe(true)
})

it('never reads an address as labels', () => {
  expect(allows('127.0.0.1', '*.0.0.1')).toBe(false)
  expect(allows('[::1]', '::1')).toBe(true)
  expect(allows('8.8.8.8', 'dns.google')).toBe(false)
})

it('allows nothing by default, and no name that every object has', () => {
  expect(allows('example.com')).toBe(false)
  expect(allows('constructor', 'example.com')).toBe(false)
})

it('refuses entries that are no hosts', () => {
  for (const entry of [
    'https://a.example',
    'a.example/x',
    'a.example:80',
    '*.*.example',
    '*a.example',
    '',
    'a..b',
    'u@a',
  ]) {
    expect(() => parseHosts([entry]), entry).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' }))
  }
})

it('reads * for addresses, too, and says how to write an entry', () => {
  expect([allows('8.8.8.8', '*'), allows('[2001:db8::1]', '*'), allows('[::1]', '*.example')]).toEqual([
    true,
    true,
    false,
  ])
  expect(allows('[2001:db8::1]', '2001:DB8:0::1')).toBe(true)
  expect(allows('xlocalhost', '*')).toBe(true)
  expect(() => parseHosts(['a.example:80'])).toThrow(
    expect.objectContaining({
      message: '"a.example:80" is not a host that can be allowed.',
      fix: expect.objectContaining({
        hint: 'Write api.example.org, *.example.org or an address; no scheme, port or path.',
      }),
    }),
  )
})

it('opens the ranges that a host spells out', () => {
  const loopback = ['127.0.0.0/8', '::1/128']
  expect(['localhost', 'a.localhost', 'xlocalhost', 'a.example', ''].map(spelledOut)).toEqual([
    loopback,
    loopback,
    [],
    [],
    [],
  ])
  expect(['10.0.0.1', '[fd00::1]', 'fd00::1'].map(spelledOut)).toEqual([['10.0.0.1'], ['fd00::1'], ['fd00::1']])
})
