import { describe, expect, it } from 'vitest'
import { sha256 } from '../../../../core/src/lib/hash.ts'
import { bodyOf, FIRST_PREV, inspectLine, linkLine } from './event-line.ts'

const TIME = '2026-01-01T00:00:00.000Z'
const BODY = '{"type":"call-ended","callId":"c1","summary":"héllo"}'
const first = linkLine({ seq: 0, hash: FIRST_PREV }, TIME, BODY)
const LINE = first.line.slice(0, -1)

/** The line with another text in it, sealed by a hash that fits. */
function sealed(from: string | RegExp, to: string): Buffer {
  const text = LINE.slice(0, -75).replace(from, to)
  return Buffer.from(`${text},"hash":"${sha256(text)}"}`)
}

describe('a line of the chain', () => {
  it('names its place, and its hash covers all that stands before it', () => {
    expect(FIRST_PREV).toBe('0'.repeat(64))
    const text = `{"seq":1,"time":"${TIME}","type":"call-ended","callId":"c1","summary":"héllo","prev":"${'0'.repeat(64)}"`
    expect(first).toEqual({ seq: 1, hash: sha256(text), line: `${text},"hash":"${sha256(text)}"}\n` })
  })

  it('is read as it was written', () => {
    const facts = { seq: 1, time: TIME, type: 'call-ended', callId: 'c1', prev: FIRST_PREV }
    expect(inspectLine(Buffer.from(LINE))).toEqual({ ...facts, hash: first.hash, intact: true })
    expect(bodyOf(Buffer.from(LINE))).toBe(BODY)
    const changed = LINE.replace('héllo', 'hullo')
    expect(inspectLine(Buffer.from(changed))).toEqual({ ...facts, hash: first.hash, intact: false })
  })

  it('may have no call, and the longest of everything', () => {
    expect(inspectLine(sealed('"callId":"c1",', ''))).toMatchObject({ callId: undefined, intact: true })
    const long = sealed(
      /^.*"callId":"c1"/,
      `{"seq":${'9'.repeat(15)},"time":"${'t'.repeat(40)}","type":"${'x'.repeat(40)}","callId":"${'c'.repeat(128)}"`,
    )
    expect(inspectLine(long)).toMatchObject({ seq: 999_999_999_999_999, callId: 'c'.repeat(128), intact: true })
  })

  it.each([
    ['a blank before it', ` ${LINE}`],
    ['a blank behind it', `${LINE} `],
    ['another prev', LINE.replace('"prev":"0', '"prev":"g')],
    ['a short hash', LINE.replace(/."\}$/, '"}')],
    ['a text before the prev', LINE.replace(',"prev"', ',"x":1,"prev"').replace(/"prev":"0{10}/, '"prev":"')],
    ['a long type', LINE.replace('call-ended', 'x'.repeat(41))],
    ['nothing', ''],
  ])('is not a valid line with %s', (_name, line) => {
    expect(inspectLine(Buffer.from(line))).toBeUndefined()
  })
})
