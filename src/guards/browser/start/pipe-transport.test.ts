import { PassThrough } from 'node:stream'
import { expect, it } from 'vitest'
import { pipeTransport } from './pipe-transport.ts'

function open(mostBytes?: number) {
  const [stdin, stdout] = [new PassThrough(), new PassThrough()]
  const heard: object[] = []
  let stops = 0
  const stop = () => {
    stops += 1
  }
  const transport = pipeTransport({ stdin, stdout }, stop, mostBytes)
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

it('gives an error for an answer that is too long, drops such an event, and goes on', () => {
  const { stdout, heard, stops } = open(1_000)
  const long = 'x'.repeat(3_000)
  stdout.write(`{"id":7,"result":{"a":"${long}`)
  for (let times = 0; times < 5; times++) stdout.write(long)
  stdout.write(`"},"sessionId":"AB12"}\0{"method":"Runtime.consoleAPICalled","params":{"a":"${long}"}}\0{"id":8}\0`)
  const error = { code: -32_000, message: 'The answer is over 1000 bytes.' }
  expect(heard).toEqual([{ id: 7, error, sessionId: 'AB12' }, { id: 8 }])
  expect(stops()).toBe(0)
})
