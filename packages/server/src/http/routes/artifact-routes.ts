import type { ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import { isRunId } from '@tool-hub/core'
import { z } from 'zod'
import { API_HEADERS, HttpRefusal } from '../answers.ts'
import { defineRoute, type Route } from '../route.ts'

const RANGE = /^bytes=(\d{0,15})-(\d{0,15})$/

const artifactQuery = z.object({ run: z.string().max(128).optional() })
const HASH = /^[0-9a-f]{64}$/

/** Artifacts of results. */
export const ARTIFACT_ROUTES: readonly Route[] = [
  defineRoute({
    method: 'get',
    path: '/v1/artifacts/{sha256}',
    summary:
      'An artifact of a run: your own runs, or with read any run; takes Range, whose part is not checked by its hash',
    allow: ['call', 'read'],
    query: artifactQuery,
    concerns: ({ query: { run } }) => (run === undefined ? undefined : { run }),
    answers: [
      { description: 'The whole content', mediaType: 'application/octet-stream' },
      { description: 'The wanted part', mediaType: 'application/octet-stream', status: 206 },
    ],
    async handle({ context, caller, param, query: { run }, request, response }) {
      const hash = param('sha256')
      if (!HASH.test(hash) || (run !== undefined && !isRunId(run))) {
        throw new HttpRefusal(404, 'NOT_FOUND', 'Artifact not found.', {
          hint: 'Use the sha256 of an artifact as a result gives it, and the run that made it.',
        })
      }
      // Without a run, one of the caller's own artifacts.
      const hub = run !== undefined && caller.scopes.has('read') ? context.service.hub : caller.hub
      const artifact = await hub.openArtifact(`artifact:${hash}`, { run })
      const wanted = byteRange(ifRange(request.headers, hash), artifact.bytes)
      const { status, headers, span } = describeAnswer(hash, artifact.bytes, wanted)
      if (request.method === 'HEAD') return new Response(null, { status, headers })
      const pieces = span ? artifact.part(span) : artifact.whole()
      // An error in the first piece, which is all of a small artifact, can still be reported.
      const first = await pieces.next()
      response.writeHead(status, headers)
      await send(first, pieces, response)
      return RESPONSE_ALREADY_SENT
    },
  }),
]

/** The range counts only for this content; the hash never changes. */
function ifRange(headers: { readonly [name: string]: unknown }, hash: string): string | undefined {
  const condition = headers['if-range']
  const { range } = headers
  return typeof range === 'string' && (condition === undefined || condition === `"${hash}"`) ? range : undefined
}

function describeAnswer(hash: string, size: number, wanted: WantedBytes) {
  const headers = {
    ...API_HEADERS,
    'content-type': 'application/octet-stream',
    'content-disposition': `attachment; filename="${hash.slice(0, 12)}.bin"`,
    'content-security-policy': "default-src 'none'; sandbox",
    'accept-ranges': 'bytes',
    etag: `"${hash}"`,
  }
  if (wanted === 'outside') {
    throw new HttpRefusal(416, 'INPUT_SCHEMA_INVALID', `The artifact has ${size} bytes, the range begins after them.`, {
      headers: { 'content-range': `bytes */${size}` },
    })
  }
  if (wanted === 'all') return { status: 200, headers: { ...headers, 'content-length': String(size) } }
  const { start, end } = wanted
  const length = { 'content-length': String(end - start), 'content-range': `bytes ${start}-${end - 1}/${size}` }
  return { status: 206, headers: { ...headers, ...length }, span: wanted }
}

/**
 * Sends pieces as fast as the client reads, one in memory. If an artifact turns out to be changed, the response breaks
 * off.
 */
async function send(
  first: IteratorResult<Uint8Array, void>,
  rest: AsyncGenerator<Uint8Array, void>,
  response: ServerResponse,
): Promise<void> {
  async function* all() {
    if (first.done) return
    yield first.value
    yield* rest
  }
  try {
    await pipeline(all, response)
  } catch {
    // The client has disconnected, or sees that the response is too short.
  } finally {
    await rest.return()
  }
}

/** The requested part of a file: all of it, a range, or a range outside of it. */
type WantedBytes = 'all' | 'outside' | { readonly start: number; readonly end: number }

/** Reads a Range header; `end` is exclusive. Several ranges or an invalid header count as the whole file. */
export function byteRange(header: string | undefined, size: number): WantedBytes {
  const [, first = '', last = ''] = RANGE.exec(header?.trim() ?? '') ?? []
  if (first === '' && last === '') return 'all'
  if (first === '') {
    const length = Math.min(Number(last), size)
    return length === 0 ? 'outside' : { start: size - length, end: size }
  }
  const start = Number(first)
  if (last !== '' && Number(last) < start) return 'all'
  if (start >= size) return 'outside'
  return { start, end: last === '' ? size : Math.min(Number(last) + 1, size) }
}
