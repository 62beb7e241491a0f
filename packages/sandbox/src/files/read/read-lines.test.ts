import { readFileSync } from 'node:fs'
import { truncate } from 'node:fs/promises'
import fc from 'fast-check'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { countOpenFiles } from '../../../../../test/support/left-behind.ts'
import { bytesRead, code, reading } from '../../../../../test/support/reading.ts'
import { sha256 } from '../../../../core/src/lib/hash.ts'

let files: ReturnType<typeof reading>

beforeEach(() => {
  files = reading()
})

afterEach(() => files.close())

const read = (name: string, options?: { offset?: number; limit?: number; maxBytes?: number }) =>
  files.reader().readLines(name, options)

/** A log of numbered lines; `count` of 20,000 is well over what is read in one go. */
const log = (count: number) => Array.from({ length: count }, (_, number) => `line ${number + 1} é`)

it('gives whole lines with their place in the file', async () => {
  const path = files.put('a.txt', 'one\ntwo\r\n\nfour')
  const page = { path, totalLines: 4, bytes: 14 }
  expect(await read('a.txt')).toEqual({ ...page, from: 1, to: 4, text: 'one\ntwo\r\n\nfour' })
  expect(await read('a.txt', { offset: 2, limit: 2 })).toEqual({ ...page, from: 2, to: 3, text: 'two\r\n' })
  expect(await read('a.txt', { offset: 4 })).toEqual({ ...page, from: 4, to: 4, text: 'four' })
  expect(await read('a.txt', { offset: 5 })).toEqual({ ...page, from: 5, to: 4, text: '' })
  expect(await read('a.txt', { offset: 2 ** 50 })).toMatchObject({ to: 2 ** 50 - 1, text: '' })
  expect(await read('a.txt', { limit: 0 })).toEqual({ ...page, from: 1, to: 0, text: '' })
})

it('counts lines as people do', async () => {
  const counts: [string, number][] = [
    ['', 0],
    ['\n', 1],
    ['a', 1],
    ['a\n', 1],
    ['a\n\n', 2],
    ['\na', 2],
    ['\ufeff', 0],
  ]
  for (const [text, totalLines] of counts) {
    files.put('a.txt', text)
    expect(await read('a.txt')).toMatchObject({ totalLines, from: 1, to: totalLines })
  }
})

it('ends a page at 2,000 lines or 50,000 bytes, whichever comes first', async () => {
  files.put('short.txt', 'x\n'.repeat(5_000))
  files.put('long.txt', `${'x'.repeat(999)}\n`.repeat(100))
  expect(await read('short.txt')).toMatchObject({ to: 2_000, totalLines: 5_000 })
  const page = await read('long.txt')
  expect(page).toMatchObject({ to: 50, totalLines: 100 })
  expect(page.text).toHaveLength(49_999)
  expect(await files.reader({ maxBytes: 2_500 }).readLines('long.txt', { maxBytes: 60_000 })).toMatchObject({ to: 2 })
})

it('finds any page of a large file, before and after it knows where the lines are', async () => {
  const lines = log(20_000)
  files.put('log.txt', `${lines.join('\n')}\n`)
  for (const offset of [1, 2, 4_321, 4_322, 9_999, 19_999, 20_000]) {
    const page = await read('log.txt', { offset, limit: 3 })
    const expected = lines.slice(offset - 1, offset + 2)
    const to = offset + expected.length - 1
    expect(page).toMatchObject({ from: offset, to, totalLines: 20_000, text: expected.join('\n') })
  }
  expect(await read('log.txt', { offset: 20_001 })).toMatchObject({ from: 20_001, to: 20_000, text: '' })
})

