import { appendFileSync, closeSync, openSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../../../../test/support/temporary-folder.ts'
import { LineReader, readLinesSync, readRecordLines } from './lines.ts'

const folder = temporaryFolder('lines')
const CHUNK = 256 * 1024
const MAX_LENGTH = 16 * 1024 * 1024

type Found = Array<readonly [text: string, end: number]>

async function read(content: string, from?: number): Promise<Found> {
  const path = join(folder, 'lines')
  writeFileSync(path, content)
  const fd = openSync(path, 'r')
  const sync = [...readLinesSync(fd, from)].map(({ bytes, end }) => [bytes.toString(), end] as const)
  closeSync(fd)
  const found: Found = []
  for await (const lines of readRecordLines(path, from)) {
    for (const { bytes, end } of lines) found.push([bytes.toString(), end])
  }
  expect(found).toEqual(sync)
  return found
}

describe('the complete lines of a file', () => {
  it.each<[string, string, number | undefined, Found]>([
    [
      'each with its end',
      'a\n\nbcd\n',
      undefined,
      [
        ['a', 2],
        ['', 3],
        ['bcd', 7],
      ],
    ],
    ['from a position on', 'a\nbcd\n', 2, [['bcd', 6]]],
    ['without the last one that has no end', 'a\nbcd', undefined, [['a', 2]]],
    ['none of an empty file', '', undefined, []],
  ])('are read %s', async (_name, content, from, expected) => {
    expect(await read(content, from)).toEqual(expected)
  })

  it.each([CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK + 5])('are read over several pieces: %d bytes', async (length) => {
    const long = 'x'.repeat(length)
    expect(await read(`a\n${long}\nb\n`)).toEqual([
      ['a', 2],
      [long, length + 3],
      ['b', length + 5],
    ])
  })

  it('end where nothing that we write is as long', async () => {
    const file = openSync(join(folder, 'endless'), 'w+')
    appendFileSync(file, 'x'.repeat(MAX_LENGTH))
    expect([...readLinesSync(file)]).toEqual([])
    appendFileSync(file, 'y')
    const [line, ...more] = readLinesSync(file)
    expect([line!.bytes.length, line!.end, more.length]).toEqual([MAX_LENGTH + 1, MAX_LENGTH + 1, 0])
    closeSync(file)
  })
})

describe('a reader of a file that grows', () => {
  it('reads on, or stops where the file ended when it was opened', async () => {
    const path = join(folder, 'growing')
    writeFileSync(path, 'a\nb')
    const now = await LineReader.open(path, 0, { asOfNow: true })
    const later = await LineReader.open(path)
    appendFileSync(path, 'c\nd')
    expect((await now.next())!.map(({ bytes }) => bytes.toString())).toEqual(['a'])
    expect(await now.next()).toBeUndefined()
    expect(now.rest.toString()).toBe('b')
    expect((await later.next())!.map(({ bytes }) => bytes.toString())).toEqual(['a', 'bc'])
    expect(later.rest.toString()).toBe('d')
    expect(await later.next()).toBeUndefined()
    appendFileSync(path, '\n')
    expect(await later.next()).toEqual([{ bytes: Buffer.from('d'), end: 7 }])
    expect(later.rest).toHaveLength(0)
    await Promise.all([now.close(), later.close()])
  })
})
