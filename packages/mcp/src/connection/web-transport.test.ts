import * as sdk from '@modelcontextprotocol/client'
import { ToolError } from '@tool-hub/core/errors'
import { expect, it } from 'vitest'
import type { WebFetch } from '../../../core/src/source.ts'
import { fakeClock } from '../../../testing/src/fake-clock.ts'
import { openSse, openStreamable } from './web-transport.ts'

const url = new URL('http://mcp.example/')
const clock = fakeClock()
const inBackground: (boolean | undefined)[] = []
const { after } = clock
clock.after = (ms, callback, options) => {
  inBackground.push(options?.background)
  return after(ms, callback)
}
const road = (fetch: WebFetch) => ({ server: 's', url, headers: {}, fetch, authProvider: undefined, sdk, clock })

it.each([
  [0, 1_000],
  [3_000_000_000, 3_600_000],
])('opens a stream of events again after a pause, though its server wishes for %i ms', async (retry, pauseMs) => {
  let streams = 0
  const transport = openStreamable(
    road(async (_, init) => {
      if (init?.method === 'POST') return new Response(null, { status: 202 })
      streams++
      return new Response(`retry: ${retry}\n\n`, { headers: { 'content-type': 'text/event-stream' } })
    }),
  )
  await transport.start()
  await transport.send({ jsonrpc: '2.0', method: 'notifications/initialized' })
  await expect.poll(() => clock.waiting).toBe(1)
  expect(inBackground.at(-1)).toBe(true)
  await clock.advance(pauseMs - 1)
  expect(streams).toBe(1)
  await clock.advance(1)
  await expect.poll(() => streams).toBe(2)
  await transport.close()
  await clock.advance(pauseMs)
  expect(streams).toBe(2)
})

it('tells once why a stream of the first protocol cannot be opened', async () => {
  const reason = new ToolError('UPSTREAM_ERROR', 'No connection to mcp.example')
  const transport = openSse(road(() => Promise.reject(reason)))
  await expect(transport.start()).rejects.toThrow()
  expect(transport.reason).toBe(reason)
  await transport.close()
})
