import { describe, expect, it } from 'vitest'
import { boundResponse } from './web-transport.ts'

const EVENTS = { headers: { 'content-type': 'Text/Event-Stream; charset=utf-8' } }
const tooLarge = (bytes: number) =>
  expect.objectContaining({
    code: 'HTTP_TOO_LARGE',
    message: `An answer has more than ${bytes} bytes, which is the limit of a message.`,
    fix: { hint: 'Ask the server for less in one call.' },
  })
/** A body that comes in pieces. */
const inPieces = (...pieces: string[]) =>
  new ReadableStream({
    start(controller) {
      for (const piece of pieces) controller.enqueue(new TextEncoder().encode(piece))
      controller.close()
    },
  })

describe('a bounded answer', () => {
  it('comes through when it is short enough, with its status and headers', async () => {
    const given = new Response('0123456789', { status: 404, statusText: 'None', headers: { 'x-a': 'b' } })
    const response = boundResponse(given, 10)
    expect([response.status, response.statusText, response.headers.get('x-a')]).toEqual([404, 'None', 'b'])
    expect(await response.text()).toBe('0123456789')
    const empty = new Response(null, { status: 204 })
    expect(boundResponse(empty, 10)).toBe(empty)
  })

  it('breaks off when it is too long, also in pieces', async () => {
    await expect(boundResponse(new Response('0123456789!'), 10).text()).rejects.toThrow(tooLarge(10))
    expect(await boundResponse(new Response(inPieces('01234', '56789')), 10).text()).toBe('0123456789')
    await expect(boundResponse(new Response(inPieces('01234', '567890')), 10).text()).rejects.toThrow(tooLarge(10))
    await expect(
      boundResponse(new Response('a\n\n'.repeat(5), { headers: { 'content-type': 'text/plain' } }), 10).text(),
    ).rejects.toThrow(tooLarge(10))
  })

  it('may be endless as a stream of short events, whatever ends their lines', async () => {
    for (const end of ['\n', '\r\n', '\r']) {
      const text = `data: 1${end}${end}`.repeat(100)
      expect(await boundResponse(new Response(text, EVENTS), 12).text()).toBe(text)
    }
  })

  it.each([
    ['LF', '1234567\n\n', 8],
    ['CR', '1234567\r\r', 8],
    // The last line feed counts for the next event.
    ['CR LF', '1234567\r\n\r\n', 10],
  ])('counts the bytes of an event up to its empty line: %s', async (_, event, bytes) => {
    const text = event.repeat(3)
    expect(await boundResponse(new Response(text, EVENTS), bytes).text()).toBe(text)
    expect(await boundResponse(new Response(inPieces(...text), EVENTS), bytes).text()).toBe(text)
    await expect(boundResponse(new Response(text, EVENTS), bytes - 1).text()).rejects.toThrow(tooLarge(bytes - 1))
  })

  it('breaks off at an event that is too long, also one of many lines', async () => {
    for (const end of ['\n', '\r\n', '\r']) {
      const text = `data: 1${end}${end}${`data: 1${end}`.repeat(4)}`
      await expect(boundResponse(new Response(text, EVENTS), 20).text()).rejects.toThrow(tooLarge(20))
    }
  })
})