it('says which line is too long for any page, where it is, and ends before it', async () => {
  const long = 'y'.repeat(300_000)
  for (const around of ['x\n'.repeat(10), 'x\n'.repeat(100_000)]) {
    const lines = around.length / 2
    files.put('a.txt', `${around}${long}\n${around}${long}`)
    const tooLong = { line: lines + 1, offset: around.length, bytes: 300_000 }
    expect(await read('a.txt', { offset: lines - 1 })).toMatchObject({ to: lines, text: 'x\nx', tooLong })
    expect(await read('a.txt', { offset: lines + 1 })).toMatchObject({ to: lines, text: '', tooLong })
    const last = { line: 2 * lines + 2, offset: 2 * around.length + 300_001, bytes: 300_000 }
    expect(await read('a.txt', { offset: 2 * lines + 2 })).toMatchObject({ text: '', tooLong: last })
    expect(await read('a.txt', { offset: lines - 1, limit: 2 })).not.toHaveProperty('tooLong')
    expect(await read('a.txt', { offset: lines + 1, limit: 1, maxBytes: 300_000 })).toMatchObject({ text: long })
  }
})

it('knows a line that is too long also after a page that ends far from where reading began', async () => {
  files.put('a.txt', ['x'.repeat(65_000), 'y'.repeat(40_000), 'z'.repeat(300_000), ''].join('\n'))
  const tooLong = { line: 3, offset: 105_002, bytes: 300_000 }
  expect(await read('a.txt', { offset: 2 })).toMatchObject({ from: 2, to: 2, totalLines: 3, tooLong })
})

it('leaves a line that fits a page of its own to the next page', async () => {
  files.put('a.txt', `${`${'x'.repeat(40_000)}\n`.repeat(5)}`)
  expect(await read('a.txt', { offset: 2 })).toMatchObject({ from: 2, to: 2, totalLines: 5 })
  expect(await read('a.txt', { offset: 2 })).not.toHaveProperty('tooLong')
})

it('leaves out the mark and decodes UTF-16, with places as they are in the file', async () => {
  for (const rest of ['two', 'x\n'.repeat(50_000)]) {
    files.put('marked.txt', `\ufeffone\n${rest}`)
    expect(await read('marked.txt', { limit: 1 })).toMatchObject({ text: 'one', to: 1 })
    const little = Buffer.from(`\ufeffé\n${'z'.repeat(30)}\n${rest}`, 'utf16le')
    files.put('wide.txt', little)
    expect(await read('wide.txt', { limit: 2 })).toMatchObject({ text: `é\n${'z'.repeat(30)}`, bytes: little.length })
    files.put('wide.txt', Buffer.from(little).swap16())
    const tooLong = { line: 2, offset: 6, bytes: 60 }
    expect(await read('wide.txt', { maxBytes: 20 })).toMatchObject({ text: 'é', to: 1, tooLong })
  }
})

it('refuses what is not text, in the page or at the beginning of the file', async () => {
  const tail = 'x\n'.repeat(50_000)
  for (const rest of ['', tail]) {
    files.put('binary.bin', Buffer.from(`MZ\0${rest}`))
    await expect(read('binary.bin')).rejects.toThrow(/NUL byte at byte 2; it looks binary/)
    files.put('bad.txt', Buffer.concat([Buffer.from('ok\n'), Buffer.from([0xe9, 10]), Buffer.from(rest)]))
    expect(await read('bad.txt', { limit: 1 })).toMatchObject({ text: 'ok' })
    await expect(read('bad.txt')).rejects.toThrow(/no valid UTF-8 at byte 3/)
  }
  files.put('late.txt', Buffer.concat([Buffer.from(tail), Buffer.from([0xe9, 10])]))
  await expect(read('late.txt', { offset: 50_001 })).rejects.toThrow(/no valid UTF-8 at byte 100000/)
})

