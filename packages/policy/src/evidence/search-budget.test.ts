import type { Rule } from '@tool-hub/core'
import { describe, expect, it, vi } from 'vitest'
import { leastCpuMs } from '../../../../test/support/cpu-time.ts'
import { compilePolicy } from '../compile-policy.ts'
import { decide } from '../decide/decide.ts'
import { UserWords } from './user-words.ts'

const RULES: Rule[] = [{ allow: 'remote' }, { ask: 'remote', when: { tainted: true } }]
const policyOf = (rules: readonly Rule[]) =>
  compilePolicy({ owner: rules.map((rule, line) => ({ rule, source: { file: 'test.yaml', line }, base: '/' })) })
const policy = policyOf(RULES)
const SAID = 65_536
/** Of processor time, in the best round: expressions are compiled in the first one. */
const MAX_MS = 50

function fill(part: string, length: number): string {
  return part.repeat(Math.ceil(length / part.length)).slice(0, length)
}

function decided(
  words: UserWords,
  input: unknown,
  given: { policy?: ReturnType<typeof policyOf>; schema?: { jsonSchema(): unknown } } = {},
): string {
  return decide(given.policy ?? policy, {
    tool: 'mcp/x.send',
    names: [],
    groups: [],
    capabilities: ['remote'],
    targets: [],
    caller: 'direct',
    tainted: true,
    arguments: {
      tool: 'mcp/x.send',
      input,
      ...(given.schema && { schema: given.schema }),
      evidence: {
        hasUserText: true,
        isFromUser: (value, budget, asked) => words.has(value, budget, asked),
        isApproved: () => false,
      },
    },
  }).effect
}

