import { closeSync, openSync, writeSync } from 'node:fs'
import { truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { code, reading } from '../../../../../test/support/reading.ts'
import { sha256 } from '../../../../core/src/lib/hash.ts'
import { decodeFile, decodeUtf8, encodingOf, looksBinary } from './read-file.ts'

const LIMIT = 3_000_000

let files: ReturnType<typeof reading>

beforeEach(() => {
  files = reading({ maxReadBytes: LIMIT })
})

afterEach(() => files.close())

describe('readFile', () => {
  it('tells all about a file, and the run what it has seen', async () => {
    files.put('a.txt', 'grüße\n')
    const seen = new Map<string, string>()
    const path = join(files.root, 'a.txt')
    expect(await files.reader({ seen }).readFile('a.txt')).toEqual({
      path,
      text: 'grüße\n',
      bytes: 8,
      sha256: sha256('grüße\n'),
      encoding: 'utf-8',
    })
    expect([...seen]).toEqual([[path, sha256('grüße\n')]])
  })

  it('reads a large file as exactly as a small one', async () => {
    for (const size of [0, 1, 65_535, 65_536, 65_537, 524_288, 1_500_001]) {
      const text = 'é0123456789\r\n'.repeat(size / 13 + 1).slice(0, size)
      files.put('a.txt', text)
      const file = await files.reader().readFile('a.txt')
      expect(file.text === text).toBe(true)
      expect(file.sha256).toBe(sha256(text))
    }
  })

  it('keeps many reads at the same time apart', async () => {
    const names = Array.from({ length: 50 }, (_, number) => `${number}.txt`)
    for (const [number, name] of names.entries()) files.put(name, `${number} `.repeat(number * 400))
    const texts = await Promise.all(names.map((name) => files.reader().readText(name)))
    for (const [number, text] of texts.entries()) expect(text === `${number} `.repeat(number * 400)).toBe(true)
  })

  it('decodes by the mark at the beginning, which is not part of the text', async () => {
    const text = '\ufeffé𝄞\r\n'
    const little = Buffer.from(`\ufeff${text}`, 'utf16le')
    const cases = {
      'utf-8-bom': Buffer.from(`\ufeff${text}`),
      'utf-16le': little,
      'utf-16be': Buffer.from(little).swap16(),
    }
    for (const [encoding, bytes] of Object.entries(cases)) {
      files.put('marked.txt', bytes)
      const expected = { encoding, text, bytes: bytes.length, sha256: sha256(bytes) }
      expect(await files.reader().readFile('marked.txt')).toMatchObject(expected)
    }
    for (const mark of [
      [0xef, 0xbb, 0xbf],
      [0xff, 0xfe],
      [0xfe, 0xff],
    ]) {
      files.put('mark.txt', Buffer.from(mark))
      expect(await files.reader().readText('mark.txt')).toBe('')
    }
  })

  it('says at which byte a file is not text, and whether it looks binary', async () => {
    const bad = Buffer.from([0xff])
    const long = Buffer.from('é𝄞'.repeat(30_000))
    const cases: [Uint8Array, string][] = [
      [Buffer.concat([Buffer.from('ab\u00e9'), bad]), 'UTF-8 at byte 4.'],
      [Buffer.concat([Buffer.from('\ufeffab'), bad]), 'UTF-8 at byte 5.'],
      [Buffer.concat([Buffer.from('a\0b'), bad]), 'UTF-8 at byte 3; it looks binary'],
      [Buffer.concat([long, bad, long]), `UTF-8 at byte ${long.length}.`],
      [Buffer.concat([long, long.subarray(2, 5)]), `UTF-8 at byte ${long.length}.`],
      [Buffer.alloc(70_000, 0x80), 'UTF-8 at byte 0.'],
      [Buffer.from([0xff, 0xfe, 0x41]), 'half a character of UTF-16 at byte 2.'],
      [Buffer.from([0xff, 0xfe, 0x41, 0, 0, 0xd8, 0x41, 0]), 'UTF-16 at byte 4.'],
    ]
    for (const [bytes, message] of cases) {
      files.put('bad.bin', bytes)
      await expect(files.reader().readFile('bad.bin')).rejects.toThrow(code('INPUT_SCHEMA_INVALID'))
      await expect(files.reader().readFile('bad.bin')).rejects.toThrow(message)
    }
  })

  it('keeps to the smallest limit and tells size and limit', async () => {
    files.put('a.txt', 'x'.repeat(2_000))
    const path = join(files.root, 'a.txt')
    const tooLarge = (limit: number, allowed = limit) =>
      expect.objectContaining({ code: 'FILE_TOO_LARGE', details: { size: 2_000, limit, allowed, path } })
    await expect(files.reader().readFile('a.txt', { maxBytes: 1_999 })).rejects.toThrow(tooLarge(1_999, LIMIT))
    await expect(files.reader({ maxBytes: 5 }).readFile('a.txt', { maxBytes: 1_999 })).rejects.toThrow(tooLarge(5))
    expect((await files.reader({ maxBytes: 2_000 }).readFile('a.txt')).bytes).toBe(2_000)
    await truncate(path, 2 ** 40)
    await expect(files.reader().readFile('a.txt')).rejects.toThrow(/1099511627776 bytes, the limit is 3000000/)
    for (const maxBytes of [-1, 0.5, Number.NaN]) {
      await expect(files.reader().readFile('a.txt', { maxBytes })).rejects.toThrow(/whole number/)
    }
  })

  it.each(['readFile', 'readText', 'readBytes', 'readLines', 'sha256'] as const)(
    'reads no part of a file that is larger than the rule allows: %s',
    async (method) => {
      files.put('a.txt', 'x\n'.repeat(1_000))
      const read = (maxFileBytes: number) => files.reader({ maxFileBytes })[method]('a.txt', { maxBytes: 100_000 })
      await expect(read(1_999)).rejects.toThrow(code('FILE_TOO_LARGE'))
      await expect(read(2_000)).resolves.toBeDefined()
    },
  )

  it('reads no more than was there when it was opened, however the file grows', async () => {
    files.put('log.txt', 'x'.repeat(1_500_000))
    const log = openSync(join(files.root, 'log.txt'), 'a')
    const reading = files.reader().readFile('log.txt')
    for (let line = 0; line < 100; line += 1) writeSync(log, 'y'.repeat(20_000))
    closeSync(log)
    expect((await reading).bytes).toBe(1_500_000)
  })
})

describe('readBytes', () => {
  it('reads any part of a file of any size', async () => {
    files.put('sparse.bin', 'begin')
    await truncate(join(files.root, 'sparse.bin'), 2 ** 40 - 3)
    await writeFile(join(files.root, 'sparse.bin'), 'end', { flag: 'a' })
    const read = (offset: number, maxBytes: number) => files.reader().readBytes('sparse.bin', { offset, maxBytes })
    const text = async (offset: number, maxBytes: number) =>
      Buffer.from((await read(offset, maxBytes)).content).toString()
    expect(await text(0, 5)).toBe('begin')
    expect(await text(2 ** 40 - 3, 100)).toBe('end')
    expect(await read(2 ** 40, 100)).toMatchObject({ content: Buffer.alloc(0), offset: 2 ** 40, bytes: 2 ** 40 })
    expect(await text(2 ** 50, 100)).toBe('')
    expect((await files.reader().readBytes('sparse.bin')).content).toHaveLength(LIMIT)
    expect(
      (await files.reader({ maxBytes: 70_000 }).readBytes('sparse.bin', { maxBytes: 80_000 })).content,
    ).toHaveLength(70_000)
  })

  it('gives bytes that stay as they are when something else is read', async () => {
    files.put('a.bin', 'aaaa')
    files.put('b.bin', 'bbbb')
    const first = await files.reader().readBytes('a.bin')
    await files.reader().readBytes('b.bin')
    await files.reader().readFile('b.bin')
    expect(Buffer.from(first.content).toString()).toBe('aaaa')
  })

  it('refuses places that no file has', async () => {
    files.put('a.bin', 'aaaa')
    for (const offset of [-1, 1.5, Number.NaN, 2 ** 60]) {
      await expect(files.reader().readBytes('a.bin', { offset })).rejects.toThrow(code('INPUT_SCHEMA_INVALID'))
    }
  })
})

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
    expect(decodeFile(content, 'f')).toEqual({ text, encoding })
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
    expect(() => decodeFile(bytes('\uFEFFa', 0xff), 'f')).toThrow('at byte 4.')
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
    expect(() => decodeFile(content, 'f')).toThrow(
      expect.objectContaining({ message: `"f" is not text: ${message}`, fix: { hint: DAMAGED } }),
    )
  })
})
