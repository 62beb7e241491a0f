import { PassThrough } from 'node:stream'
import { expect, it } from 'vitest'
import { pipeTransport } from './pipe-transport.ts'

function open(maxBytes?: number) {
  const [stdin, stdout] = [new PassThrough(), new PassThrough()]
  const heard: object[] = []
  let stops = 0
  const stop = () => {
    stops += 1
  }
  const transport = pipeTransport({ stdin, stdout }, stop, maxBytes)
  transport.onmessage = (message) => void heard.push(message)
  return { stdin, stdout, heard, transport, stops: () => stops }
}

it('hears each message whole, however it comes, and nothing that is none', () => {
  const { stdout, heard, transport, stdin } = open()
  for (const chunk of ['{"id":1,"res', 'ult":{}}\0{"id', '":2}\0no JSON\0\0"text"\0{"id":3}\0']) stdout.write(chunk)
  expect(heard).toEqual([{ id: 1, result: {} }, { id: 2 }, { id: 3 }])
  transport.send({ id: 4 })
  expect(String(stdin.read())).toBe('{"id":4}\0')
})

it('keeps little of what a page logs or posts, and all of an answer', () => {
  const { stdout, heard } = open()
  const long = 'x'.repeat(50_000)
  const event = { method: 'Fetch.requestPaused', params: { request: { postData: long, url: 'http://a/' } } }
  stdout.write(`${JSON.stringify(event)}\0${JSON.stringify({ id: 1, result: { text: long } })}\0`)
  expect(heard).toEqual([
    { method: 'Fetch.requestPaused', params: { request: { postData: long.slice(0, 8_000), url: 'http://a/' } } },
    { id: 1, result: { text: long } },
  ])
})

it('gives an error for an answer that is too long, drops such an event, and continues', () => {
  const { stdout, heard, stops } = open(1_000)
  const long = 'x'.repeat(3_000)
  stdout.write(`{"id":7,"result":{"a":"${long}`)
  for (let times = 0; times < 5; times++) stdout.write(long)
  stdout.write(`"},"sessionId":"AB12"}\0{"method":"Runtime.consoleAPICalled","params":{"a":"${long}"}}\0{"id":8}\0`)
  const error = { code: -32_000, message: 'The answer is over 1000 bytes.' }
  expect(heard).toEqual([{ id: 7, error, sessionId: 'AB12' }, { id: 8 }])
  expect(stops()).toBe(0)
})

it('takes an answer of exactly the limit, and one byte more for too long', () => {
  const { stdout, heard } = open(30)
  const ofBytes = (bytes: number) => `{"id":1,"a":"${'x'.repeat(bytes - 15)}"}\0`
  stdout.write(ofBytes(30))
  stdout.write(ofBytes(31))
  stdout.write(ofBytes(30).slice(0, 12))
  stdout.write(ofBytes(30).slice(12))
  const whole = { id: 1, a: 'x'.repeat(15) }
  expect(heard).toEqual([whole, { id: 1, error: { code: -32_000, message: 'The answer is over 30 bytes.' } }, whole])
})

it('does not take what a page says for the head or the end of an answer', () => {
  const { stdout, heard } = open(1_000)
  const long = 'x'.repeat(3_000)
  stdout.write(`{"method":"x","params":{"id":7,"b":{"id":8,"a":"${long}"}}}\0`)
  stdout.write(`{"id":9,"result":{"b":{"sessionId":"EVIL"},"a":"${long}"}}\0`)
  expect(heard).toEqual([{ id: 9, error: { code: -32_000, message: 'The answer is over 1000 bytes.' } }])
})

it('shortens each text of an event after 8000 characters', () => {
  const { stdout, heard } = open()
  const event = (length: number) => ({ method: 'x', params: { a: 'ä'.repeat(length), b: 'short', c: [1, null] } })
  for (const length of [8_000, 8_001]) stdout.write(`${JSON.stringify(event(length))}\0`)
  expect(heard).toEqual([event(8_000), event(8_000)])
})

it('says once that the browser has ended, and sends nothing then', async () => {
  const { stdin, stdout, transport, stops } = open()
  const ends: (string | undefined)[] = []
  transport.onclose = (reason) => void ends.push(reason)
  stdout.end()
  stdout.resume()
  await new Promise((resolve) => stdout.once('close', resolve))
  transport.send({ id: 1 })
  expect([ends, stdin.read()]).toEqual([['The browser has ended.'], null])
  transport.close()
  expect(stops()).toBe(1)
})
