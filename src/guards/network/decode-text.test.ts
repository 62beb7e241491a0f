import { expect, it } from 'vitest'
import { decodeText } from './decode-text.ts'

const utf16 = (text: string) => Buffer.from(text, 'utf16le')

it('takes the charset that the content type names', () => {
  for (const name of ['latin1', '"ISO-8859-1"', "'windows-1252'"]) {
    expect(decodeText(Buffer.from([0xe9]), { contentType: `text/plain; charset=${name}` }), name).toBe('é')
  }
  expect(decodeText(Buffer.from('é'), { contentType: 'text/plain; charset=UTF-8' })).toBe('é')
})

it('believes a byte order mark before anything else, and takes it off', () => {
  const contentType = 'text/html; charset=latin1'
  expect(decodeText(Buffer.from('\ufeffé'), { contentType })).toBe('é')
  expect(decodeText(utf16('\ufeffé'), { contentType })).toBe('é')
  expect(decodeText(utf16('\ufeffé').swap16())).toBe('é')
})

it('looks for a meta tag at the beginning of HTML, and of nothing else', () => {
  const tags = ['<meta charset=latin1>', '<META content="text/html; charset=iso-8859-1" http-equiv="Content-Type">']
  for (const tag of tags) {
    const bytes = Buffer.concat([Buffer.from(`<html>${tag}`), Buffer.from([0xe9])])
    expect(decodeText(bytes, { contentType: 'text/html' }), tag).toContain('é')
    expect(decodeText(bytes, { contentType: 'text/plain' }), tag).toContain('\ufffd')
  }
  const late = Buffer.concat([Buffer.from(`${' '.repeat(1024)}${tags[0]}`), Buffer.from([0xe9])])
  expect(decodeText(late, { contentType: 'text/html' })).toContain('\ufffd')
  expect(decodeText(Buffer.from('<meta charset=utf-16>é'), { contentType: 'text/html' })).toContain('é')
})

it('falls back to UTF-8 when nobody knows the charset', () => {
  expect(decodeText(Buffer.from('é'), { contentType: 'text/html; charset=klingon' })).toBe('é')
  expect(decodeText(Buffer.from('<meta charset="x-user-defined-2">é'), { contentType: 'text/html' })).toContain('é')
  expect(decodeText(Buffer.from([0xff]))).toBe('\ufffd')
})

it('leaves out a character that was cut in two', () => {
  expect(decodeText(Buffer.from('aé').subarray(0, 2), { isCut: true })).toBe('a')
  expect(decodeText(Buffer.from('a🎉').subarray(0, 4), { isCut: true })).toBe('a')
})
