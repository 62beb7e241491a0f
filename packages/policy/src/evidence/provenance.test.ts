import type { Capability, Rule } from '@tool-hub/core'
import { describe, expect, it } from 'vitest'
import { compilePolicy } from '../compile-policy.ts'
import { decide } from '../decide/decide.ts'
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
    $defs: { share: { anyOf: [{ type: 'string' }, { properties: { email: {} } }] } },
  }),
}

const withProperties = (properties: object) => ({ jsonSchema: () => ({ type: 'object', properties }) })

/** Decides on a call after content from outside was read, given what the user said. */
function decided(
  said: string,
  input: unknown,
  {
    tool = 'mcp/x.send',
    rules = RULES,
    destructive = false,
    mayDestroy = false,
    approved = [] as unknown[][],
    capability = 'remote' as Capability,
    schema = undefined as { jsonSchema(): unknown } | undefined,
    texts = undefined as string[] | undefined,
    targets = undefined as string[] | undefined,
  } = {},
) {
  const words = new UserWords([said])
  const owner = rules.map((rule, line) => ({ rule, source: { file: 'test.yaml', line }, base: '/' }))
  return decide(compilePolicy({ owner }), {
    tool,
    names: [tool],
    groups: [],
    capabilities: destructive ? ['remote', 'danger:destructive'] : [capability],
    targets: [],
    caller: 'direct',
    tainted: true,
    mayDestroy,
    arguments: {
      tool,
      input,
      schema,
      texts,
      targets,
      evidence: {
        hasUserText: !words.isEmpty,
        isFromUser: (value, budget, asked) => words.has(value, budget, asked),
        isApproved: (values) => approved.some((together) => values.every(({ value }) => together.includes(value))),
      },
    },
  })
}

const effectOf = (...given: Parameters<typeof decided>) => decided(...given).effect

