import { closeSync, openSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { countOpenFiles } from '../../../../../test/support/left-behind.ts'
import { temporaryFolder } from '../../../../../test/support/temporary-folder.ts'
import { checkedFile, excerpt, FileReport, type RgBlock } from './file-report.ts'

const folder = temporaryFolder('file-report')
const path = join(folder, 'f')

function opened(content: string | Buffer): number {
  writeFileSync(path, content)
  return openSync(path, 'r')
}

const block = (text: string, { line = 1, offset = 0, spans = [] as RgBlock['spans'] } = {}): RgBlock => ({
  bytes: Buffer.from(text),
  line,
  offset,
  spans,
})

/** A report about a file with this content. */
function reportOf(content: string, keepsLines = true) {
  let opens = 0
  const report = new FileReport('d/f', keepsLines, () => {
    opens += 1
    return opened(content)
  })
  return { report, opens: () => opens }
}

/** The lines that a block becomes. */
function linesOf(text: string, given: { line?: number; spans?: RgBlock['spans'] } = {}) {
  const { report } = reportOf(text)
  report.add(block(text, given), true)
  const found = report.finish()
  return typeof found === 'object' ? found.lines : found
}

describe('a checked file', () => {
  const wide = Buffer.from('\uFEFFabä\n漢', 'utf16le')

  it.each<[string, string | Buffer, number, string, boolean]>([
    ['bytes at their place', 'abcdef', 2, 'cd', true],
    ['bytes at the beginning', 'abcdef', 0, 'ab', true],
    ['bytes up to the end', 'abcdef', 4, 'ef', true],
    ['no bytes beyond the end', 'abcdef', 4, 'efg', false],
    ['no bytes of another place', 'abcdef', 1, 'cd', false],
    ['bytes after a mark, which does not count', '\uFEFFabcdef', 2, 'cd', true],
    ['no bytes counted with the mark', '\uFEFFabcdef', 5, 'cd', false],
    ['the UTF-8 of UTF-16', wide, 2, 'ä\n漢', true],
    ['the UTF-8 of UTF-16 with the large end first', Buffer.from(wide).swap16(), 2, 'ä\n漢', true],
    ['no other place in UTF-16', wide, 3, 'ä\n漢', false],
    ['no longer text in UTF-16', wide, 2, 'ä\n漢x', false],
  ])('holds %s', (_, content, offset, text, expected) => {
    const before = countOpenFiles()
    const file = checkedFile(opened(content))!
    expect(file.holds(offset, Buffer.from(text))).toBe(expected)
    file.close()
    expect(countOpenFiles()).toBe(before)
  })

  it('is a regular file, and one that fits into memory if it is UTF-16; the others are closed', () => {
    const before = countOpenFiles()
    expect(checkedFile(openSync(folder, 'r'))).toBeUndefined()
    closeSync(opened(Buffer.from([0xff, 0xfe])))
    truncateSync(path, 50_000_001)
    expect(checkedFile(openSync(path, 'r'))).toBeUndefined()
    expect(countOpenFiles()).toBe(before)
    truncateSync(path, 50_000_000)
    const file = checkedFile(openSync(path, 'r'))
    expect(file?.holds(1, Buffer.from('\0\0'))).toBe(true)
    file?.close()
    closeSync(opened('abc'))
    truncateSync(path, 50_000_002)
    checkedFile(openSync(path, 'r'))!.close()
    expect(countOpenFiles()).toBe(before)
  })
})

describe('a report of a file', () => {
  it('has what was found again in the file, which is opened once', () => {
    const { report, opens } = reportOf('a\nx\nb\nx\n')
    report.add(block('a\n', { line: 1, offset: 0 }), false)
    report.add(block('x\n', { line: 2, offset: 2 }), true)
    report.add(block('x\n', { line: 4, offset: 6 }), true)
    expect(report.matches).toBe(2)
    expect(report.finish()).toEqual({
      file: 'd/f',
      matches: 2,
      lines: [
        { line: 1, text: 'a', isMatch: false },
        { line: 2, text: 'x', isMatch: true },
        { line: 4, text: 'x', isMatch: true },
      ],
    })
    expect(opens()).toBe(1)
  })

  it('counts without keeping lines where nobody wants them', () => {
    const { report } = reportOf('x\nx\n', false)
    report.add(block('x\nx\n'), true)
    expect(report.finish()).toEqual({ file: 'd/f', matches: 2, lines: [] })
  })

  it('is nothing without a match, or for a file that is none that is searched', () => {
    const without = reportOf('a\n').report
    without.add(block('a\n'), false)
    expect(without.finish()).toBeUndefined()
    const dropped = reportOf('x\n').report
    dropped.add(block('x\n'), true)
    dropped.drop()
    expect(dropped.finish()).toBeUndefined()
  })

  it('is unsure, and stays so, once something is not found again', () => {
    const before = countOpenFiles()
    const { report, opens } = reportOf('x\nx\n')
    report.add(block('y\n'), true)
    report.add(block('x\n', { line: 2, offset: 2 }), true)
    expect([report.matches, report.finish(), opens()]).toEqual([0, 'unsure', 1])
    const late = reportOf('x\nx\n').report
    late.add(block('x\n'), true)
    late.doubt()
    expect(late.finish()).toBe('unsure')
    const dropped = reportOf('x\n').report
    dropped.drop()
    dropped.doubt()
    expect(dropped.finish()).toBeUndefined()
    expect(countOpenFiles()).toBe(before)
  })

  it('is unsure where the file cannot be opened or checked', () => {
    for (const open of [() => undefined, () => openSync(folder, 'r')]) {
      const report = new FileReport('f', true, open)
      report.add(block('x\n'), true)
      expect(report.finish()).toBe('unsure')
    }
  })
})

describe('a block of lines', () => {
  it.each<[string, string[]]>([
    ['a\n', ['4:a']],
    ['a', ['4:a']],
    ['a\nb\n', ['4:a', '5:b']],
    ['a\n\nb', ['4:a', '5:', '6:b']],
    ['\n', ['4:']],
    ['', ['4:']],
    ['a\r\nb\r', ['4:a', '5:b']],
    ['a\rb\r\r\n', ['4:a\rb\r']],
    ['ä\n漢', ['4:ä', '5:漢']],
  ])('%j has a number for each', (text, expected) => {
    const lines = linesOf(text, { line: 4 })
    expect(Array.isArray(lines) && lines.map((line) => `${line.line}:${line.text}`)).toEqual(expected)
  })

  const span = (start: number, end: number) => ({ start, end })
  const pad = 'a'.repeat(600)

  it.each<[string, string, RgBlock['spans'], string[]]>([
    ['around its match', `${pad}x${pad}`, [span(600, 601)], [`…${'a'.repeat(150)}x${'a'.repeat(349)}…`]],
    ['from the beginning without a match', `x${pad}`, [], [`x${'a'.repeat(499)}…`]],
    [
      'around the first match in it',
      `${pad}x${pad}y`,
      [span(600, 601), span(1201, 1202)],
      [`…${'a'.repeat(150)}x${'a'.repeat(349)}…`],
    ],
    [
      'around its own match, not that of the line before',
      `x\n${pad}y${pad}`,
      [span(0, 2), span(602, 603)],
      ['x', `…${'a'.repeat(150)}y${'a'.repeat(349)}…`],
    ],
    [
      'from the beginning if a match of the line before continues',
      `x\n${pad}y${pad}`,
      [span(0, 3), span(602, 603)],
      ['x', `${'a'.repeat(500)}…`],
    ],
    ['by characters, not by bytes', `${'é'.repeat(600)}x`, [span(1200, 1201)], [`…${'é'.repeat(499)}x`]],
    ['to its end where the only match is in a later line', `${pad}\nx`, [span(601, 602)], [`…${'a'.repeat(500)}`, 'x']],
  ])('shows a long line %s', (_, text, spans, expected) => {
    const lines = linesOf(text, { spans })
    expect(Array.isArray(lines) && lines.map((line) => line.text)).toEqual(expected)
  })
})

it('leaves a line of usual length as it is', () => {
  expect(excerpt('a'.repeat(500), 400)).toBe('a'.repeat(500))
})

it('shows what is around the match, and that something is left out', () => {
  const line = `${'a'.repeat(1000)}needle${'b'.repeat(1000)}`
  expect(excerpt(line, 1000)).toBe(`…${'a'.repeat(150)}needle${'b'.repeat(344)}…`)
  expect(excerpt(line, 0)).toBe(`${'a'.repeat(500)}…`)
  expect(excerpt(line, 2000)).toBe(`…${'b'.repeat(500)}`)
})

it('cuts no character in two, and keeps to its length', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom('a', '😀'), minLength: 400, maxLength: 900 }),
      fc.nat(2000),
      (line, at) => {
        const text = excerpt(line, at)
        expect(text).not.toMatch(/\p{Surrogate}/u)
        expect(text.length).toBeLessThanOrEqual(503)
      },
    ),
  )
})

