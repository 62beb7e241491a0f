import { defineTool, shownUrl } from '@tool-hub/core'
import { z } from 'zod'
import {
  answeredHeadersSchema,
  answeredUrlSchema,
  headersSchema,
  shownHeaders,
  statusSchema,
  timeoutSchema,
  urlSchema,
} from './request-schema.ts'

const RETRIES = 2

/** Requests the headers of a URL. */
export const head = defineTool({
  name: 'core/http.head',
  title: 'Look at a URL',
  description:
    'Send an HTTP HEAD and get status and headers, without the content. Use it before a fetch or a download to see ' +
    'whether something is there, how large it is (content-length), what it is (content-type) and whether it changed ' +
    '(etag, last-modified). Not for reading anything.',
  input: z.strictObject({ url: urlSchema, headers: headersSchema, timeoutMs: timeoutSchema(60_000) }),
  output: z.strictObject({ url: answeredUrlSchema, status: statusSchema, headers: answeredHeadersSchema }),
  capabilities: ['network'],
  targets: ({ url }) => ({ network: url }),
  timeoutMs: 65_000,
  category: 'http',
  tags: ['http', 'head', 'size', 'etag'],
  version: '1.0.0',
  examples: [
    { input: { url: 'https://files.example.org/data.csv' } },
    { input: { url: 'https://api.example.org/status', timeoutMs: 5_000 }, note: 'is it there at all?' },
  ],
  async execute({ url, headers, timeoutMs }, ctx) {
    const response = await ctx.fetch(url, { method: 'HEAD', headers, timeoutMs, retries: RETRIES })
    const { status } = response
    const size = response.headers['content-length']
    const summary = `HEAD answered ${status}${size === undefined ? '' : `, ${size} bytes`}`
    ctx.evidence({ type: 'url', ref: shownUrl(response.url), summary })
    return { url: response.url, status, headers: shownHeaders(response.headers) }
  },
  toModel: ({ url, status, headers }) =>
    [`HTTP ${status} from ${url}`, ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`)].join('\n'),
})