describe('nothing that a caller sends blocks the process', () => {
  it.each([
    ...[
      'xa.bc',
      'a.bc ',
      'a',
      'a.',
      'a-',
      '1',
      'é',
      'a@',
      '//',
      '.',
      '\ufdfa',
      'not ',
      "don't ",
      'must not ',
      'send ',
      'send A-A- ',
      'send a@b.org. her ',
      'her mail is a@b.org send ',
      'says: send ',
      'leave a ',
      'bitte senden ',
      '把 a@b.org 发给 ',
      'a@b.org に送って ',
      'a@b.org 로 보내 ',
      'keep\n',
    ],
    ...[
      'keep a ',
      'jan 1 2024 ',
      '2024 ',
      '1,',
      'https://a ',
      'a@b.org ',
      '\n',
      ':\n- ',
      '张伟',
      '不要',
      '김철수에게 ',
      "'a' ",
      'e.g. ',
    ],
    ...[
      'ask me ',
      'ask me',
      'me ask ',
      'show me it ',
      'not now ',
      'now ',
      "don't it. ",
      'no, ',
      'never ',
      '算了。',
      'like A did to ',
      "A's ",
      'once ',
      'if a has ',
      'a. b',
      'no! ',
      'as soon\n',
      '除',
      'i want you to send ',
    ],
  ])('words of %j', (part) => {
    const said = fill(part, SAID)
    const input = { to: fill(part, 16_000).trim(), cc: 'ann@b.org', day: '2024-01-02', id: 4_711, body: 'a.bc' }
    let words = new UserWords([])
    expect(leastCpuMs(() => (words = new UserWords([said])), MAX_MS)).toBeLessThan(MAX_MS)
    expect(leastCpuMs(() => expect(decided(words, input)).toBe('ask'), MAX_MS)).toBeLessThan(MAX_MS)
  })

  it.each([
    ...[
      'a.bc ',
      'a',
      'a.',
      'a-',
      '1',
      'é',
      'a@',
      '//',
      'GB29 AA ',
      '\ufdfa',
      '&#104;',
      '&colon;',
      '\\.',
      '%2e',
      '=2E',
      '](',
      'href="a',
    ],
    ...[
      'src=\n',
      'url(',
      '@a',
      '12 ',
      '1-',
      '20-00-00 ',
      '2024',
      'a1',
      '\\\\a\\',
      '&#x',
      '=\n',
      '[a]: b ',
      '1,',
      '\u0301',
      'x:',
      '1.2.3.4',
    ],
    ...[
      '<',
      '<a ',
      '<a b=',
      '<a b="',
      '<a b="">',
      "<a b='<",
      '<!--',
      '<!-- -->',
      '</',
      ']:\n',
      '](\n',
      'href \n',
      'url(\n',
      'href="',
      '@import "',
      '&#0',
      '&#x00;',
      '&shy',
      '*a',
      '1\u2013',
      '_a_.',
      '[a](#b)',
      '][',
      '[.]',
      'a://',
      'a://a<',
      '\\2e ',
      '\\056',
      '%e3%80%82',
      '=E3=80=82',
      '=?a?b?YQ==?=',
      '=?a?q?',
      '?= ',
      '&ell;',
      'AB12\n',
      'a="\n',
      "='",
      '\u001b[0',
    ],
  ])('a text of %j', (part) => {
    const words = new UserWords(['Send it to ann@b.org'])
    for (const length of [32_768, 262_144]) {
      const input = { to: 'ann@b.org', body: fill(part, length) }
      expect(leastCpuMs(() => decided(words, input), MAX_MS)).toBeLessThan(MAX_MS)
    }
  })

  it.each<[string, unknown]>([
    ['one address again and again', { to: 'xa.bc', body: fill('a.bc ', 250_000) }],
    ['30,000 addresses', { to: 'xa.bc', body: Array.from({ length: 30_000 }, (_, at) => `a${at}.bc`).join(' ') }],
    ['900 addresses', { to: 'xa.bc', body: Array.from({ length: 900 }, (_, at) => `a${at}.bc`).join(' ') }],
    ['1,000 texts', { to: 'xa.bc', body: Array.from({ length: 999 }, () => fill('a.bc ', 262_144)) }],
    ['990 long values', { to: Array.from({ length: 990 }, (_, at) => `${'xa.bc '.repeat(500)}${at}`) }],
    ['400 long names', Object.fromEntries(Array.from({ length: 400 }, (_, at) => [`${at}${'xA'.repeat(5_000)}`, 'y']))],
    ['deep objects', Array.from({ length: 3_000 }).reduce((inner: object) => ({ a: inner }), {})],
    ['30,000 values', { to: Array.from({ length: 30_000 }, (_, at) => `xa.bc${at}`) }],
    ...[990, 400, 100, 10].flatMap((count) =>
      ['\ufdfa', '\ufdfa ', '½', '\u3300', '&#xFDFA;'].map((part): [string, unknown] => [
        `${count} texts of ${part}`,
        { to: 'xa.bc', body: Array.from({ length: count }, () => fill(part, 32_768 / count)) },
      ]),
    ),
    ['a channel that is almost a host, again and again', { channel: `${'a.bc/'.repeat(40_000)} x` }],
    [
      '900 channels that are almost hosts',
      { channel: Array.from({ length: 900 }, () => `${fill('a.bc/', 16_000)} x`) },
    ],
    [
      '900 long values of one length',
      { x: Array.from({ length: 900 }, (_, at) => `${'y'.repeat(20_000)}${1_000 + at}`) },
    ],
    ['a mail address that does not end', { email: `a@${'a.'.repeat(200_000)}@` }],
    [
      'many values below a long name',
      { a: { ['k'.repeat(500_000)]: Array.from({ length: 980 }, (_, at) => `v${at}`) } },
    ],
    ['many values below a name of slashes', { a: { ['/~'.repeat(50_000)]: Array.from({ length: 980 }, () => 'v') } }],
    [
      'many values below many long names',
      Array.from({ length: 30 }).reduce(
        (inner: unknown, _, at) => ({ ['k'.repeat(20_000) + at]: inner }),
        Array.from({ length: 900 }, (_, at) => `v${at}`),
      ),
    ],
  ])('%s', (_, input) => {
    const words = new UserWords([fill('xa.bc ', SAID)])
    expect(leastCpuMs(() => expect(decided(words, input)).toBe('ask'), MAX_MS)).toBeLessThan(MAX_MS)
  })

  it.each(['\ufdfa', '½', '\u3300', '&#xFDFA;', '%252e', 'a', 'e\u0301', '\u200b', '张伟'])(
    'of texts of %j, a bounded number of characters is searched, however many they become',
    (part) => {
      const words = new UserWords(['Send it to ann@b.org'])
      const matchAll = String.prototype.matchAll
      let searched = 0
      const spy = vi.spyOn(String.prototype, 'matchAll').mockImplementation(function (this: string, pattern) {
        searched += this.length
        return matchAll.call(this, pattern)
      })
      try {
        for (const count of [1, 10, 100, 990])
          decided(words, { to: 'ann@b.org', body: Array.from({ length: count }, () => fill(part, 32_768 / count)) })
      } finally {
        spy.mockRestore()
      }
      // Four calls with the same budget, and four patterns.
      expect(searched).toBeLessThanOrEqual(4 * 49_152 * 4)
    },
  )

  it('a name that is almost a mail address', () => {
    const schema = { jsonSchema: () => ({ properties: { to: {}, headers: { type: 'object' } } }) }
    const input = { to: 'ann@b.org', headers: { [`a@${'a.'.repeat(20_000)}@`]: 'x' } }
    expect(leastCpuMs(() => decided(new UserWords(['Send it']), input, { schema }), MAX_MS)).toBeLessThan(MAX_MS)
  })

  it('large values next to a small default', () => {
    const items = { anyOf: Array.from({ length: 60 }, () => ({ default: { a: 'x' } })) }
    const schema = { jsonSchema: () => ({ properties: { to: { items } } }) }
    const to = Array.from({ length: 900 }, () => ({ a: 'y'.repeat(100_000) }))
    expect(leastCpuMs(() => decided(new UserWords(['Send it']), { to }, { schema }), MAX_MS)).toBeLessThan(MAX_MS)
  })

  it.each<[string, unknown]>([
    ['10,000 values', Array.from({ length: 10_000 }, (_, at) => `abcabc${at}`)],
    ['long values', Array.from({ length: 60 }, (_, at) => `${fill('abc', 16_000)}${at}`)],
  ])('a list of globs and %s', (_, to) => {
    const globs = Array.from({ length: 1_000 }, (_, at) => `*a*b*c*${at}x`)
    const texts = Array.from({ length: 1_000 }, (_, at) => `text ${at}`)
    for (const rule of (['allow', 'deny'] as const).flatMap((effect) =>
      [globs, texts].map((list) => ({ [effect]: 'mcp/x.send', where: { to: list } })),
    )) {
      const strict = policyOf([...RULES, rule as unknown as Rule])
      expect(leastCpuMs(() => decided(new UserWords(['Send it']), { to }, { policy: strict }), MAX_MS)).toBeLessThan(
        MAX_MS,
      )
    }
  })

  it('the demands of a call share one answer', () => {
    const words = new UserWords([fill('xa.bc ', SAID)])
    let searches = 0
    const targets = Array.from({ length: 1_000 }, (_, at) => ({ capability: 'remote' as const, value: `mcp:x/${at}` }))
    const evidence = {
      hasUserText: true,
      isFromUser: (value: unknown, ...rest: [Parameters<UserWords['has']>[1]]) => {
        searches++
        return words.has(value, ...rest)
      },
      isApproved: () => false,
    }
    const call = { tool: 'mcp/x.send', input: { to: ['a@b.org', 'c@b.org'] }, evidence }
    const asked = { names: [], groups: [], capabilities: ['remote' as const], caller: 'direct' as const, tainted: true }
    expect(decide(policy, { ...asked, tool: 'mcp/x.send', targets, arguments: call }).effect).toBe('ask')
    expect(searches).toBe(2)
  })
})
