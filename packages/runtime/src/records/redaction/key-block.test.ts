import { describe, expect, it } from 'vitest'
import { createRedactor } from './redact.ts'

const redactor = createRedactor()
const WORD = 'aB3dE6gH9jK2mN5pQ8sT1vW4xY7zA0cD'
const BEGIN = '-----BEGIN PRIVATE KEY-----'
const END = '-----END PRIVATE KEY-----'

/** The same text through a stream that is cut in two at every place. */
function expectEverywhere(text: string, expected: string): void {
  expect(redactor.text(text)).toBe(expected)
  for (let at = 0; at <= text.length; at++) {
    const stream = redactor.stream()
    const pieces = [stream.push(Buffer.from(text.slice(0, at))), stream.push(Buffer.from(text.slice(at))), stream.end()]
    expect(Buffer.concat(pieces).toString(), `cut at ${at}`).toBe(expected)
  }
}

describe('a private key', () => {
  it.each([
    ...[
      'Proc-Type: 4,ENCRYPTED',
      'DEK-Info: AES-128-CBC,00FF',
      'Version: GnuPG v2',
      'Comment: (none)',
      'Charset: UTF-8',
    ],
    'Hash: SHA256',
  ])('is hidden with its header %s', (header) => {
    expectEverywhere(`a ${BEGIN}\n${header}\n\n${WORD}\n${WORD}\n${END}; id`, 'a [redacted:private-key]; id')
  })

  it('ends at a header that none of them has', () => {
    const text = `${BEGIN}\nCommand: rm -r\n${WORD}\n${END}`
    expectEverywhere(text, text)
  })

  it.each([
    ['a comment', '\n# '],
    ['a list', '\n* '],
    ['a table', '\n| '],
    ['a quotation', '\n> '],
    ['a diff', '\n-'],
    ['a sum', " +\n '"],
    ['a listing', '\n12:'],
    ['an escaped line break', '\\r\\n'],
    ['an escaped quote', '\\",\\n\\"'],
    ['tabs', '\t\t'],
  ])('is hidden in %s', (_name, between) => {
    expectEverywhere(`a ${[BEGIN, WORD, WORD, END].join(between)}; id`, 'a [redacted:private-key]; id')
  })

  it.each([
    ['without a body', `${BEGIN}\n${END}`],
    ['with a short word only', `${BEGIN}\nAb3=\n${END}`],
    ['of another kind', `-----BEGIN PGP PRIVATE KEY BLOCK-----\n${WORD}\n-----END PGP PRIVATE KEY BLOCK-----`],
    ['whose end a diff shows', `${BEGIN}\n${WORD}\n------END PRIVATE KEY-----`],
    ['of one line', `${BEGIN}${WORD.repeat(20)}${END}`],
  ])('is hidden %s', (_name, key) => {
    expectEverywhere(`a ${key} b`, 'a [redacted:private-key] b')
  })

  it('is not a word that is shorter than 16 characters or part of something else', () => {
    for (const body of [
      WORD.slice(0, 15),
      `${WORD}.${WORD}`,
      `${WORD}@h`,
      `${WORD}-x`,
      `${WORD}:x`,
      `${WORD}~`,
      `${WORD}_`,
    ])
      expectEverywhere(`${BEGIN}\n${body} b`, `${BEGIN}\n${body} b`)
    expectEverywhere(`${BEGIN}\n${WORD.slice(0, 16)}; b`, '[redacted:private-key]; b')
  })
})
