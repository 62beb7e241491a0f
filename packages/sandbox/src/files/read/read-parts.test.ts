import { closeSync, ftruncateSync, linkSync, openSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { FILES_LEVEL } from '../../../../../test/support/files-level.ts'
import { countOpenFiles } from '../../../../../test/support/left-behind.ts'
import { temporaryFolder } from '../../../../../test/support/temporary-folder.ts'
import { fileAccess } from '../access/choose-access.ts'
import type { FileTarget } from '../roots.ts'
import { childrenOf } from './list-folder.ts'
import {
  CHUNK_BYTES,
  changedMeanwhile,
  checkCount,
  readFileChunks,
  readNow,
  readPiece,
  readSmall,
  refuseLarger,
  SMALL_BYTES,
} from './read-file.ts'
import { countNewlines, findLineEnd, knownIndex, scanLines, takeLines } from './read-lines.ts'

const folder = temporaryFolder('read-parts')
const path = join(folder, 'f')
const never = new AbortController().signal

/** An open file with this content, or with this many bytes of which each tells its place. */
function opened(content: string | number) {
  const bytes =
    typeof content === 'number' ? Buffer.from(Array.from({ length: content }, (_, at) => at % 251)) : content
  writeFileSync(path, bytes)
  const descriptor = openSync(path, 'r+')
  onTestFinished(() => closeSync(descriptor))
  return { descriptor, target: { path } as FileTarget, size: Buffer.byteLength(bytes) }
}

describe('a count that a caller gave', () => {
  it.each([
    [undefined, 0, 7],
    [0, 0, 0],
    [1, 1, 1],
    [5, 0, 5],
    [Number.MAX_SAFE_INTEGER, 0, Number.MAX_SAFE_INTEGER],
  ])('%j is taken where %j is the least', (value, least, expected) => {
    expect(checkCount('n', value, 7, least)).toBe(expected)
    expect(checkCount('n', 0, 7)).toBe(0)
  })

  it.each([
    [-1, 0],
    [0, 1],
    [1.5, 0],
    [2 ** 53, 0],
    [Number.NaN, 0],
    ['5', 0],
  ])('%j is refused where %j is the least', (value, least) => {
    expect(() => checkCount('n', value as number, 7, least)).toThrow(
      expect.objectContaining({
        code: 'INPUT_SCHEMA_INVALID',
        message: `n is a whole number from ${least} on, not ${value}.`,
        fix: { key: 'n', hint: `Give n as a whole number from ${least} on, or leave it out.` },
      }),
    )
  })
})

describe('lines that are taken', () => {
  it.each([
    ['all', 'a\nb\n', 0, 9, 9, { count: 2, end: 3, tooLong: undefined }],
    ['one without an end', 'a\nbc', 0, 9, 9, { count: 2, end: 4, tooLong: undefined }],
    ['no more than the limit', 'a\nb\nc\n', 0, 2, 9, { count: 2, end: 3, tooLong: undefined }],
    ['none', 'a\n', 0, 0, 9, { count: 0, end: 0, tooLong: undefined }],
    ['from a place on', 'a\nb\nc\n', 2, 9, 9, { count: 2, end: 5, tooLong: undefined }],
    ['none after the end', 'a\n', 2, 9, 9, { count: 0, end: 2, tooLong: undefined }],
    ['an empty line', '\n\n', 0, 9, 9, { count: 2, end: 1, tooLong: undefined }],
    ['as many as fit exactly', 'ab\ncd\nef', 0, 9, 5, { count: 2, end: 5, tooLong: undefined }],
    ['one less than fits by a byte', 'ab\ncd\nef', 0, 9, 4, { count: 1, end: 2, tooLong: undefined }],
    ['one that fits exactly', 'abcd\ne', 0, 9, 4, { count: 1, end: 4, tooLong: undefined }],
    ['none that is too long', 'abcde\nf', 0, 9, 4, { count: 0, end: 0, tooLong: 0 }],
    ['those before one that is too long', 'a\nbcdef\n', 0, 9, 4, { count: 1, end: 1, tooLong: 2 }],
    ['those before one that fits a page of its own', 'a\nbcde\n', 0, 9, 4, { count: 1, end: 1, tooLong: undefined }],
  ])('are %s', (_, text, start, limit, maxBytes, expected) => {
    expect(takeLines(Buffer.from(text), start, { limit, maxBytes, maxChars: 99 })).toEqual(expected)
  })

  it.each([
    ['as many as fit exactly', '汉字\n文\n', 4, { count: 2, end: 10, tooLong: undefined }],
    ['one less than fits by a character', '汉字\n文\n', 3, { count: 1, end: 6, tooLong: undefined }],
    ['none that is too long', '汉字文\na', 2, { count: 0, end: 0, tooLong: 0 }],
    ['those before one that is too long', 'a\n汉字文\n', 2, { count: 1, end: 1, tooLong: 2 }],
    ['halves of a character in UTF-16, as texts count them', '😀\na', 2, { count: 1, end: 4, tooLong: undefined }],
  ])('are %s, in characters', (_, text, maxChars, expected) => {
    expect(takeLines(Buffer.from(text), 0, { limit: 9, maxBytes: 99, maxChars })).toEqual(expected)
  })
})

describe('the content of a file', () => {
  const sizes = [0, 1, CHUNK_BYTES - 1, CHUNK_BYTES, CHUNK_BYTES + 1, 2 * CHUNK_BYTES, 2 * CHUNK_BYTES + 7]

  it.each(sizes)('of %j bytes is read piece by piece, each where it belongs', async (size) => {
    const file = opened(size)
    const all = readFileSync(path)
    const pieces: Buffer[] = []
    const part = await readPiece(file.descriptor, 0, size, never, (piece) => pieces.push(Buffer.from(piece)))
    expect(part.equals(all) && Buffer.concat(pieces).equals(all)).toBe(true)
    expect(pieces.filter((piece) => piece.length > CHUNK_BYTES)).toEqual([])
    const places: number[] = []
    const chunks: Buffer[] = []
    const count = await readFileChunks(file, never, (chunk, position) => {
      places.push(position)
      chunks.push(Buffer.from(chunk))
    })
    expect([count, Buffer.concat(chunks).equals(all)]).toEqual([size, true])
    expect(places).toEqual(Array.from({ length: Math.ceil(size / CHUNK_BYTES) }, (_, index) => index * CHUNK_BYTES))
  })

  it('is read from any place, as far as there is some', async () => {
    const { descriptor } = opened('abcdef')
    expect(String(await readPiece(descriptor, 2, 3, never))).toBe('cde')
    expect(String(await readPiece(descriptor, 4, 100, never))).toBe('ef')
    expect(await readPiece(descriptor, 9, 5, never)).toHaveLength(0)
    const into = Buffer.alloc(6, '-')
    expect([readNow(descriptor, into, 3, 1), String(into)]).toEqual([3, 'bcd---'])
    expect([readNow(descriptor, into, 6, 4), String(into.subarray(0, 2))]).toEqual([2, 'ef'])
    expect(readNow(descriptor, into, 6, 9)).toBe(0)
  })

  it('is what is there when the file has become shorter', async () => {
    const file = opened(CHUNK_BYTES + 100)
    ftruncateSync(file.descriptor, CHUNK_BYTES + 10)
    expect(await readPiece(file.descriptor, 0, file.size, never)).toHaveLength(CHUNK_BYTES + 10)
    expect(await readFileChunks(file, never, () => {})).toBe(CHUNK_BYTES + 10)
    ftruncateSync(file.descriptor, 0)
    expect(await readFileChunks(file, never, () => {})).toBe(0)
    expect(String(readSmall({ ...file, size: SMALL_BYTES }))).toHaveLength(0)
  })

  it('of a small file is read in one go', () => {
    expect(String(readSmall(opened('abc')))).toBe('abc')
    expect(String(readSmall(opened(SMALL_BYTES)))).toBe(readFileSync(path, 'utf8'))
  })

  it('is not read on after a stop', async () => {
    const file = opened(10)
    const used: unknown[] = []
    const stopped = AbortSignal.abort()
    await expect(readPiece(file.descriptor, 0, 10, stopped, (piece) => used.push(piece))).rejects.toMatchObject({
      code: 'ABORTED',
    })
    await expect(readFileChunks(file, stopped, (chunk) => used.push(chunk))).rejects.toMatchObject({ code: 'ABORTED' })
    expect(used).toEqual([])
  })

  it('may be as large as a limit, and the error of a larger one has the numbers', () => {
    const file = { ...opened(''), size: 10 }
    expect(refuseLarger(file, 10, 'hint')).toBeUndefined()
    const error = { code: 'FILE_TOO_LARGE', message: `"${path}" has 10 bytes, the limit is 9.`, fix: { hint: 'less' } }
    const details = { size: 10, limit: 9, allowed: 9, path }
    expect(() => refuseLarger(file, 9, 'less')).toThrow(expect.objectContaining({ ...error, details }))
    expect(() => refuseLarger(file, 9, 'less', 20)).toThrow(
      expect.objectContaining({ ...error, details: { ...details, allowed: 20 } }),
    )
    expect(changedMeanwhile(file)).toMatchObject({
      code: 'CONFLICT',
      message: `"${path}" became shorter while it was read.`,
      retryable: true,
      fix: { hint: 'Read it again.' },
    })
  })
})

describe('the index of lines', () => {
  it.each([
    ['', 0],
    ['a', 0],
    ['\n', 1],
    ['\n\n', 2],
    ['a\nb\n\nc', 3],
  ])('%j has %j line ends', (text, count) => {
    expect(countNewlines(Buffer.from(text))).toBe(count)
  })

  it.each([
    [1, 0, 0],
    [3, 0, 2],
    [4, 2, 0],
    [5, 2, 1],
    [6, 3, 0],
    [9, 3, 3],
  ])('finds line end %j in block %j after %j others', (number, block, skip) => {
    expect(findLineEnd({ totalLines: 9, before: Float64Array.of(0, 3, 3, 5) }, number)).toEqual({ block, skip })
  })

  it('counts what stands before each block, and the last line without an end', async () => {
    const line = `${'x'.repeat(32_767)}\n`
    const file = opened(`${line.repeat(5)}end`)
    const index = await scanLines(file, never)
    expect([[...index.before], index.totalLines]).toEqual([[0, 2, 4], 6])
    expect((await scanLines(opened(line.repeat(4)), never)).totalLines).toBe(4)
    expect((await scanLines(opened(''), never)).totalLines).toBe(0)
    expect(knownIndex(opened('new'))).toBeUndefined()
  })

  it('is none of a file that became shorter', async () => {
    const file = opened('a\nb\n')
    truncateSync(path, 3)
    await expect(scanLines(file, never)).rejects.toMatchObject({ code: 'CONFLICT' })
  })
})

describe('the names in a folder', () => {
  const many = temporaryFolder('many')
  writeFileSync(join(many, '0'), '')
  for (let number = 1; number < 1025; number += 1) linkSync(join(many, '0'), join(many, `${number}`))

  it.each([
    ['a small folder', 65_536, true, [1025]],
    ['a larger one', 65_537, true, [512, 512, 1]],
    ['one whose size is not known', 0, true, [512, 512, 1]],
    ['a small folder with types', 65_536, false, [1025]],
    ['a larger one with types', 65_537, false, [512, 512, 1]],
  ])('come in batches: %s', (_, bytes, hasDetails, batches) => {
    const before = countOpenFiles()
    const descriptor = fileAccess.openBase(many)
    const found = [...childrenOf(descriptor, bytes, hasDetails)]
    expect(found.map(({ length }) => length)).toEqual(FILES_LEVEL === 'paths' ? [1025] : batches)
    expect(new Set(found.flat().map(({ name }) => name)).size).toBe(1025)
    expect(new Set(found.flat().map(({ type }) => type))).toEqual(new Set([hasDetails ? undefined : 'file']))
    closeSync(descriptor)
    expect(countOpenFiles()).toBe(before)
  })

  it('are let go when nobody wants more of them', () => {
    const descriptor = fileAccess.openBase(many)
    const before = countOpenFiles()
    for (const batch of childrenOf(descriptor, 0, true)) {
      expect(batch.length).toBeGreaterThan(0)
      break
    }
    expect(countOpenFiles()).toBe(before)
    closeSync(descriptor)
  })
})
