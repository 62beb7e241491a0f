import { openSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../../../../test/support/temporary-folder.ts'
import type { FileMatches, Sink } from '../engine.ts'
import type { SearchJob } from '../search-job.ts'
import { NameReader } from './name-reader.ts'
import { ReportReader } from './report-reader.ts'

const path = join(temporaryFolder('report-reader'), 'f')
writeFileSync(path, 'x\n'.repeat(10))

/** Keeps what it is given; takes `most` files, and none whose name has `closed` in it. */
class Keeping implements Sink {
  readonly found: FileMatches[] = []
  skipped = 0
  readonly most: number

  constructor(most = 100) {
    this.most = most
  }

  admits(file: string): boolean {
    return !file.includes('closed')
  }

  take(found: FileMatches): boolean {
    this.found.push(found)
    return this.found.length < this.most
  }

  skip(count: number): void {
    this.skipped += count
  }

  names(): string[] {
    return this.found.map(({ file }) => file)
  }
}

const begin = (name: string) => ({ type: 'begin', data: { path: { text: name } } })
const match = (line: number, type = 'match') => ({
  type,
  data: { lines: { text: 'x\n' }, line_number: line, absolute_offset: (line - 1) * 2, submatches: [] },
})
const end = (binary: number | null = null) => ({ type: 'end', data: { binary_offset: binary } })

function read(messages: readonly object[], job: Partial<SearchJob> = {}, sink = new Keeping()) {
  const opened: string[] = []
  const reader = new ReportReader({ output: 'lines', maxMatches: 100, ...job } as SearchJob, sink, (file) => {
    opened.push(file)
    return openSync(path, 'r')
  })
  const isWanted = messages.map((message) => reader.take(Buffer.from(`${JSON.stringify(message)}\n`)))
  reader.close()
  return { sink, opened, isWanted, isSummed: reader.isSummed }
}

describe('what `rg --json` writes', () => {
  it('becomes one entry a file, with the dot before its name left out', () => {
    const { sink, opened, isSummed } = read([
      ...[begin('./d./f'), match(1), match(2, 'context'), end()],
      ...[begin('g'), match(3), end(), { type: 'summary', data: {} }],
    ])
    expect(sink.found).toMatchObject([
      {
        file: 'd./f',
        matches: 1,
        lines: [
          { line: 1, isMatch: true },
          { line: 2, isMatch: false },
        ],
      },
      { file: 'g', matches: 1, lines: [{ line: 3 }] },
    ])
    expect([opened, isSummed, sink.skipped]).toEqual([['d./f', 'g'], true, 0])
  })

  it('is not summed before the end, and leaves out a file that is not done', () => {
    expect(read([begin('./a'), match(1)])).toMatchObject({ isSummed: false, sink: { found: [] } })
  })

  it('skips names that are no UTF-8 and files that could not be checked, and leaves out closed and binary ones', () => {
    const wrong = { type: 'match', data: { lines: { text: 'y\n' }, line_number: 1, absolute_offset: 0 } }
    const { sink, opened } = read([
      ...[{ type: 'begin', data: { path: { bytes: '/w==' } } }, match(1), end()],
      ...[begin('./wrong'), wrong, end()],
      ...[begin('./closed'), match(1), end()],
      ...[begin('./binary'), match(1), end(7)],
      ...[begin('./late-binary'), match(1), end(0)],
      ...[begin('./good'), match(1), end()],
    ])
    expect([sink.names(), sink.skipped]).toEqual([['good'], 2])
    expect(opened).toEqual(['wrong', 'binary', 'late-binary', 'good'])
  })

  it('ends in the middle of a file once more lines match than are wanted', () => {
    const matches = [1, 2, 3, 4].map((line) => match(line))
    const { sink, isWanted } = read([begin('./a'), ...matches], { maxMatches: 2 })
    expect(sink.found).toMatchObject([{ file: 'a', matches: 3 }])
    expect(isWanted).toEqual([true, true, true, true, true])
    expect(read([begin('./a'), ...matches, end()], { maxMatches: 2, output: 'counts' }).sink.found).toEqual([
      { file: 'a', matches: 4, lines: [] },
    ])
  })

  it('ends when no more files are wanted', () => {
    const file = [begin('./a'), match(1), end()]
    const { isWanted } = read([...file, ...file], {}, new Keeping(2))
    expect(isWanted).toEqual([true, true, true, true, true, false])
  })

  it('is unsure about a line that is too long', () => {
    const sink = new Keeping()
    const reader = new ReportReader({ output: 'lines', maxMatches: 9 } as SearchJob, sink, () => openSync(path, 'r'))
    reader.take(Buffer.from(`${JSON.stringify(begin('./a'))}\n${JSON.stringify(match(1))}\n`))
    expect(reader.take(Buffer.from(`{"type":"match","data":{"lines":{"text":"${'x'.repeat(16_000_001)}"}}}\n`))).toBe(
      true,
    )
    expect(reader.take(Buffer.from(`${JSON.stringify(end())}\n`))).toBe(true)
    expect([sink.found, sink.skipped]).toEqual([[], 1])
  })
})

describe('what `rg --files --null` writes', () => {
  function names(chunks: readonly (string | Buffer)[], sink = new Keeping()) {
    const reader = new NameReader(sink, (file) => !file.includes('gone'))
    const isWanted = chunks.map((chunk) => reader.take(Buffer.from(chunk)))
    return { names: sink.names(), skipped: sink.skipped, isWanted }
  }

  it.each<[string, string[], string[]]>([
    ['one chunk', ['./a\0./b/c\0'], ['a', 'b/c']],
    ['chunks that end anywhere', ['.', '/a', '\0./b', '/c\0'], ['a', 'b/c']],
    ['a name that does not end', ['./a\0./b'], ['a']],
    ['a dot and a slash inside of a name', ['./d./a\0d./b\0'], ['d./a', 'd./b']],
    ['names without a dot before them', ['a\0bc\0'], ['a', 'bc']],
    ['letters of many bytes', ['./ä漢\0'], ['ä漢']],
  ])('is read from %s', (_, chunks, expected) => {
    expect(names(chunks)).toEqual({ names: expected, skipped: 0, isWanted: chunks.map(() => true) })
  })

  it('skips what is gone and what is no UTF-8, and says nothing of what is closed', () => {
    const odd = Buffer.concat([Buffer.from('./a'), Buffer.from([0xff, 0])])
    expect(names(['./gone\0./closed\0', odd, './b\0'])).toMatchObject({ names: ['b'], skipped: 2 })
  })

  it('gives each file as one without matches, and ends when no more are wanted', () => {
    const sink = new Keeping(2)
    expect(names(['./a\0./b\0./c\0'], sink)).toEqual({ names: ['a', 'b'], skipped: 0, isWanted: [false] })
    expect(sink.found[0]).toEqual({ file: 'a', matches: 0, lines: [] })
  })
})
