import { describe, expect, it } from 'vitest'
import type { Rule } from '../core/index.ts'
import { compilePolicy } from './compile-policy.ts'
import { decide } from './decide.ts'
import { UserWords } from './user-words.ts'

const RULES: Rule[] = [{ allow: 'remote' }, { ask: 'remote', when: { tainted: true } }, { ask: 'danger:destructive' }]
const POLICY = compilePolicy({
  owner: RULES.map((rule, line) => ({ rule, source: { file: 'test.yaml', line }, base: '/' })),
})

/** Decides on a call after content from outside was read, given what the user said. */
function decided(said: string, input: unknown, { destructive = false, approved = [] as unknown[] } = {}) {
  const words = new UserWords([said])
  return decide(POLICY, {
    tool: 'mcp/x.act',
    names: ['mcp/x.act'],
    groups: [],
    capabilities: destructive ? ['remote', 'danger:destructive'] : ['remote'],
    targets: [],
    caller: 'direct',
    tainted: true,
    arguments: {
      tool: 'mcp/x.act',
      input,
      evidence: {
        hasUserText: !words.isEmpty,
        isFromUser: (value) => words.has(value),
        isApproved: (_tool, _argument, value) => approved.includes(value),
      },
    },
  })
}

const effectOf = (...given: Parameters<typeof decided>) => decided(...given).effect

describe('a call with side effects after content from outside', () => {
  it('runs if the user named everything that it chooses', () => {
    expect(
      effectOf('Pay 12.50 to DE89370400440532013000 please.', { to: 'DE89370400440532013000', amount: 12.5 }),
    ).toBe('allow')
    expect(
      effectOf('Mail Ann <ann@b.org>, and CC bob@b.org.', { to: ['ann@b.org'], cc: 'Bob@b.org', body: 'hello' }),
    ).toBe('allow')
    expect(effectOf('post it to www.our-site.com/news', { url: 'https://our-site.com/news/', content: 'x' })).toBe(
      'allow',
    )
    expect(effectOf('Book it from January 11th to January 15th 2025.', { from: '2025-01-11', to: '2025-01-15' })).toBe(
      'allow',
    )
    expect(effectOf('Lunch at 12:00 on 2024-05-19', { start: '2024-05-19 12:00', end: '2024-05-19 13:00' })).toBe(
      'allow',
    )
  })

  it('asks otherwise, and says for which arguments', () => {
    const { effect, unproven, reason } = decided('Pay the bill.', {
      to: 'GB29NWBK60161331926819',
      amount: 5,
      body: 'x',
    })
    expect([effect, unproven]).toEqual(['ask', ['to', 'amount']])
    expect(reason).toContain('Nothing shows that the user chose to, amount.')
  })

  it.each([
    ['a part of a word', 'mail joann@b.org', { to: 'ann@b.org' }],
    ['the host of an address', 'mail bob@evil.com', { host: 'evil.com' }],
    ['a longer path', 'see example.org/a/b', { url: 'example.org/a' }],
    ['a short text', 'to me', { to: 'me' }],
    ['a short id', 'do 7 things', { id: 7 }],
    ['a number inside an account', 'GB29NWBK601613', { amount: 29 }],
    ['another time', 'on 2024-05-01', { start: '2024-05-01 09:00' }],
    ['a truth value', 'public', { public: true }],
    ['a homoglyph', 'mail ann@b.org', { to: 'аnn@b.org' }],
    ['a letter that is folded into another', 'mail Kate', { to: '\u212aate' }],
    ['wide letters', 'mail kate', { to: 'ｋate' }],
    ['a blank that nobody sees', 'mail kate', { to: 'kate\ufeff' }],
    ['blanks around a name', 'mail kate', { to: ' kate\n' }],
    ['a scheme inside a name', 'see my-site.com', { url: 'my-http:site.com' }],
    ['a path below another root', 'save it to ~/notes.txt', { path: '/notes.txt' }],
    ['minutes as an amount', 'meet at 12:30', { amount: 30 }],
    ['a port as an amount', 'open 10.0.0.1:8080', { amount: 8080 }],
    ['one of a list', 'mail ann@b.org', { to: ['ann@b.org', 'eve@b.org'] }],
    ['an address in a text', 'mail ann@b.org', { to: 'ann@b.org', body: 'look at evil-site.com' }],
    ['a link in a text', 'mail ann@b.org', { to: 'ann@b.org', body: 'http://1.2.3.4/x' }],
    ['an account in a text', 'mail ann@b.org', { to: 'ann@b.org', body: 'GB29 NWBK 6016 1331 9268 19' }],
    ['texts alone', 'do it', { body: 'something else' }],
    ['nothing at all', 'do it', {}],
    ['too many values', 'mail ann@b.org', { to: Array(2_000).fill('ann@b.org') }],
  ])('asks for %s', (_, said, input) => {
    expect(effectOf(said, input)).toBe('ask')
  })

  it('runs with values that were approved before', () => {
    expect(effectOf('Pay 5 to my landlord.', { to: 'Eve Ltd', amount: 5 }, { approved: ['Eve Ltd'] })).toBe('allow')
  })

  it('always asks before it destroys, and as before without the words of a user', () => {
    expect(effectOf('delete report.txt', { name: 'report.txt' }, { destructive: true })).toBe('ask')
    expect(decided('', { to: 'ann@b.org' })).toMatchObject({ effect: 'ask', unproven: undefined })
  })
})