it('tells the run only about a file that is whole on the page', async () => {
  const seen = new Map<string, string>()
  const reader = files.reader({ seen })
  const large = log(20_000).join('\n')
  const paths = [files.put('small.txt', 'one\ntwo\n'), files.put('large.txt', large)] as const
  await reader.readLines('small.txt', { limit: 1 })
  await reader.readLines('small.txt', { offset: 2 })
  await reader.readLines('large.txt')
  expect(seen.size).toBe(0)
  await reader.readLines('small.txt')
  await reader.readLines('large.txt', { limit: 20_000, maxBytes: 1_000_000 })
  expect([...seen]).toEqual([
    [paths[0], sha256('one\ntwo\n')],
    [paths[1], sha256(large)],
  ])
  const wide = Buffer.from('\ufeffone', 'utf16le')
  await reader.readLines(files.put('wide.txt', wide))
  expect([...seen.values()].at(-1)).toBe(sha256(wide))
})

it('refuses a file too large to be scanned, and UTF-16 too large for memory', async () => {
  await truncate(files.put('huge.txt', 'x'), 2 ** 40)
  await expect(read('huge.txt')).rejects.toThrow(
    expect.objectContaining({ code: 'FILE_TOO_LARGE', fix: { hint: expect.stringContaining('bytes') } }),
  )
  await truncate(files.put('wide.txt', Buffer.from([0xff, 0xfe])), 3_000_002)
  await expect(read('wide.txt')).rejects.toThrow(code('FILE_TOO_LARGE'))
})

it('stops in the middle of a long scan', async () => {
  await truncate(files.put('huge.txt', 'x'.repeat(10_000)), 2 ** 32)
  const before = countOpenFiles()
  const controller = new AbortController()
  const page = files.reader({ signal: () => controller.signal }).readLines('huge.txt')
  const started = bytesRead()
  const watch = () => (bytesRead() - started > 20_000_000 ? controller.abort() : setImmediate(watch))
  watch()
  await expect(page).rejects.toThrow(code('ABORTED'))
  expect(countOpenFiles()).toBe(before)
})

it('refuses numbers that make no sense', async () => {
  files.put('a.txt', 'one')
  for (const options of [
    { offset: 0 },
    { offset: 1.5 },
    { limit: -1 },
    { maxBytes: Number.NaN },
    { limit: '5' as never },
  ]) {
    await expect(read('a.txt', options)).rejects.toThrow(code('INPUT_SCHEMA_INVALID'))
  }
})

it('gives every line once, whatever the lines and the pages', async () => {
  const line = fc.string({ unit: fc.constantFrom('a', 'é', '𝄞', '\r', ' '), maxLength: 12 })
  const shape = { lines: fc.array(line, { maxLength: 30 }), limit: fc.integer({ min: 1, max: 7 }) }
  const size = { maxBytes: fc.integer({ min: 48, max: 200 }), times: fc.constantFrom(1, 1, 9_000) }
  await fc.assert(
    fc.asyncProperty(fc.record({ ...shape, ...size, hasLastEnd: fc.boolean() }), async (given) => {
      const { limit, maxBytes, times } = given
      // A long middle makes the file large, so that the index is used too.
      const lines = [...given.lines, ...Array<string>(times === 1 ? 0 : times).fill('0123456789'), ...given.lines]
      const end = given.hasLastEnd && lines.length > 0 ? '\n' : ''
      files.put('a.txt', lines.join('\n') + end)
      const { totalLines } = await read('a.txt', { limit: 0 })
      const pages: string[] = []
      for (let offset = 1; offset <= totalLines; ) {
        const isMiddle = times > 1 && offset > given.lines.length + 20 && offset < totalLines - 50
        const page = await read(
          'a.txt',
          isMiddle ? { offset, limit: 8_900 - limit, maxBytes: 99_000 } : { offset, limit, maxBytes },
        )
        expect(page.from).toBe(offset)
        expect(page.to).toBeGreaterThanOrEqual(offset)
        pages.push(page.text)
        offset = page.to + 1
      }
      const hasLastEnd = readFileSync(`${files.root}/a.txt`).at(-1) === 10
      const expected = readFileSync(`${files.root}/a.txt`, 'utf8')
      expect(pages.join('\n') + (hasLastEnd ? '\n' : '') === expected).toBe(true)
    }),
    { numRuns: 150 },
  )
})
