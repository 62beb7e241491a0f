import { z } from 'zod'
import { type Context, defineTool } from '../../define.ts'
import type { GuardedResponse } from '../../handles.ts'
import type { FetchedText } from './fetched-text.ts'
import { keepWhole } from './keep-whole.ts'
import { answeredHeadersSchema, answeredUrlSchema, requestSchema, statusSchema } from './request-schema.ts'
import { shownHeaders } from './shown-headers.ts'
import { shownUrl } from './shown-url.ts'

const RETRIES = 2

/** Fetches a text over HTTP. */
export const fetchText = defineTool({
  name: 'core/http.fetchText',
  title: 'Fetch a text',
  description:
    'Send an HTTP GET or POST and get the answer as text, whatever its status. Use it for APIs and files that are text; ' +
    'core/http.head tells first how large they are. A longer answer is cut at maxBytes. Not for JSON (core/http.fetchJson), ' +
    'not for binary or large files (core/http.downloadFile), not for reading web pages (core/web.fetch).',
  input: requestSchema,
  output: z.strictObject({
    url: answeredUrlSchema,
    status: statusSchema,
    headers: answeredHeadersSchema,
    text: z.string().describe('The body, decoded; its beginning when it was over maxBytes.'),
    bytes: z.int().min(0).describe('Bytes of the body that are in text, after decompression.'),
    fileRef: z.string().optional().describe('The file that holds the whole body, when it was over maxBytes and kept.'),
  }),
  capabilities: ['network', 'send', 'write:fs'],
  // The file is named when it is needed, and judged then.
  targets: ({ url, method }) => ({ network: url, send: method === 'POST' ? url : [], 'write:fs': [] }),
  timeoutMs: 65_000,
  overflow: 'head',
  category: 'http',
  tags: ['http', 'fetch', 'text', 'api', 'download'],
  version: '1.0.0',
  examples: [
    { input: { url: 'https://api.example.org/status' } },
    {
      input: {
        url: 'https://api.example.org/notes',
        method: 'POST',
        headers: { 'content-type': 'text/plain', authorization: `Bearer \${secret:notes}` },
        body: 'Remember the milk.',
      },
      note: 'sends a text with a secret of the owner',
    },
  ],
  async execute({ url, method, headers, body, timeoutMs, maxBytes }, ctx) {
    const request = { method, headers, body: body ?? undefined, timeoutMs, retries: RETRIES }
    const isKept = ctx.settings.autoWriteLargeResponses && ctx.constraints.maxBytes === undefined
    if (isKept) return withEvidence(await keepWhole(url, request, maxBytes, ctx), method, ctx)
    const response = await ctx.fetch(url, { ...request, maxBytes, overflow: 'cut' })
    return withEvidence(await whatCame(response, ctx), method, ctx)
  },
  // Two blocks: what the hub knows, and what somebody else wrote.
  toModel: ({ url, status, headers, text, bytes, fileRef }) => {
    const kept = fileRef === undefined ? '' : `; all of it is in ${fileRef}`
    const type = headers['content-type'] ?? 'no content type'
    return [
      { type: 'text', text: `HTTP ${status} from ${url} (${type}, ${bytes} bytes${kept})` },
      { type: 'text', text },
    ]
  },
})

async function whatCame(response: GuardedResponse, ctx: Context<'network'>): Promise<FetchedText> {
  const { url, status, headers, isCut } = response
  const { length: bytes } = await response.bytes()
  if (isCut) {
    const all = headers['content-encoding'] === undefined ? headers['content-length'] : undefined
    ctx.truncated(`The text is the first ${bytes} of ${all ?? 'more'} bytes; use core/http.downloadFile for all of it.`)
  }
  return { url, status, headers: shownHeaders(headers), text: await response.text(), bytes }
}

function withEvidence(fetched: FetchedText, method: string, ctx: Context<'network'>): FetchedText {
  const { url, status, bytes, fileRef } = fetched
  const summary = `${method} answered ${status}, ${bytes} bytes`
  ctx.evidence({ type: 'url', ref: shownUrl(url), summary: fileRef ? `${summary} of those in ${fileRef}` : summary })
  return fetched
}