it.each([
  ['a line of one more', 'a'.repeat(501), 0, `${'a'.repeat(500)}…`],
  ['the end of such a line', 'a'.repeat(501), 501, `…${'a'.repeat(500)}`],
  [
    'a match that is just too near',
    `${'a'.repeat(150)}x${'b'.repeat(600)}`,
    150,
    `${'a'.repeat(150)}x${'b'.repeat(349)}…`,
  ],
  [
    'a match that is one further',
    `c${'a'.repeat(150)}x${'b'.repeat(600)}`,
    151,
    `…${'a'.repeat(150)}x${'b'.repeat(349)}…`,
  ],
  ['a pair at the end', `${'a'.repeat(499)}😀${'b'.repeat(100)}`, 0, `${'a'.repeat(499)}😀…`],
  ['a pair before the end', `${'a'.repeat(498)}😀${'b'.repeat(100)}`, 0, `${'a'.repeat(498)}😀…`],
  [
    'a pair at the beginning',
    `😀${'a'.repeat(149)}x${'b'.repeat(600)}`,
    151,
    `…${'a'.repeat(149)}x${'b'.repeat(350)}…`,
  ],
  ['the last pair of all', `${'a'.repeat(499)}😀`, 501, `…${'a'.repeat(498)}😀`],
])('cuts %s', (_, line, at, expected) => {
  expect(excerpt(line, at)).toBe(expected)
})
