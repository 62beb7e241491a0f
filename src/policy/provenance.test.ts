import { describe, expect, it } from 'vitest'
import type { Capability, Rule } from '../core/index.ts'
import { compilePolicy } from './compile-policy.ts'
import { decide } from './decide.ts'
import { UserWords } from './user-words.ts'

const RULES: Rule[] = [
  ...(['remote', 'send', 'browser', 'canvas'] as const).flatMap((capability) => [
    { allow: capability },
    { ask: capability, when: { tainted: true } },
  ]),
  { ask: 'danger:destructive' },
]

/** A tool with these arguments. */
const SCHEMA = {
  jsonSchema: () => ({
    properties: { shares: { type: 'object', additionalProperties: { $ref: '#/$defs/share' } } },
    $defs: { share: { anyOf: [{ type: 'string' }, { properties: { access: {} } }] } },
  }),
}

/** Decides on a call after content from outside was read, given what the user said. */
function decided(
  said: string,
  input: unknown,
  {
    rules = RULES,
    destructive = false,
    mayDestroy = false,
    approved = [] as unknown[],
    capability = 'remote' as Capability,
    schema = undefined as { jsonSchema(): unknown } | undefined,
    texts = undefined as string[] | undefined,
  } = {},
) {
  const words = new UserWords([said])
  const owner = rules.map((rule, line) => ({ rule, source: { file: 'test.yaml', line }, base: '/' }))
  return decide(compilePolicy({ owner }), {
    tool: 'mcp/x.act',
    names: ['mcp/x.act'],
    groups: [],
    capabilities: destructive ? ['remote', 'danger:destructive'] : [capability],
    targets: [],
    caller: 'direct',
    tainted: true,
    mayDestroy,
    arguments: {
      tool: 'mcp/x.act',
      input,
      schema,
      texts,
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
    ['a link without a scheme', 'mail ann@b.org', { to: 'ann@b.org', body: '<img src=//1.2.3.4/x>' }],
    ['a link without slashes', 'mail ann@b.org', { to: 'ann@b.org', body: 'http:1.2.3.4' }],
    ['a number of a computer', 'mail ann@b.org', { to: 'ann@b.org', body: 'ping 1.2.3.4' }],
    ['a shared folder', 'mail ann@b.org', { to: 'ann@b.org', body: 'open \\\\evil\\share' }],
    ['a host behind dots', 'mail ann@b.org', { to: 'ann@b.org', body: 'see...evil.com' }],
    ['a host with another dot', 'mail ann@b.org', { to: 'ann@b.org', body: 'evil。com' }],
    ['a host with a hidden hyphen', 'mail ann@b.org', { to: 'ann@b.org', body: 'ev\u00adil.com' }],
    ['a wallet', 'mail ann@b.org', { to: 'ann@b.org', body: 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq' }],
    ['a field of a text', 'post to general', { channel: 'general', message: { recipient: 'eve', text: 'hi' } }],
    ['a prompt', 'use gpt-4o', { model: 'gpt-4o', prompt: 'delete everything' }],
    ['texts alone', 'do it', { body: 'something else' }],
    ['a text beside one of the user', 'do the thing', { title: 'thing', body: 'something else' }],
    ['nothing at all', 'do it', {}],
    ['too many values', 'mail ann@b.org', { to: Array(2_000).fill('ann@b.org') }],
  ])('asks for %s', (_, said, input) => {
    expect(effectOf(said, input)).toBe('ask')
  })

  it('shows names that the caller chose on one line, and not all of them', () => {
    const many = Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`${at}${'x'.repeat(10_000)}`, 'y']))
    const { unproven, reason } = decided('hello', { 'a\n\u202eb': 'y', ...many }, { schema: SCHEMA })
    expect(unproven).toHaveLength(21)
    expect(unproven).toContain('a\\n\\u{202e}b')
    expect(unproven?.at(-1)).toBe('481 more')
    expect(reason.length).toBeLessThan(5_000)
  })

  it('takes keys that the tool does not name for values', () => {
    const share = (shares: object) => effectOf('share it with ann@b.org, read access', { shares }, { schema: SCHEMA })
    expect(share({ 'eve@evil.com': 'read' })).toBe('ask')
    expect(share({ 'eve@evil.com': { access: 'read' } })).toBe('ask')
    expect(share({ 'ann@b.org': { access: 'read' } })).toBe('allow')
    const odd = { '': 'x', '/a': 'y', shares: { 'eve@evil.com': 'read' } }
    expect(decided('read', odd, { schema: SCHEMA }).unproven).toEqual(['/', '/~1a', '/shares/eve@evil.com'])
    const cyclic = { properties: { to: {} } as Record<string, unknown> }
    cyclic.properties.self = cyclic
    const schema = { jsonSchema: () => cyclic }
    expect(effectOf('mail ann@b.org', { to: 'ann@b.org' }, { schema })).toBe('allow')
    expect(effectOf('mail ann@b.org', { to: 'ann@b.org', eve: 'ann@b.org' }, { schema })).toBe('ask')
    const unusable = {
      jsonSchema: () => {
        throw new Error('no JSON Schema')
      },
    }
    expect(effectOf('mail ann@b.org', { to: 'ann@b.org' }, { schema: unusable })).toBe('ask')
  })

  it.each(['send', 'browser', 'canvas'] as const)(
    'takes a text that a program reads with %s for a choice',
    (capability) => {
      const said = 'post report to b.org/api'
      expect(effectOf(said, { url: 'https://b.org/api', body: 'to=eve' }, { capability })).toBe('ask')
      expect(effectOf(said, { url: 'https://b.org/api', body: 'report' }, { capability })).toBe('allow')
    },
  )

  it.each(['a', 'a.', 'a-', '1', 'é', 'a@', '//', 'GB29 AA '])('takes no longer for a text of %j', (part) => {
    const body = part.repeat(262_144 / part.length)
    const started = process.cpuUsage()
    expect(['allow', 'ask']).toContain(effectOf('mail ann@b.org', { to: 'ann@b.org', body }))
    expect(effectOf('mail ann@b.org', { to: '/'.repeat(16_000), cc: 'a'.repeat(4_000_000) })).toBe('ask')
    expect(process.cpuUsage(started).user).toBeLessThan(20_000_000)
  })

  it.each(['2024 ', 'jan 1 ', '2024 jan 1 ', '1,', ':', 'https:', '-1'])('takes no longer for words of %j', (part) => {
    const said = part.repeat(32_000 / part.length) + '2023 jan 2 '.repeat(3_000)
    const started = process.cpuUsage()
    expect(effectOf(said, { day: '2023-01-02' })).toBe('allow')
    expect(process.cpuUsage(started).user).toBeLessThan(20_000_000)
  })

  it('takes the word of the tool for which arguments are texts', () => {
    const input = { to: 'ann@b.org', remarks: 'See you soon' }
    expect(effectOf('mail ann@b.org', input)).toBe('ask')
    expect(effectOf('mail ann@b.org', input, { texts: ['remarks'] })).toBe('allow')
    expect(effectOf('mail ann@b.org', { ...input, remarks: 'see evil.com' }, { texts: ['remarks'] })).toBe('ask')
    expect(effectOf('ask the table', { text: 'DROP TABLE x' }, { texts: [] })).toBe('ask')
    expect(effectOf('mail ann@b.org', { to: 'ann@b.org', x: { remarks: 'b' } }, { texts: ['remarks'] })).toBe('ask')
  })

  it('runs with values that were approved before', () => {
    expect(effectOf('Pay 5 to my landlord.', { to: 'Eve Ltd', amount: 5 }, { approved: ['Eve Ltd'] })).toBe('allow')
  })

  it.each<[string, Rule[], string]>([
    ['a second rule', [{ ask: 'remote', when: { tainted: true } }, { ask: 'remote' }], 'ask'],
    ['a rule for all', [{ ask: 'mcp/x.act', when: { tainted: true } }, { ask: '*' }], 'ask'],
    ['no rule', [{ ask: 'remote', when: { tainted: true } }], 'ask'],
    [
      'an allow for runs that have read nothing',
      [
        { ask: 'remote', when: { tainted: true } },
        { allow: 'remote', when: { tainted: false } },
      ],
      'allow',
    ],
  ])('is not judged less strictly than before that content by %s', (_, rules, effect) => {
    expect(effectOf('mail ann@b.org', { to: 'ann@b.org' }, { rules })).toBe(effect)
  })

  it('always asks before it destroys, and as before without the words of a user', () => {
    expect(effectOf('delete report.txt', { name: 'report.txt' }, { destructive: true })).toBe('ask')
    expect(effectOf('read report.txt', { name: 'report.txt' }, { mayDestroy: true })).toBe('ask')
    expect(decided('', { to: 'ann@b.org' })).toMatchObject({ effect: 'ask', unproven: undefined })
  })
})
