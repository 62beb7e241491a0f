import { describe, expect, it } from 'vitest'
import { BegunAnswer, decodeBody, StreamedAnswer, WholeAnswer } from './guarded-answer.ts'

const facts = (contentType?: string) => ({
  status: 200,
  headers: (contentType === undefined ? {} : { 'content-type': contentType }) as Record<string, string>,
  url: 'https://a.example/x',
  isCached: true,
  signal: () => new AbortController().signal,
})
const PAGE = Buffer.from('<p>Bread &amp; <b>butter</b></p>')
const whole = (contentType?: string) => new WholeAnswer(facts(contentType), { bytes: PAGE, isCut: false })
const chunksOf = async (chunks: AsyncIterable<Buffer>) => {
  const texts: string[] = []
  for await (const chunk of chunks) texts.push(chunk.toString())
  return texts
}

describe('what an answer is read as', () => {
  it.each(['text/html', ' TEXT/HTML; charset=utf-8', 'application/xhtml+xml'])('is a page for %j', async (type) => {
    expect(await whole(type).readable()).toEqual({ text: 'Bread & **butter**' })
    expect(await whole(type).readable({ as: 'text' })).toEqual({ text: 'Bread & butter' })
  })

  it.each(['text/plain; was="text/html"', 'x-text/html', 'text/htmlx', 'application/json', undefined])(
    'is its text for %j',
    async (type) => {
      expect(await whole(type).readable()).toEqual({ text: PAGE.toString() })
    },
  )

  it('is without half a character where it was cut', async () => {
    const bytes = Buffer.from('aé').subarray(0, 2)
    expect(await new WholeAnswer(facts(), { bytes, isCut: true }).text()).toBe('a')
    expect(await new WholeAnswer(facts(), { bytes, isCut: false }).text()).toBe('a\ufffd')
  })
})

describe('an answer', () => {
  it('carries what the server said', async () => {
    const answer = whole('text/html')
    expect(answer).toMatchObject({ status: 200, url: 'https://a.example/x', isCached: true, isCut: false })
    expect(answer.headers).toEqual({ 'content-type': 'text/html' })
    expect(await chunksOf(answer.chunks())).toEqual([PAGE.toString()])
    expect(await chunksOf(answer.chunks())).toEqual([PAGE.toString()])
  })

  it('that is streamed can be read once, and says when it was cut', async () => {
    const answer = new StreamedAnswer(facts(), async function* (onCut) {
      yield Buffer.from('a')
      onCut()
      yield Buffer.from('b')
    })
    expect(answer.isCut).toBe(false)
    expect((await answer.bytes()).toString()).toBe('ab')
    expect(answer.isCut).toBe(true)
    expect(() => answer.chunks()).toThrow('The body of a streamed answer can be read once.')
  })

  it('that has begun gives its beginning as often as asked, and the whole once', async () => {
    const answer = new BegunAnswer(facts(), Buffer.from('ab'), async function* () {
      yield Buffer.from('ab')
      yield Buffer.from('cd')
    })
    expect(answer.isCut).toBe(true)
    expect([await answer.text(), (await answer.bytes()).toString()]).toEqual(['ab', 'ab'])
    expect(await chunksOf(answer.chunks())).toEqual(['ab', 'cd'])
    expect(() => answer.chunks()).toThrow(TypeError)
  })
})

const utf16 = (text: string) => Buffer.from(text, 'utf16le')

it('takes the charset that the content type names', () => {
  for (const name of ['latin1', '"ISO-8859-1"', "'windows-1252'"]) {
    expect(decodeBody(Buffer.from([0xe9]), { contentType: `text/plain; charset=${name}` }), name).toBe('é')
  }
  expect(decodeBody(Buffer.from('é'), { contentType: 'text/plain; charset=UTF-8' })).toBe('é')
})

it('believes a byte order mark before anything else, and takes it off', () => {
  const contentType = 'text/html; charset=latin1'
  expect(decodeBody(Buffer.from('\ufeffé'), { contentType })).toBe('é')
  expect(decodeBody(utf16('\ufeffé'), { contentType })).toBe('é')
  expect(decodeBody(utf16('\ufeffé').swap16())).toBe('é')
})

it('looks for a meta tag at the beginning of HTML, and of nothing else', () => {
  const tags = ['<meta charset=latin1>', '<META content="text/html; charset=iso-8859-1" http-equiv="Content-Type">']
  for (const tag of tags) {
    const bytes = Buffer.concat([Buffer.from(`<html>${tag}`), Buffer.from([0xe9])])
    expect(decodeBody(bytes, { contentType: 'text/html' }), tag).toContain('é')
    expect(decodeBody(bytes, { contentType: 'text/plain' }), tag).toContain('\ufffd')
  }
  const late = Buffer.concat([Buffer.from(`${' '.repeat(1024)}${tags[0]}`), Buffer.from([0xe9])])
  expect(decodeBody(late, { contentType: 'text/html' })).toContain('\ufffd')
  expect(decodeBody(Buffer.from('<meta charset=utf-16>é'), { contentType: 'text/html' })).toContain('é')
})

it('falls back to UTF-8 when nobody knows the charset', () => {
  expect(decodeBody(Buffer.from('é'), { contentType: 'text/html; charset=klingon' })).toBe('é')
  expect(decodeBody(Buffer.from('<meta charset="x-user-defined-2">é'), { contentType: 'text/html' })).toContain('é')
  expect(decodeBody(Buffer.from([0xff]))).toBe('\ufffd')
})

it('leaves out a character that was cut in two', () => {
  expect(decodeBody(Buffer.from('aé').subarray(0, 2), { isCut: true })).toBe('a')
  expect(decodeBody(Buffer.from('a🎉').subarray(0, 4), { isCut: true })).toBe('a')
})
