import type { IncomingMessage } from 'node:http'
import { expect, it } from 'vitest'
import { presentToken } from './endpoint.ts'

/** What is left of the headers of a WebSocket's request. */
function present(protocols: string | undefined, authorization?: string) {
  const headers: Record<string, string> = {}
  if (protocols !== undefined) headers['sec-websocket-protocol'] = protocols
  if (authorization !== undefined) headers.authorization = authorization
  const headersDistinct: Record<string, string[]> = {}
  presentToken({ headers, headersDistinct } as unknown as IncomingMessage)
  return { headers, headersDistinct }
}

it('a token that comes as a subprotocol becomes the header, and is offered to nobody', () => {
  expect(present('tool-hub.v1, bearer.th_x, other')).toEqual({
    headers: { 'sec-websocket-protocol': 'tool-hub.v1, other', authorization: 'Bearer th_x' },
    headersDistinct: { authorization: ['Bearer th_x'] },
  })
})

it('a token alone leaves no empty list of subprotocols', () => {
  expect(present('bearer.th_x').headers).toEqual({ authorization: 'Bearer th_x' })
})

it('a header that is there counts, and the subprotocol goes all the same', () => {
  expect(present('bearer.th_x', 'Bearer th_y').headers).toEqual({ authorization: 'Bearer th_y' })
  expect(present('tool-hub.v1').headers).toEqual({ 'sec-websocket-protocol': 'tool-hub.v1' })
  expect(present(undefined).headers).toEqual({})
})
