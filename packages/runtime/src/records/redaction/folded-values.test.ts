import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createRedactor, type Redactor } from './redact.ts'

/** Random enough that nothing of it stands in the text around it. */
const secret = fc.oneof(
  fc.string({ unit: fc.constantFrom(...'abcXYZ0189-_.!~*'), minLength: 8, maxLength: 40 }),
  fc.string({ unit: fc.constantFrom(...'abcXYZ0189 +/=&?%"é€😀'), minLength: 8, maxLength: 40 }),
)
/** What stands around it: none of the characters that a value is made of or broken by. */
const around = fc.string({ unit: fc.constantFrom('{', '}', 'Q', 'W', '$'), maxLength: 12 })

const hex = (text: string) => Buffer.from(text).toString('hex')
const pairs = (text: string) => hex(text).match(/../g)!
const units = (text: string) => text.split('').map((unit) => unit.charCodeAt(0).toString(16).padStart(4, '0'))
const at = (offset: number, text: string) => Buffer.from(`${'#'.repeat(offset)}${text}##`)

const WRITINGS: Readonly<Record<string, (secret: string) => string>> = {
  'hex in lower case': hex,
  'hex in upper case': (text) => hex(text).toUpperCase(),
  'hex with colons': (text) => pairs(text).join(':'),
  'hex with blanks': (text) => pairs(text).join(' '),
  'hex with 0x': (text) =>
    pairs(text)
      .map((pair) => `0x${pair}`)
      .join(', '),
  'hex with \\x': (text) =>
    pairs(text)
      .map((pair) => `\\x${pair}`)
      .join(''),
  base64: (text) => Buffer.from(text).toString('base64'),
  base64url: (text) => Buffer.from(text).toString('base64url'),
  'base64 one byte later': (text) => at(1, text).toString('base64'),
  'base64 two bytes later': (text) => at(2, text).toString('base64'),
  'base64url one byte later': (text) => at(1, text).toString('base64url'),
  'base64url two bytes later': (text) => at(2, text).toString('base64url'),
  'percent-encoding': encodeURIComponent,
  'percent-encoding of every byte': (text) =>
    pairs(text)
      .map((pair) => `%${pair}`)
      .join(''),
  'percent-encoding twice': (text) =>
    pairs(text)
      .map((pair) => `%25${pair.toUpperCase()}`)
      .join(''),
  'escapes of JSON': (text) =>
    units(text)
      .map((unit) => `\\u${unit}`)
      .join(''),
  'escapes of JSON in JSON': (text) =>
    units(text)
      .map((unit) => `\\\\u${unit.toUpperCase()}`)
      .join(''),
  'decimal entities': (text) => [...text].map((character) => `&#${character.codePointAt(0)};`).join(''),
  'hexadecimal entities': (text) =>
    [...text].map((character) => `&#x00${character.codePointAt(0)!.toString(16)};`).join(''),
  'named entities': (text) => text.replaceAll(/[&/=+%"_.?!*]/g, (character) => `&${ENTITY_NAMES[character]};`),
  'full width': (text) =>
    text.replaceAll(/[!-~]/g, (character) => String.fromCharCode(character.charCodeAt(0) + 0xfee0)),
  'UTF-16 read as text': (text) => `${[...text].join('\0')}\0`,
  'base64 of UTF-16': (text) => Buffer.from(text, 'utf16le').toString('base64'),
  'base64 of UTF-16 in the other order': (text) => Buffer.from(text, 'utf16le').swap16().toString('base64'),
  'hex of UTF-16': (text) => Buffer.from(text, 'utf16le').toString('hex'),
  plain: (text) => text,
}
const ENTITY_NAMES: Readonly<Record<string, string>> = {
  ...{ '&': 'amp', '/': 'sol', '=': 'equals', '+': 'plus', '%': 'percnt', '"': 'quot' },
  ...{ _: 'lowbar', '.': 'period', '?': 'quest', '!': 'excl', '*': 'ast' },
}
const BREAKS = ['\n', '\r\n', '\n    ', ' \n\t', '\\n', '\u200b', '\u00ad', '\u2060', '\ufeff', '\u{e0041}', '\u2028']

/** Characters that take part in an encoding are not parted by what stands for one of them. */
function broken(text: string, width: number, by: string): string {
  return tokensOf(text)
    .map((token, index) => (index > 0 && index % width === 0 ? by : '') + token)
    .join('')
}

function tokensOf(text: string): string[] {
  return text.match(/&#?\w+;|%(?:25)?[0-9a-fA-F]{2}|\\+u[0-9a-fA-F]{4}|\\x[0-9a-f]{2}|0x|./gsu) ?? []
}

function streamed(redactor: Redactor, text: string, size: number): string {
  const bytes = Buffer.from(text)
  const stream = redactor.stream()
  const pieces: Uint8Array[] = []
  for (let from = 0; from < bytes.length; from += size) pieces.push(stream.push(bytes.subarray(from, from + size)))
  return Buffer.concat([...pieces, stream.end()]).toString()
}

const ESCAPED_BREAK = /%0[0a-c]/

describe.each(Object.entries(WRITINGS))('a known value in %s', (_name, write) => {
  it('is in no text, whole or broken, and in no stream, wherever it is cut', () => {
    const way = fc.record({
      value: secret.filter((text) => text.replaceAll(/\s/g, '').length >= 8 && text.trim() === text),
      before: around,
      after: around,
      by: fc.constantFrom('', ...BREAKS),
      width: fc.integer({ min: 1, max: 80 }),
      size: fc.integer({ min: 1, max: 30 }),
    })
    fc.assert(
      fc.property(way, ({ value, before, after, by, width, size }) => {
        // Which blanks belong to a value and which to its wrapping nobody can tell.
        fc.pre(!(value.includes(' ') && /\s/.test(by)))
        // Where it is broken, a value must have eight characters also when it is read as escapes, of which some are breaks.
        fc.pre(by === '' || (tokensOf(value).length >= 8 && !ESCAPED_BREAK.test(value)))
        const redactor = createRedactor({ values: [value, 'another-value-1'] })
        const written = broken(write(value), width, by)
        const text = `${before}>${written}<${after}`
        const output = redactor.text(text)
        const found = by === '' ? output : output.replaceAll(by, '')
        expect(found.replace(/>.{0,8}(?:\[redacted:secret\].{0,8}){1,2}</su, '><')).toBe(`${before}><${after}`)
        expect(streamed(redactor, text, size)).toBe(output)
      }),
      { numRuns: 150 },
    )
  })
})

it.each<[string, string, string]>([
  ['p4ss%0aw0rd-%00', 'p4ss%0aw0\nrd-%00', '[redacted:secret]%00'],
  ['p4ss%0aw0rd-%00', 'p4ss%250aw0\u200brd-%2500', '[redacted:secret]%2500'],
  // Read as escapes, too little is left of it to be told from ordinary text: it is found as it is only.
  ['%0a%0a%0a%0aw0rd', '%0a%0a%0a%0aw0rd', '[redacted:secret]'],
  ['%0a%0a%0a%0aw0rd', '%250a%250a%250a%250aw0rd', '[redacted:secret]'],
  ['%0a%0a%0a%0aw0rd', '%0a%0a%0a%0aw0\u200brd', '%0a%0a%0a%0aw0\u200brd'],
])('a value with escapes of breaks: %j in %j', (value, text, expected) => {
  const redactor = createRedactor({ values: [value] })
  expect(redactor.text(`>${text}<`)).toBe(`>${expected}<`)
  for (const size of [1, 5, 100]) expect(streamed(redactor, `>${text}<`, size)).toBe(`>${expected}<`)
})

it('changes nothing in texts without a value', () => {
  const redactor = createRedactor({ values: ['correct-horse-9', 'hunter2hunter2'] })
  const piece = fc.constantFrom(
    'correct',
    '-horse',
    'hunter2',
    '\n',
    ' ',
    '%41',
    '\\u0041',
    '0x',
    '00',
    'ff',
    '\u200b',
    'é',
    '%',
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), fc.integer({ min: 1, max: 9 }), (pieces, size) => {
      const text = pieces.join('')
      fc.pre(redactor.text(text) === text)
      expect(streamed(redactor, text, size)).toBe(text)
    }),
  )
})

it('shows immediately what cannot be a value, and a prompt when nothing follows it', () => {
  const stream = createRedactor({ values: ['password-1234'] }).stream()
  const show = (text: string) => Buffer.from(stream.push(Buffer.from(text))).toString()
  const flush = () => Buffer.from(stream.flush()).toString()
  expect(show('ready\n') + flush()).toBe('ready\n')
  expect(show('> ') + flush()).toBe('> ')
  expect(show('pa\n\n\n') + flush()).toBe('pa\n\n\n')
  expect(show('ssword\n-1234 done\n') + flush()).toBe('[redacted:secret] done\n')
})

it('finds a value in hex wherever it begins, also with every digit on its own and among dates', () => {
  const redactor = createRedactor({ values: ['p4ss-w0r'] })
  const digits = Buffer.from('p4ss-w0r').toString('hex')
  for (const separator of ['', ' ', '-'])
    for (let offset = 0; offset < 40; offset++) {
      const hidden = redactor.text(`2024-05-01 ${'z'.repeat(offset)}${[...digits].join(separator)}z 12:30:45.123456`)
      expect(hidden, `${separator}${offset}`).toContain('[redacted:secret]')
    }
})

it.each<[string, boolean]>([
  [`${' '.repeat(8)}\n`, true],
  [`${' '.repeat(9)}\n`, false],
  ['\t\n', true],
  [`\n${' '.repeat(50)}`, true],
  ['\n\t\v\f\r\n', true],
  ['\n\x08', false],
  ['\n\x0e', false],
  ['%0a', true],
  ['%0A', true],
  ['\\u200b', true],
  ['\\x0d', true],
  ['%250a', true],
  ['%41', false],
  ['\\t', true],
  [' ', false],
  ['x', false],
  ['%', false],
])('takes a value that is broken by %j for one: %s', (by, isOne) => {
  const redactor = createRedactor({ values: ['p4ss-w0r'] })
  const text = `a p4ss${by}-w0r b`
  expect(redactor.text(text)).toBe(isOne ? 'a [redacted:secret] b' : text)
  for (const size of [1, 5, 100]) expect(streamed(redactor, text, size)).toBe(redactor.text(text))
})

it.each<[string, boolean]>([
  ...['', ' ', '\t', ':', ',', ';', '.', '_', '-', '0x', ', 0x', '\n'].map((by): [string, boolean] => [by, true]),
  ...['|', 'x', '/', 'g'].map((by): [string, boolean] => [by, false]),
])('takes hex with %j between the bytes for a value: %s', (by, isOne) => {
  const redactor = createRedactor({ values: ['p4ss-w0r'] })
  for (const digits of [pairs('p4ss-w0r'), pairs('p4ss-w0r').map((pair) => pair.toUpperCase())]) {
    const text = digits.join(by)
    expect(redactor.text(text)).toBe(isOne ? '[redacted:secret]' : text)
    expect(streamed(redactor, `z${text}z`, 3)).toBe(isOne ? 'z[redacted:secret]z' : `z${text}z`)
  }
})

it('takes linear time, however a text is made', () => {
  const redactor = createRedactor({ values: ['aaaaaaaaaaaaaaab', 'ffffffffffff', '%%%%%%%%%%'] })
  const texts = ['a\n', ' ', '%25', '\\', '66 ', '\u200b', 'a', '0x', 'aaaaaaaaaaaaaaa\n'].map((unit) =>
    unit.repeat(200_000),
  )
  const took = texts.map((text) => {
    const startedAt = performance.now()
    redactor.text(text)
    return performance.now() - startedAt
  })
  expect(Math.max(...took)).toBeLessThan(20_000)
})
