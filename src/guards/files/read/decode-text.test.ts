import { describe, expect, it } from 'vitest'
import { decodeText, decodeUtf8, encodingOf, looksBinary } from './decode-text.ts'

const bytes = (...parts: readonly (string | number)[]) =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.from([part]))))
const BINARY = 'Use a tool for that kind of file, or read its bytes.'
const DAMAGED = 'It is in another encoding than UTF-8 or UTF-16 with a mark, or damaged; read its bytes.'
const wide = Buffer.from('\uFEFFä𝄞', 'utf16le')

describe('a text', () => {
  it.each([
    ['plain', Buffer.from('ab'), 'utf-8', 'ab'],
    ['beyond ASCII', Buffer.from('ä𝄞'), 'utf-8', 'ä𝄞'],
    ['empty', Buffer.alloc(0), 'utf-8', ''],
    ['with a mark', Buffer.from('\uFEFFä'), 'utf-8-bom', 'ä'],
    ['of UTF-16', wide, 'utf-16le', 'ä𝄞'],
    ['of UTF-16 with the large end first', Buffer.from(wide).swap16(), 'utf-16be', 'ä𝄞'],
  ])('that is %s is decoded by its mark', (_, content, encoding, text) => {
    expect(encodingOf(content)).toBe(encoding)
    expect(decodeText(content, 'f')).toEqual({ text, encoding })
  })

  it('looks binary by a NUL byte among its first 8,192', () => {
    const at = (place: number) => looksBinary(Buffer.concat([Buffer.alloc(place, 'x'), Buffer.from([0])]))
    expect([at(0), at(8_191), at(8_192)]).toEqual([true, true, false])
  })
})

describe('what is no UTF-8', () => {
  const lead = 65_536
  it.each<[string, Buffer, number]>([
    ['at the beginning', bytes(0xff, 'ab'), 0],
    ['after letters of one byte', bytes('ab', 0xff), 2],
    ['after letters of two bytes', bytes('éé', 0xff), 4],
    ['after the last lead of two bytes', bytes('\u07ff', 0xff), 2],
    ['after letters of three bytes', bytes('漢', 0xff), 3],
    ['after the first letter of three bytes', bytes('\u0800', 0xff), 3],
    ['after letters of four bytes', bytes('𝄞', 0xff), 4],
    ['after the first letter of four bytes', bytes('\u{10000}', 0xff), 4],
    ['a letter of two bytes that is cut', bytes('a', 0xc3), 1],
    ['a letter of three bytes that is cut', bytes('a', 0xe6, 0xbc), 1],
    ['a letter of four bytes that is cut', bytes('a', 0xf0, 0x9d, 0x84), 1],
    ['a second byte without a first', bytes('a', 0x80, 'b'), 1],
    ['a lead that no letter has', bytes('é', 0xc0, 0x80), 2],
    ['at the end of the first window', bytes('é'.repeat(lead / 2), 0xff), lead],
    ['right before the second window', bytes('a'.repeat(lead - 1), 0xff, 'b'), lead - 1],
    ['after a letter of two bytes over the edge', bytes('a'.repeat(lead - 1), 'é', 0xff), lead + 1],
    ['after a letter of four bytes over the edge', bytes('a'.repeat(lead - 1), '𝄞', 0xff), lead + 3],
    ['after a letter of four bytes that ends behind the edge', bytes('a'.repeat(lead - 3), '𝄞', 0xff), lead + 1],
    ['in the third window', bytes('漢'.repeat(50_000), 'a', 0xff), 150_001],
    ['many second bytes at the edge', bytes('a'.repeat(lead - 2), 0x80, 0x80, 0x80, 0x80, 0x80), lead - 2],
  ])('is found: %s', (_, content, place) => {
    const message = `"f" is not text: no valid UTF-8 at byte ${place}.`
    expect(() => decodeUtf8(content, 'f')).toThrow(
      expect.objectContaining({ code: 'INPUT_SCHEMA_INVALID', message, fix: { hint: DAMAGED } }),
    )
  })

  it('is counted from where the bytes stand in the file, and after the mark', () => {
    expect(() => decodeUtf8(bytes('a', 0xff), 'f', 100)).toThrow('at byte 101.')
    expect(() => decodeText(bytes('\uFEFFa', 0xff), 'f')).toThrow('at byte 4.')
  })

  it('is said to look binary where it does', () => {
    expect(() => decodeUtf8(bytes('a\0', 0xff), 'f')).toThrow(
      expect.objectContaining({
        message: '"f" is not text: no valid UTF-8 at byte 2; it looks binary (it has NUL bytes).',
        fix: { hint: BINARY },
      }),
    )
  })
})

describe('what is no UTF-16', () => {
  it.each<[string, Buffer, string]>([
    ['half a character at the end', bytes(0xff, 0xfe, 'a', 0, 'b'), 'half a character of UTF-16 at byte 4.'],
    ['half of a pair', bytes(0xff, 0xfe, 'a', 0, 0x00, 0xd8, 'b', 0), 'no valid UTF-16 at byte 4.'],
    ['half of a pair at the beginning', bytes(0xfe, 0xff, 0xdc, 0x00, 0, 'b'), 'no valid UTF-16 at byte 2.'],
  ])('is found: %s', (_, content, message) => {
    expect(() => decodeText(content, 'f')).toThrow(
      expect.objectContaining({ message: `"f" is not text: ${message}`, fix: { hint: DAMAGED } }),
    )
  })
})
