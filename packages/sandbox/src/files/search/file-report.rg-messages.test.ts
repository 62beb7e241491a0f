import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type RgMessage, readRgMessages } from './file-report.ts'

const match = (text: string, submatches: object[] = []) =>
  JSON.stringify({
    type: 'match',
    data: { path: { text: './a' }, lines: { text }, line_number: 3, absolute_offset: 7, submatches },
  })

function readAll(chunks: readonly Buffer[]): RgMessage[] {
  const messages: RgMessage[] = []
  const take = readRgMessages((message) => messages.push(message) > 0)
  for (const chunk of chunks) take(chunk)
  return messages
}

it('reads the same however the output is cut', () => {
  const output = Buffer.from(
    `{"type":"begin","data":{"path":{"text":"./é"}}}\n${match('ü\n')}\n{"type":"summary","data":{}}\n`,
  )
  const whole = readAll([output])
  expect(whole.map(({ type }) => type)).toEqual(['begin', 'match', 'summary'])
  fc.assert(
    fc.property(fc.array(fc.nat(output.length), { maxLength: 8 }), (cuts) => {
      const ends = [...cuts.toSorted((a, b) => a - b), output.length]
      const chunks = ends.map((end, index) => output.subarray(ends[index - 1] ?? 0, end))
      expect(readAll(chunks)).toEqual(whole)
    }),
  )
})

it('reads bytes that are no text', () => {
  const line = JSON.stringify({ type: 'match', data: { lines: { bytes: '//4=' }, line_number: 1, absolute_offset: 0 } })
  expect(readAll([Buffer.from(`${line}\n`)])).toEqual([
    { type: 'match', block: { bytes: Buffer.from([0xff, 0xfe]), line: 1, offset: 0, spans: [] } },
  ])
})

it('cuts an endless list of matches short, and gives up on an endless text', () => {
  const spans = Array.from({ length: 400_000 }, (_, index) => ({ match: { text: 'a' }, start: index, end: index + 1 }))
  const output = Buffer.from(`${match('a'.repeat(400_000), spans)}\n`)
  for (const size of [output.length, 65_536, 5_000_000]) {
    const chunks = Array.from({ length: Math.ceil(output.length / size) }, (_, index) =>
      output.subarray(index * size, (index + 1) * size),
    )
    expect(readAll(chunks)).toMatchObject([{ type: 'match', block: { line: 3, offset: 7 } }])
  }
  expect(readAll([Buffer.from(`${match('a'.repeat(20_000_000))}\n${match('b')}\n`)]).map(({ type }) => type)).toEqual([
    'too-long',
    'match',
  ])
})

it('stops when no more is wanted', () => {
  const seen: string[] = []
  const take = readRgMessages(({ type }) => {
    seen.push(type)
    return false
  })
  expect(take(Buffer.from(`${match('a')}\n${match('b')}\n`))).toBe(false)
  expect(seen).toEqual(['match'])
})

it('reads lines of sixteen million bytes whole, and no longer ones', () => {
  const line = (bytes: number) => match('a'.repeat(bytes - match('').length))
  for (const [bytes, type] of [
    [16_000_000, 'match'],
    [16_000_001, 'too-long'],
  ] as const) {
    const output = Buffer.from(`${line(bytes)}\n`)
    expect(output.length).toBe(bytes + 1)
    for (const cut of [0, 1_000, bytes])
      expect(readAll([output.subarray(0, cut), output.subarray(cut)]).map((message) => message.type)).toEqual([type])
  }
})
