import { hash } from 'node:crypto'
import { defineTool, type GuardedResponse, ToolError } from '@tool-hub/core'
import { z } from 'zod'
import {
  answeredHeadersSchema,
  answeredUrlSchema,
  requestSchema,
  shownHeaders,
  statusSchema,
} from './request-schema.ts'

const RETRIES = 2
const DIGEST_CHARS = 200
const MAX_KEYS = 10
const JSON_TYPES = 'application/json, application/*+json;q=0.9, */*;q=0.1'

const jsonSchema = z
  .union([z.record(z.string(), z.unknown()), z.array(z.unknown()), z.null()])
  .describe('The answer; null when the server sent no body.')

const jsonBody = z
  .union([requestSchema.shape.body, z.record(z.string(), z.unknown()), z.array(z.unknown())])
  .describe('What a POST sends: an object or an array is sent as JSON; of a text, name its type in content-type.')

/** Fetches JSON over HTTP. */
export const fetchJson = defineTool({
  name: 'core/http.fetchJson',
  title: 'Fetch JSON',
  description:
    'Send an HTTP GET or POST and get the answer as JSON, whatever its status. Use it for APIs; pick what you need from a ' +
    'long answer with core/util.json.select. Not for pages or other text (core/http.fetchText): an answer that is no JSON ' +
    'object or array is an error.',
  input: requestSchema.extend({ body: jsonBody }),
  output: z.strictObject({
    url: answeredUrlSchema,
    status: statusSchema,
    headers: answeredHeadersSchema,
    json: jsonSchema,
    bytes: z.int().min(0).describe('Bytes of the body, after decompression.'),
  }),
  capabilities: ['network', 'send'],
  targets: ({ url, method }) => ({ network: url, send: method === 'POST' ? url : [] }),
  timeoutMs: 65_000,
  category: 'http',
  tags: ['http', 'fetch', 'json', 'api'],
  version: '1.0.0',
  examples: [
    { input: { url: 'https://api.example.org/users?limit=10' } },
    {
      input: {
        url: 'https://api.example.org/users',
        method: 'POST',
        body: { name: 'Ada' },
      },
      note: 'sends JSON, too',
    },
  ],
  async execute({ url, method, headers, body, timeoutMs, maxBytes }, ctx) {
    const response = await ctx.fetch(url, {
      method,
      ...encoded(body, headers),
      timeoutMs,
      maxBytes,
      retries: RETRIES,
    })
    const bytes = await response.bytes()
    const json = await readJson(response, bytes)
    ctx.evidence({
      type: 'tool',
      ref: ctx.callId,
      summary: `${method} answered ${response.status}, ${bytes.length} bytes, ${describe(json)}`,
    })
    return {
      url: response.url,
      status: response.status,
      headers: shownHeaders(response.headers),
      json,
      bytes: bytes.length,
    }
  },
  toModel: ({ status, url, json }) => `HTTP ${status} from ${url}\n\n${JSON.stringify(json, undefined, 1)}`,
})

/** The body as text, and the headers with defaults. */
function encoded(body: z.infer<typeof jsonBody>, headers: Readonly<Record<string, string>> = {}) {
  const isJson = typeof body === 'object' && body !== null
  const said = new Set(Object.keys(headers).map((name) => name.toLowerCase()))
  return {
    headers: {
      ...(!said.has('accept') && { accept: JSON_TYPES }),
      ...(isJson && !said.has('content-type') && { 'content-type': 'application/json' }),
      ...headers,
    },
    body: isJson ? JSON.stringify(body) : (body ?? undefined),
  }
}

async function readJson(response: GuardedResponse, bytes: Uint8Array): Promise<z.infer<typeof jsonSchema>> {
  // A successful POST without a body must not look like a failure.
  if (bytes.length === 0 && response.status < 400) return null
  const text = await response.text()
  const value = parse(text)
  if (typeof value === 'object' && value !== null) return value as Record<string, unknown> | unknown[]
  const { status, headers } = response
  const what = value === undefined ? 'no JSON' : 'JSON, but neither an object nor an array'
  const digest = `${bytes.length} bytes, sha256 ${hash('sha256', bytes)}`
  throw new ToolError(
    'UPSTREAM_ERROR',
    `The answer (HTTP ${status}, ${headers['content-type'] ?? 'no content type'}) is ${what}: ${digest}, beginning ` +
      `${JSON.stringify(text.slice(0, DIGEST_CHARS))}.`,
    {
      hint: 'Read it with core/http.fetchText, or ask for JSON with an accept header.',
      retryable: false,
      details: { status },
    },
  )
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // The caller reports the actual content, which explains more than the parser.
    return undefined
  }
}

/** The structure of an answer, never its values. */
function describe(json: z.infer<typeof jsonSchema>): string {
  if (json === null) return 'no body'
  if (Array.isArray(json)) return `a list of ${json.length}`
  const keys = Object.keys(json)
  const named = keys.slice(0, MAX_KEYS).map((key) => key.slice(0, 40))
  return `an object with ${named.join(', ') || 'no keys'}${keys.length > MAX_KEYS ? ', …' : ''}`
}
