import { z } from 'zod'
import { type BaseContext, type Context, type GuardedResponse, ToolError } from '../../../core/index.ts'
import type { CapabilityUse } from './call-bridge.ts'

const MAX_BYTES = 7_000_000
const MAX_RESPONSES = 200

const number = z.number().min(0).optional()
// Streams stay in the hub: what comes over the bridge comes whole.
const fetchOptions = z
  .strictObject({
    method: z.string().max(20).optional(),
    headers: z.record(z.string().max(200), z.string().max(20_000)).optional(),
    body: z.string().optional(),
    maxBytes: z.int().min(1).optional(),
    timeoutMs: number,
    overflow: z.enum(['fail', 'cut']).optional(),
    retries: number,
    maxAgeMs: number,
  })
  .default({})
const readableOptions = z.strictObject({ as: z.enum(['markdown', 'text']).optional() }).optional()

/** The network of a call, when its tool declared it. */
export function useFetch(ctx: BaseContext): [string, CapabilityUse][] {
  if (!('fetch' in ctx)) return []
  const { fetch } = ctx as Context<'network'>
  const responses: GuardedResponse[] = []
  const find = (given: unknown): GuardedResponse => {
    const response = responses[z.int().min(0).parse(given)]
    if (response) return response
    throw new ToolError('NOT_FOUND', 'There is no such response.')
  }
  return [
    [
      'fetch',
      async ([url, given]) => {
        const { maxBytes = MAX_BYTES, ...options } = fetchOptions.parse(given)
        if (responses.length >= MAX_RESPONSES) throw tooMany()
        const response = await fetch(z.string().parse(url), { ...options, maxBytes: Math.min(maxBytes, MAX_BYTES) })
        const { status, headers, url: from, isCut, isCached } = response
        return { response: responses.push(response) - 1, status, headers, url: from, isCut, isCached }
      },
    ],
    ['fetch.bytes', async ([id]) => ({ base64: Buffer.from(await find(id).bytes()).toString('base64') })],
    ['fetch.text', ([id]) => find(id).text()],
    ['fetch.readable', ([id, options]) => find(id).readable(readableOptions.parse(options))],
  ]
}

function tooMany(): ToolError {
  return new ToolError('RATE_LIMITED', `A call of an isolated plugin makes at most ${MAX_RESPONSES} requests.`)
}
