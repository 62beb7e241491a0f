import { describe, expect, it } from 'vitest'
import { KnownValues } from './known-values.ts'
import { createRedactor } from './redact.ts'

const VALUE = 'S3CRET"/é~0123456789'
const MARK = '[redacted:secret]'
const known = KnownValues.of([VALUE])!
const { text } = createRedactor({ values: [VALUE] })

describe('a known value', () => {
  it('has at least eight characters', () => {
    expect(KnownValues.of(['1234567'])).toBeUndefined()
    expect(KnownValues.of([])).toBeUndefined()
    const eight = createRedactor({ values: ['p4ss-w0'.concat('r')] })
    expect([eight.text('p4ss-w0r'), eight.text('p4ss-w0')]).toEqual([MARK, 'p4ss-w0'])
    expect(createRedactor({ values: ['p4ss-w0'] }).text('p4ss-w0 p4ss-w0')).toBe('p4ss-w0 p4ss-w0')
  })

  it('is searched in the forms it takes, the longest first', () => {
    expect(known.forms).toEqual([
      'S3CRET%22%2F%C3%A9~0123456789',
      Buffer.from(VALUE).toString('base64').replace('/', '\\/'),
      Buffer.from(VALUE).toString('base64'),
      'S3CRET&quot;/é~0123456789',
      'S3CRET\\"\\/é~0123456789',
      'S3CRET\\"/é~0123456789',
      VALUE,
    ])
    expect(KnownValues.of([`<'&>${'?'.repeat(9)}`])!.forms).toEqual([
      ...[`%3C'%26%3E${'%3F'.repeat(9)}`, `&lt;&#39;&amp;&gt;${'?'.repeat(9)}`],
      ...['PCcmPj8\\/Pz8\\/Pz8\\/Pw==', 'PCcmPj8/Pz8/Pz8/Pw==', `<'&>${'?'.repeat(9)}`],
    ])
    expect(known.asLatin1().forms).toContain(Buffer.from(VALUE).toString('latin1'))
  })

  it.each([
    ['as it is', VALUE],
    ['in JSON', JSON.stringify(VALUE).slice(1, -1)],
    ['in base64', Buffer.from(VALUE).toString('base64')],
    ['in a URL', encodeURIComponent(VALUE)],
    ['in JSON with slashes that are escaped', 'S3CRET\\"\\/é~0123456789'],
    ['in HTML', 'S3CRET&quot;/é~0123456789'],
  ])('is hidden where a text was cut within eight of its characters: %s', (_name, form) => {
    expect(text(form.slice(0, 8))).toBe(MARK)
    expect(text(`a ${form.slice(0, 8)}`)).toBe(`a ${MARK}`)
    expect(text(`a ${form.slice(0, -1)}`)).toBe(`a ${MARK}`)
    expect(text(`a ${form.slice(0, 7)}`)).toBe(`a ${form.slice(0, 7)}`)
    expect(text(`${form.slice(-8)} a`)).toBe(`${MARK} a`)
    expect(text(`${form.slice(1)} a`)).toBe(`${MARK} a`)
    expect(text(`${form.slice(-7)} a`)).toBe(`${form.slice(-7)} a`)
  })

  it('is hidden at both ends of a text', () => {
    expect(text(`${VALUE.slice(-9)} and ${VALUE.slice(0, 9)}`)).toBe(`${MARK} and ${MARK}`)
    expect(known.hideEnd(`${VALUE} x ${VALUE.slice(0, 9)}`)).toBe(`${MARK} x ${MARK}`)
    expect(known.hideEnd(`${VALUE} x`)).toBe(`${MARK} x`)
  })

  it('is hidden in the parts of a line by pieces of four characters', () => {
    const line = `x=${VALUE} y`
    const within = (part: string) => known.hideWithin(line, part)
    expect(within(VALUE.slice(3, 7))).toBe(MARK)
    expect(within(VALUE.slice(3, 6))).toBe(VALUE.slice(3, 6))
    expect(within(`a ${VALUE.slice(0, 4)}`)).toBe(`a ${MARK}`)
    expect(within(`a ${VALUE.slice(0, 3)}`)).toBe(`a ${VALUE.slice(0, 3)}`)
    expect(within(`${VALUE.slice(-4)} b`)).toBe(`${MARK} b`)
    expect(within(`${VALUE.slice(-3)} b`)).toBe(`${VALUE.slice(-3)} b`)
    expect(within(`${VALUE.slice(-5)} c ${VALUE.slice(0, 5)}`)).toBe(`${MARK} c ${MARK}`)
    expect(known.hideWithin('another line', VALUE.slice(3, 7))).toBe(VALUE.slice(3, 7))
    expect(known.hideWithin('another line', `a ${VALUE}`)).toBe(`a ${MARK}`)
  })

  it('is the next one behind an index', () => {
    const twice = `ab${VALUE}${VALUE}`
    expect(known.next(twice, 0)).toEqual({ index: 2, end: 2 + VALUE.length })
    expect(known.next(twice, 3)).toEqual({ index: 2 + VALUE.length, end: 2 + 2 * VALUE.length })
    expect(known.next(twice, 3 + VALUE.length)).toBeUndefined()
  })
})

describe('values that become known later', () => {
  it('are hidden from then on, in texts and in streams', () => {
    const redactor = createRedactor()
    const streamed = (input: string) => {
      const stream = redactor.stream()
      return Buffer.concat([stream.push(Buffer.from(input)), stream.end()]).toString()
    }
    const long = `${'x '.repeat(600)}hunter2-and-more`
    expect([redactor.text(long) === long, streamed(long) === long]).toEqual([true, true])
    redactor.hide(['hunter2-and-more'])
    redactor.hide(['hunter2-and-more', 'correct-horse-9'])
    const hidden = `${'x '.repeat(600)}${MARK}`
    expect([redactor.text(long), streamed(long)]).toEqual([hidden, hidden])
    expect([redactor.text('a correct-horse-9'), streamed('a correct-horse-9')]).toEqual([`a ${MARK}`, `a ${MARK}`])
  })
})