describe('a call with side effects after content from outside', () => {
  it.each<[string, object, string?]>([
    ['Mail Ann <ann@b.org>, and send it to bob@b.org, too.', { to: ['ann@b.org'], cc: 'Bob@b.org', body: 'hello' }],
    ['Post it to www.our-site.com/news', { url: 'https://our-site.com/news/', text: 'x' }],
    ["Write to the 'general' channel.", { channel: 'general', text: 'hi' }],
    ['Write the summary to #general', { channel: 'general', text: 'hi' }],
    ['Please send the figures to Ann Miller.', { recipient: 'Ann Miller', text: 'hi' }],
    ['Write a reply for ticket PROJ-12.', { ticket_id: 'PROJ-12', comment: 'done' }],
    ['Reply to issue 48213 that it is fixed.', { issue_id: 48213, comment: 'done' }],
    ['Her address is ann@b.org. Send her the report.', { to: 'ann@b.org', body: 'x' }],
    ['Do not forget to send it to ann@b.org', { to: 'ann@b.org', body: 'x' }],
    [
      "Book 'Hotel Post' from January 11th to January 15th 2025.",
      { hotel: 'Hotel Post', start_day: '2025-01-11', end_day: '2025-01-15' },
      'mcp/x.reserve_hotel',
    ],
    [
      'Create an event with ann@b.org at 12:00 on 2024-05-19',
      { attendees: ['ann@b.org'], start: '2024-05-19 12:00', end: '2024-05-19 13:00' },
      'mcp/x.create_event',
    ],
    ['Add an event on 2024-05-19 with ann@b.org', { attendees: ['ann@b.org'], day: '2024-05-19' }, 'createEvent'],
    ['Read www.b.org and then www.c.org/x', { url: 'www.c.org/x' }, 'mcp/x.get_page'],
  ])('runs if the user asked for it: %s', (said, input, tool) => {
    expect(decided(said, input, { ...(tool !== undefined && { tool }) })).toMatchObject({ effect: 'allow' })
  })

  it('asks otherwise, and says for which arguments, and why', () => {
    const input = { to: 'GB29NWBK60161331926819', amount: 5, cc: [], body: 'see evil.com' }
    const { effect, unproven, reason } = decided('Pay the bill.', input)
    expect([effect, unproven]).toEqual(['ask', ['to', 'amount', 'cc', 'body']])
    expect(reason).toContain('Nothing shows that the user chose to, amount, cc, body.')
    expect(reason).toContain('to: the user did not name this value in a request to send.')
    expect(reason).toContain('amount: is an option, and only a rule or an approval can choose it.')
    expect(reason).toContain('cc: is empty, which may clear something.')
    expect(reason).toContain('body: contains an address or number that the user did not name.')
  })

  it.each<[string, string, object, string?]>([
    ['a ban', 'Do not delete plan.pdf, update it.', { action: 'delete', file: 'plan.pdf' }, 'manage_file'],
    ['a file in a ban', 'Never edit plan.pdf. Edit notes.md.', { file: 'plan.pdf' }, 'edit_file'],
    ['a recipient in a ban', 'Send it to ann@b.org, never to eve@rival.org', { to: 'eve@rival.org' }],
    ['a recipient before a ban', 'Send it to Ann, but eve@rival.org must not get it.', { to: 'eve@rival.org' }],
    [
      'a recipient in a list of a ban',
      'Mail all. Do not mail any of:\n- a@b.org\n- eve@rival.org',
      { to: 'eve@rival.org' },
    ],
    [
      'options',
      'Compare it with the public one; the owner is Ann; reply to all',
      { visibility: 'public', role: 'owner', to: 'all' },
    ],
    ['an option in quotes', "Send it as 'public' to ann@b.org", { visibility: 'public', to: 'ann@b.org' }],
    ['an everyday word', 'Reply to all', { to: 'all' }],
    ['everyday words', 'Send it to all users', { to: 'all users' }],
    ['a year as an amount', 'Order the 2025 report for ann@b.org', { to: 'ann@b.org', amount: 2025 }],
    ['an invoice as an amount', 'Send invoice 48213 to ann@b.org', { to: 'ann@b.org', amount: 48213 }],
    ['the content of a script', 'Write run.sh', { path: 'run.sh', content: 'rm -rf /' }, 'write_file'],
    [
      'the body of a request',
      'Post to https://b.org/api',
      { url: 'https://b.org/api', method: 'POST', body: '{"to":"eve"}' },
      'post_request',
    ],
    ['an action that nobody asked for', 'What did ann@b.org write?', { to: 'ann@b.org', body: 'x' }],
    ['what the user wants to get', 'Tell me what ann@b.org wrote', { to: 'ann@b.org', body: 'x' }],
    ['who did something', 'Summarize what Bob posted and send it to ann@b.org', { recipient: 'Bob' }],
    ['a place', 'Write to the team in Paris', { recipient: 'Paris' }],
    ['a part of a name', 'Write to the channel starting with External', { channel: 'External' }],
    ['another kind of thing', "Post it to the 'general' channel", { recipient: 'general' }],
    ['a file as a recipient', 'Send plan.pdf to the client', { recipient: 'plan.pdf' }],
    ['a date as a recipient', 'Send me the plan for 2024-05-19', { to: ['2024-05-19'] }, 'send_email'],
    ['one name for two things', 'Add Alice to the channel', { user: 'Alice', channel: 'Alice' }, 'add_user'],
    ['a title', "Send an event titled 'Lunch'", { recipient: 'Lunch' }],
    ['a placeholder', 'Send "Hello {first_name}" to ann@b.org', { recipient: 'first_name' }],
    ['a password', "Set the password to 'x1y2z3'", { password: 'x1y2z3' }, 'set_password'],
    ['sharing', 'Share plan.pdf with ann@b.org', { file: 'plan.pdf', email: 'ann@b.org' }, 'share_file'],
    ['publishing', 'Publish plan.pdf', { file: 'plan.pdf' }, 'publishFile'],
    ['a payment', 'Pay 5 to DE89370400440532013000', { recipient: 'DE89370400440532013000' }, 'pay'],
    ['a transfer', 'Transfer it to DE89370400440532013000', { recipient: 'DE89370400440532013000' }, 'transfer_money'],
    ['a part of a word', 'mail joann@b.org', { to: 'ann@b.org' }],
    ['the host of an address', 'open bob@evil.com', { host: 'evil.com' }, 'open_page'],
    ['a longer path', 'open example.org/a/b', { url: 'example.org/a' }, 'open_page'],
    ['the beginning of a URL', 'open https://example.org/a?x=1', { url: 'https://example.org/a' }, 'open_page'],
    ['a URL inside another', 'open https://evil.org/?u=b.org/x', { url: 'b.org/x' }, 'open_page'],
    ['a URL in other letters', 'open bit.ly/3xYzAb', { url: 'bit.ly/3XYZaB' }, 'open_page'],
    ['a file in other letters', 'edit notes.txt', { path: 'NOTES.TXT' }, 'edit_file'],
    ['another scheme', 'open https://b.org/x', { url: 'ftp://b.org/x' }, 'open_page'],
    ['a mail as a page', 'mail ann@b.org', { url: 'mailto:ann@b.org' }],
    ['a URL with a user', 'mail ann@b.org', { url: 'https://ann@b.org' }],
    ['a short text', 'send it to me', { to: 'me' }],
    ['a short id', 'send 7 things', { id: 7 }],
    [
      'another time',
      'create an event on 2024-05-01 with a@b.org',
      { attendees: 'a@b.org', start: '2024-05-02 09:00' },
      'create_event',
    ],
    ['a truth value', 'send it to ann@b.org in public', { to: 'ann@b.org', public: true }],
    ['a homoglyph', 'mail ann@b.org', { to: 'аnn@b.org' }],
    ['a letter that is folded into another', "mail 'Kate'", { to: '\u212aate' }],
    ['wide letters', "mail 'kate'", { to: 'ｋate' }],
    ['a blank that nobody sees', "mail 'kate'", { to: 'kate\ufeff' }],
    ['blanks around a name', "mail 'kate'", { to: ' kate\n' }],
    ['a path below another root', 'edit ~/notes.txt', { path: '/notes.txt' }, 'edit_file'],
    ['a file of another folder', 'edit /srv/notes.txt', { path: 'notes.txt' }, 'edit_file'],
    ['one of a list', 'mail ann@b.org', { to: ['ann@b.org', 'eve@b.org'] }],
    ['a field of a text', "post to 'general'", { channel: 'general', message: { recipient: 'eve', text: 'hi' } }],
    ['a prompt', 'send to gpt-4o', { to: 'gpt-4o', prompt: 'delete everything' }],
    ['texts alone', 'send hello', { body: 'hello' }],
    ['nothing at all', 'send it', {}],
    ['too many values', 'mail ann@b.org', { to: Array.from({ length: 2_000 }, (_, at) => `a${at}@b.org`) }],
  ])('asks for %s', (_, said, input, tool) => {
    expect(effectOf(said, input, { ...(tool !== undefined && { tool }) })).toBe('ask')
  })

  it.each<[string, unknown]>([
    ['an empty list', []],
    ['an empty object', {}],
    ['an empty text', ''],
    ['nothing', null],
  ])('takes %s for a choice, unless it is the default', (_, value) => {
    const input = { to: 'ann@b.org', cc: value }
    expect(effectOf('mail ann@b.org', input)).toBe('ask')
    expect(effectOf('mail ann@b.org', input, { schema: withProperties({ to: {}, cc: { default: value } }) })).toBe(
      'allow',
    )
    expect(effectOf('mail ann@b.org', input, { schema: withProperties({ to: {}, cc: {} }) })).toBe('ask')
  })

  it('reads formats and lists of values in the schema', () => {
    const said = "send it to ann@b.org for 'Ann'"
    const asked = (schema: object) => effectOf(said, { who: 'ann@b.org' }, { schema: withProperties({ who: schema }) })
    expect(asked({ type: 'string' })).toBe('ask')
    expect(asked({ type: 'string', format: 'email' })).toBe('allow')
    expect(asked({ anyOf: [{ type: 'null' }, { type: 'string', format: 'email' }] })).toBe('allow')
    expect(asked({ enum: ['ann@b.org'], format: 'email' })).toBe('ask')
    expect(effectOf(said, { to: 'Ann' }, { schema: withProperties({ to: { enum: ['Ann', 'Bob'] } }) })).toBe('ask')
    expect(effectOf(said, { to: 'Ann' }, { schema: withProperties({ to: { type: 'string' } }) })).toBe('allow')
  })

  it('takes the word of the tool for which arguments are targets', () => {
    const input = { who: 'ann@b.org', body: 'x' }
    expect(effectOf('mail ann@b.org', input)).toBe('ask')
    expect(effectOf('mail ann@b.org', input, { targets: ['who'] })).toBe('allow')
    expect(effectOf('mail ann@b.org', { to: 'ann@b.org', body: 'x' }, { targets: [] })).toBe('ask')
  })

  it('shows names that the caller chose on one line, and not all of them', () => {
    const many = Object.fromEntries(Array.from({ length: 400 }, (_, at) => [`${at}${'x'.repeat(1_000)}`, 'y']))
    const { unproven, reason } = decided('hello', { 'a\n\u202eb': 'y', ...many }, { schema: SCHEMA })
    expect(unproven).toHaveLength(21)
    expect(unproven).toContain('a\\n\\u{202e}b')
    expect(unproven?.at(-1)).toBe('381 more')
    expect(reason.length).toBeLessThan(5_000)
  })

  it('takes keys that the tool does not name for values', () => {
    const post = (shares: object) => effectOf('send it to ann@b.org', { shares }, { schema: SCHEMA })
    expect(post({ 'eve@evil.com': { email: 'ann@b.org' } })).toBe('ask')
    expect(post({ 'ann@b.org': { email: 'ann@b.org' } })).toBe('ask')
    expect(post({ 'ann@b.org': 'read' })).toBe('ask')
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
      const input = { to: 'ann@b.org', body: 'report' }
      expect(effectOf("send 'report' to ann@b.org", input)).toBe('allow')
      expect(effectOf("send 'report' to ann@b.org", input, { capability })).toBe('ask')
    },
  )

  it('takes content for a text only if somebody gets it', () => {
    const said = "post it to 'general', write plan.txt"
    expect(effectOf(said, { channel: 'general', content: 'hello' })).toBe('allow')
    expect(effectOf(said, { path: 'plan.txt', content: 'hello' }, { tool: 'write_file' })).toBe('ask')
    expect(effectOf(said, { path: 'plan.txt', content: 'hello' }, { tool: 'write_file', texts: ['content'] })).toBe(
      'allow',
    )
  })

  it('takes the word of the tool for which arguments are texts', () => {
    const input = { to: 'ann@b.org', remarks: 'See you soon' }
    expect(effectOf('mail ann@b.org', input)).toBe('ask')
    expect(effectOf('mail ann@b.org', input, { texts: ['remarks'] })).toBe('allow')
    expect(effectOf('mail ann@b.org', { ...input, remarks: 'see evil.com' }, { texts: ['remarks'] })).toBe('ask')
    expect(effectOf('ask the table', { text: 'DROP TABLE x' }, { texts: [] })).toBe('ask')
    expect(effectOf('mail ann@b.org', { to: 'ann@b.org', x: { remarks: 'b' } }, { texts: ['remarks'] })).toBe('ask')
  })

  it('runs with values that were approved together, with the words of the user for the rest', () => {
    const approved = [
      ['Eve Ltd', 5],
      ['Payroll', 90_000],
    ]
    expect(effectOf('Mail ann@b.org', { to: 'Eve Ltd', amount: 5 }, { approved })).toBe('allow')
    expect(effectOf('Mail ann@b.org', { to: 'Eve Ltd', amount: 5, cc: 'ann@b.org' }, { approved })).toBe('allow')
    expect(effectOf('Mail ann@b.org', { to: 'Eve Ltd', amount: 90_000 }, { approved })).toBe('ask')
  })

  it('asks for a tool about payments unless a rule or an approval names it', () => {
    const [said, input, tool] = ['Send 5 to DE89370400440532013000', { to: 'DE89370400440532013000' }, 'send_money']
    expect(decided(said, input, { tool }).reason).toContain('The name or title of this tool says "money"')
    expect(effectOf(said, input, { tool, approved: [['DE89370400440532013000']] })).toBe('allow')
    const rules: Rule[] = [...RULES, { allow: tool, where: { to: 'from-user' } }]
    expect(effectOf(said, input, { tool, rules })).toBe('allow')
    expect(effectOf(said, { to: 'GB29NWBK60161331926819' }, { tool, rules })).toBe('ask')
  })

  it.each<[string, Rule[], string]>([
    ['a second rule', [{ ask: 'remote', when: { tainted: true } }, { ask: 'remote' }], 'ask'],
    ['a rule for all', [{ ask: 'mcp/x.send', when: { tainted: true } }, { ask: '*' }], 'ask'],
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
