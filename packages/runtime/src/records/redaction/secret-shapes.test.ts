import { describe, expect, it } from 'vitest'
import { mayHoldSecret } from './redact.ts'
import { redactShapes, redactShown } from './secret-shapes.ts'

const letters = (length: number) => 'abcdefghij'.repeat(10).slice(0, length)
const CAPITALS = 'ABC'
const isHidden = (text: string) => {
  const output = redactShapes(text)
  expect(mayHoldSecret(text) || output === text).toBe(true)
  return output !== text
}
const base64 = (text: string) => Buffer.from(text, 'latin1').toString('base64')

describe('a shape', () => {
  it.each<[string, string, boolean]>([
    ['hf_ and letters that may be a word', `hf_${letters(37)}`, false],
    ['hf_ and more letters than a word has', `hf_${letters(38)}`, true],
    ['hf_ and a digit', `hf_${letters(29)}1`, true],
    ['sk- and letters that may be a word', `sk-${letters(37)}`, false],
    ['sk- and more letters than a word has', `sk-${letters(38)}`, true],
    ['sk- and a digit', `sk-${letters(19)}1`, true],
    ['th_ with three capitals', `th_${letters(40)}${CAPITALS}`, true],
    ['th_ with two capitals', `th_${letters(41)}${CAPITALS.slice(1)}`, false],
    ['th_ with three small letters', `th_${'0'.repeat(37)}${CAPITALS}abc`, true],
    ['th_ with two small letters', `th_${'0'.repeat(38)}${CAPITALS}ab`, false],
    ['Bearer and letters that may be a word', `Bearer ${letters(17)}`, false],
    ['Bearer and more letters than a word has', `Bearer ${letters(18)}`, true],
    ['Bearer and a digit', 'Bearer abcde1', true],
    ['Basic and a name with a password', `Basic ${base64('a:bcdef')}`, true],
    ['Basic and no colon', `Basic ${base64('abcdefgh')}`, false],
    ['Basic and what begins as no text', `Basic ${base64('\x01a:bcdef')}`, false],
    ['Basic and what ends as no text', `Basic ${base64('a:bcdef\x01')}`, false],
    ['a URL with a password and no name', '://:b@', true],
    ['a URL with a name and a password', 'x://a:b@h', true],
    ['a URL with a name', 'ssh://git@h', false],
    ['a URL with a name that is not a token', `x://${letters(19)}1@h`, false],
    ['a URL with a token', `x://${letters(20)}1@h`, true],
    ['a token of npm that is a UUID', '//registry.example.org/:_authToken=0b1c2d3e-1111-4222-8333-944455566677', true],
    ['a password of npm', '//registry.example.org/:_password=aGVsbG8=', true],
    ['a login of npm', '//registry.example.org/:_auth=dXNlcjpwYXNzMQ==', true],
    ['a token of npm from a variable', '//registry.example.org/:_authToken=${NPM_TOKEN}', false],
    ['a URL with a long name', `x://${letters(30)}@h`, false],
  ])('is hidden if it is not a word: %s', (_name, text, expected) => {
    expect(isHidden(text)).toBe(expected)
  })

  it('is looked for in no text of five characters', () => {
    expect([mayHoldSecret('://:b@'), mayHoldSecret('://b@'), mayHoldSecret('abcdefgh')]).toEqual([true, false, false])
  })

  it('keeps what is around it', () => {
    expect(redactShapes('a Bearer \t abcde1; b')).toBe('a Bearer [redacted:bearer]; b')
    expect(redactShapes(`a basic  ${base64('a:bcdef')} b`)).toBe('a basic [redacted:basic] b')
    expect(redactShapes('a x://u:p@h b')).toBe('a x://[redacted:url-credentials]@h b')
    expect(redactShapes('/?token=abc&b=c')).toBe('/?token=[redacted:url-secret]&b=c')
  })
})

describe('a shape that is shown to who decides', () => {
  const shown = (text: string) => {
    const hidden: string[] = []
    const output = redactShown(text, (kind, chars) => hidden.push(`${kind} ${chars}`))
    return [output, ...hidden]
  }
  const word = `aB3${letters(29)}`

  it.each<[string, ...string[]]>([
    ['Bearer abc123def', 'Bearer [redacted:bearer]', 'bearer 9'],
    ['Bearer   abc123def', 'Bearer [redacted:bearer]', 'bearer 11'],
    ['x://u:p@h', 'x://[redacted:url-credentials]@h', 'url-credentials 3'],
    ['?token=abc', '?token=[redacted:url-secret]', 'url-secret 3'],
    [`ghp_${word}`, '[redacted:github-token]', 'github-token 36'],
    [
      `-----BEGIN PRIVATE KEY-----\n${word}\n${word}`,
      '-----BEGIN PRIVATE KEY-----\n[redacted:private-key]\n[redacted:private-key]',
      'private-key 64',
    ],
    // All of it could be code.
    ['Bearer\nabc123def', 'Bearer\nabc123def'],
    ['Bearer\u2028abc123def', 'Bearer\u2028abc123def'],
    [`Bearer ${letters(37)}/1`, `Bearer ${letters(37)}/1`],
    [`Bearer ${letters(38)}/1`, 'Bearer [redacted:bearer]', 'bearer 40'],
    [`-----BEGIN PRIVATE KEY-----\n${letters(20)}`, `-----BEGIN PRIVATE KEY-----\n${letters(20)}`],
    ['-----BEGIN PRIVATE KEY-----\nABCDEFGHIJKLMNOPQRST', '-----BEGIN PRIVATE KEY-----\nABCDEFGHIJKLMNOPQRST'],
  ])('hides no code, and counts what it hides: %j', (text, ...expected) => {
    expect(shown(text)).toEqual(expected)
  })
})
