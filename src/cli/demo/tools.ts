import { z } from 'zod'
import { defineTool } from '../../define.ts'
import { ToolError } from '../../errors.ts'

/** Reads a page of the network, as far as the guard lets it. */
export const fetchPage = defineTool({
  name: 'demo/web.fetch',
  description: 'Fetch a page that holds JSON. Not for sending anything.',
  input: z.strictObject({ url: z.url() }),
  output: z.strictObject({ status: z.int(), json: z.unknown() }),
  capabilities: ['network'],
  targets: ({ url }) => ({ network: url }),
  async execute({ url }, ctx) {
    const response = await ctx.fetch(url)
    const text = await response.text()
    if (response.status !== 200) throw new ToolError('UPSTREAM_ERROR', `${url} answered ${response.status}.`)
    ctx.evidence({ type: 'url', ref: url, summary: `${response.status}, ${text.length} characters` })
    return { status: response.status, json: JSON.parse(text) }
  },
  toModel: ({ json }) => JSON.stringify(json),
})

/** Writes a report below the sandbox root. */
export const writeReport = defineTool({
  name: 'demo/files.writeReport',
  description: 'Write a finished report as a new file. Not for changing files that are there.',
  input: z.strictObject({ path: z.string(), text: z.string() }),
  output: z.strictObject({ path: z.string(), bytes: z.int(), sha256: z.string() }),
  capabilities: ['write:fs'],
  targets: ({ path }) => ({ 'write:fs': path }),
  async execute({ path, text }, ctx) {
    const written = await ctx.fs.writeText(path, text, { mkdirp: true })
    ctx.evidence({ type: 'file', ref: path, summary: `${written.bytes} bytes, sha256 ${written.sha256.slice(0, 12)}…` })
    return { path, ...written }
  },
  toModel: ({ path, bytes }) => `Wrote ${path} (${bytes} bytes).`,
})
