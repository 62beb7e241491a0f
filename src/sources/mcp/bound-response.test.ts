import { describe, expect, it } from 'vitest'
import { boundResponse } from './bound-response.ts'

const EVENTS = { headers: { 'content-type': 'text/event-stream; charset=utf-8' } }

describe('a bounded answer', () => {
  it('comes through when it is short enough, with its status and headers', async () => {
    const response = boundResponse(new Response('0123456789', { status: 404, headers: { 'x-a': 'b' } }), 10)
    expect([response.status, response.headers.get('x-a'), await response.text()]).toEqual([404, 'b', '0123456789'])
  })

  it('breaks off when it is too long', async () => {
    await expect(boundResponse(new Response('0123456789!'), 10).text()).rejects.toThrow(/more than 10 bytes/)
  })

  it('may be endless as a stream of short events, whatever ends their lines', async () => {
    for (const end of ['\n', '\r\n', '\r']) {
      const text = `data: 1${end}${end}`.repeat(100)
      expect(await boundResponse(new Response(text, EVENTS), 12).text()).toBe(text)
    }
  })

  it('breaks off at an event that is too long, also one of many lines', async () => {
    const text = `data: 1\n\n${'data: 1\n'.repeat(3)}`
    await expect(boundResponse(new Response(text, EVENTS), 20).text()).rejects.toThrow(/more than 20 bytes/)
  })
})
