import { expect, it } from 'vitest'
import { matchHost, parseHosts } from './match-host.ts'
import { spelledOut } from './spelled-out.ts'

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
