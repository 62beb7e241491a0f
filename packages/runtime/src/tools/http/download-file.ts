import { defineTool, shownUrl, ToolError } from '@tool-hub/core'
import { z } from 'zod'
import { maxBytesSchema, timeoutSchema, urlSchema } from './request-schema.ts'

const RETRIES = 2

/** Downloads a file. */
export const downloadFile = defineTool({
  name: 'core/http.downloadFile',
  title: 'Download a file',
  description:
    'Download a URL into a file of the sandbox: whole or not at all, any type, with its SHA-256. Use it for binary files ' +
    'and for what is too large to read in one result; core/http.head tells first how large it is. Not for small texts you want ' +
    'to read now (core/http.fetchText, core/http.fetchJson).',
  input: z.strictObject({
    url: urlSchema,
    destPath: z.string().min(1).max(4_096).describe('The file to make; missing folders above it are made, too.'),
    timeoutMs: timeoutSchema(120_000),
    maxBytes: maxBytesSchema(104_857_600, 104_857_600, 'limits.download'),
    overwrite: z.boolean().default(false).describe('Replace the file if it exists.'),
  }),
  output: z.strictObject({
    destPath: z.string().describe('The path as it was given.'),
    bytes: z.int().min(0).describe('Bytes of the file.'),
    sha256: z.string().describe('SHA-256 of the file, hex.'),
  }),
  capabilities: ['network', 'write:fs', 'danger:destructive'],
  targets: ({ url, destPath, overwrite }, known) => ({
    network: url,
    'write:fs': destPath,
    'danger:destructive': overwrite && known.isUnread(destPath) ? destPath : [],
  }),
  timeoutMs: 130_000,
  category: 'http',
  tags: ['http', 'download', 'file'],
  version: '1.0.0',
  examples: [
    { input: { url: 'https://files.example.org/report.pdf', destPath: 'downloads/report.pdf' } },
    {
      input: {
        url: 'https://files.example.org/data.csv',
        destPath: 'data.csv',
        overwrite: true,
        timeoutMs: 60_000,
        maxBytes: 10_485_760,
      },
      note: 'replaces the file, at most 10 MB',
    },
  ],
  async execute({ url, destPath, timeoutMs, maxBytes, overwrite }, ctx) {
    const response = await ctx.fetch(url, { timeoutMs, maxBytes, retries: RETRIES, stream: true })
    if (response.status < 200 || response.status > 299) throw notThere(response)
    const { bytes, sha256 } = await ctx.fs.writeBytes(destPath, response.chunks(), { overwrite })
    const source = shownUrl(response.url)
    ctx.evidence({ type: 'file', ref: destPath, summary: `${bytes} bytes, sha256 ${sha256}, from ${source}` })
    return { destPath, bytes, sha256 }
  },
  toModel: ({ destPath, bytes, sha256 }) => `Downloaded ${bytes} bytes to ${destPath} (sha256 ${sha256}).`,
})

function notThere({ status, url }: { readonly status: number; readonly url: string }): ToolError {
  return new ToolError('UPSTREAM_ERROR', `The server answered ${status} for ${shownUrl(url)}; nothing was written.`, {
    hint: 'Check the URL; core/http.fetchText shows what the server says.',
    retryable: status === 429 || status >= 500,
    details: { status },
  })
}
