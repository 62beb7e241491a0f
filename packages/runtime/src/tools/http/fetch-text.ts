import { hash } from 'node:crypto'
import {
  type Context,
  defineTool,
  type FetchOptions,
  type GuardedResponse,
  shownUrl,
  type Targets,
  ToolError,
} from '@tool-hub/core'
import { z } from 'zod'
import {
  answeredHeadersSchema,
  answeredUrlSchema,
  type RequestInput,
  requestSchema,
  shownHeaders,
  statusSchema,
} from './request-schema.ts'

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
  capabilities: ['network', 'send'],
  targets: targetsOf,
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
  async execute(input, ctx) {
    const response = await ctx.fetch(input.url, { ...requestOf(input), overflow: 'cut' })
    const fetched = await toFetchedText(response)
    if (response.isCut) tellCut(response.headers, fetched.bytes, ctx)
    return withEvidence(fetched, input.method, ctx)
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

/** The same tool for an owner who wants large answers stored completely in a file. */
export const keepingFetchText: typeof fetchText = Object.freeze({
  ...fetchText,
  capabilities: Object.freeze(['network', 'send', 'write:fs'] as const),
  // The file is named when it is needed, and judged then.
  targets: (input: RequestInput) => ({ ...targetsOf(input), 'write:fs': [] }),
  async execute(input: RequestInput, ctx: Context<'network' | 'send' | 'write:fs'>) {
    // A rule that limits the bytes of a call limits the file too.
    if (ctx.constraints.maxBytes !== undefined) return fetchText.execute(input, ctx)
    const response = await ctx.fetch(input.url, { ...requestOf(input), overflow: 'stream' })
    const fetched = await toFetchedText(response)
    return withEvidence(response.isCut ? await keepWhole(response, fetched, ctx) : fetched, input.method, ctx)
  },
})

function targetsOf({ url, method }: RequestInput): Targets<'network' | 'send'> {
  return { network: url, send: method === 'POST' ? url : [] }
}

function requestOf({ method, headers, body, timeoutMs, maxBytes }: RequestInput): FetchOptions {
  return { method, headers, body: body ?? undefined, timeoutMs, maxBytes, retries: RETRIES }
}

function tellCut(headers: Readonly<Record<string, string>>, bytes: number, ctx: Context): void {
  const all = headers['content-encoding'] === undefined ? headers['content-length'] : undefined
  ctx.truncated(`The text is the first ${bytes} of ${all ?? 'more'} bytes; use core/http.downloadFile for all of it.`)
}

function withEvidence(fetched: FetchedText, method: string, ctx: Context<'network'>): FetchedText {
  const { url, status, bytes, fileRef } = fetched
  const summary = `${method} answered ${status}, ${bytes} bytes`
  ctx.evidence({ type: 'url', ref: shownUrl(url), summary: fileRef ? `${summary} of those in ${fileRef}` : summary })
  return fetched
}

type Ctx = Context<'network' | 'write:fs'>

/** Writes an answer whose beginning was fetched to a file; if policy forbids that, the beginning is the result. */
async function keepWhole(response: GuardedResponse, beginning: FetchedText, ctx: Ctx): Promise<FetchedText> {
  const fileRef = `downloads/${hash('sha256', `${ctx.callId}\n${response.url}`).slice(0, 12)}.txt`
  const chunks = response.chunks()
  try {
    const { bytes, sha256 } = await ctx.fs.writeBytes(fileRef, chunks)
    ctx.evidence({ type: 'file', ref: fileRef, summary: `${bytes} bytes, sha256 ${sha256}` })
    ctx.truncated(`The text is the first ${beginning.bytes} of ${bytes} bytes; all of it is in ${fileRef}.`)
    return { ...beginning, fileRef }
  } catch (error) {
    if (!ToolError.is(error) || error.code !== 'POLICY_DENIED') throw error
    ctx.truncated(`The text is only the beginning of the answer; the whole was not kept: ${error.message}`)
    return beginning
  } finally {
    // A body that is never read would hold its connection until the timeout.
    for await (const _ of chunks) break
  }
}

/** Result of fetchText. */
interface FetchedText {
  readonly url: string
  readonly status: number
  readonly headers: Record<string, string>
  readonly text: string
  readonly bytes: number
  readonly fileRef?: string
}

/** The text of an answer, or its beginning, with a description. */
async function toFetchedText(response: GuardedResponse): Promise<FetchedText> {
  const { url, status, headers } = response
  const { length: bytes } = await response.bytes()
  return { url, status, headers: shownHeaders(headers), text: await response.text(), bytes }
}
