import { z } from 'zod'
import { isRunId } from '../../../names.ts'
import { HttpRefusal } from '../answer/http-refusal.ts'
import { API_HEADERS } from '../answer/security-headers.ts'
import { byteRange } from '../byte-range.ts'
import { defineRoute, type Route } from '../route.ts'

const artifactQuery = z.object({ run: z.string().max(128).optional() })
const HASH = /^[0-9a-f]{64}$/

/** Stored pieces of results. */
export const ARTIFACT_ROUTES: readonly Route[] = [
  defineRoute({
    method: 'get',
    path: '/v1/artifacts/{sha256}',
    summary: 'An artifact of a run: your own runs, or with read any run; takes Range',
    admits: ['call', 'read'],
    query: artifactQuery,
    answers: [
      { description: 'The whole content', mediaType: 'application/octet-stream' },
      { description: 'The wanted part', mediaType: 'application/octet-stream', status: 206 },
    ],
    async handle({ door, visitor, params, query: { run }, request }) {
      const hash = params.get('sha256')!
      if (!HASH.test(hash) || (run !== undefined && !isRunId(run))) {
        throw new HttpRefusal(404, 'NOT_FOUND', 'There is no such artifact.', {
          hint: 'Use the sha256 of an artifact as a result gives it, and the run that made it.',
        })
      }
      // Without a run it is one of the visitor's own.
      const hub = run !== undefined && visitor.scopes.has('read') ? door.service.hub : visitor.hub
      const bytes = await hub.artifact(`artifact:${hash}`, { run })
      return answerBytes(bytes, hash, ifRange(request.headers, hash))
    },
  }),
]

/** The range counts only while the content is the one that was asked for; here it always is, by its name. */
function ifRange(headers: { readonly [name: string]: unknown }, hash: string): string | undefined {
  const condition = headers['if-range']
  const { range } = headers
  return typeof range === 'string' && (condition === undefined || condition === `"${hash}"`) ? range : undefined
}

function answerBytes(bytes: Uint8Array, hash: string, range: string | undefined): Response {
  const headers = {
    ...API_HEADERS,
    'content-type': 'application/octet-stream',
    'content-disposition': `attachment; filename="${hash.slice(0, 12)}.bin"`,
    'content-security-policy': "default-src 'none'; sandbox",
    'accept-ranges': 'bytes',
    etag: `"${hash}"`,
  }
  const size = bytes.length
  const wanted = byteRange(range, size)
  if (wanted === 'outside') {
    throw new HttpRefusal(416, 'INPUT_SCHEMA_INVALID', `The artifact has ${size} bytes, the range begins after them.`, {
      headers: { 'content-range': `bytes */${size}` },
    })
  }
  const { start, end } = wanted === 'all' ? { start: 0, end: size } : wanted
  const part = bytes.subarray(start, end) as Uint8Array<ArrayBuffer>
  const length = { 'content-length': String(part.length) }
  if (wanted === 'all') return new Response(part, { headers: { ...headers, ...length } })
  const where = { 'content-range': `bytes ${start}-${end - 1}/${size}` }
  return new Response(part, { status: 206, headers: { ...headers, ...length, ...where } })
}
