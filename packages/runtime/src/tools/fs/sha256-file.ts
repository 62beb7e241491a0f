import { defineTool } from '@tool-hub/core'
import { z } from 'zod'
import { pathSchema } from './file-arguments.ts'

/** Hashes a file. */
export const sha256File = defineTool({
  name: 'core/fs.sha256',
  title: 'SHA-256 of a file',
  description:
    'Compute the SHA-256 of a file of any size. Use it to compare files or to check a download. Not for a text in the ' +
    'conversation: core/util.hash.sha256Text hashes that.',
  input: z.strictObject({ path: pathSchema('The file to hash.') }),
  output: z.strictObject({
    sha256: z.string().describe('64 hex digits, lower case.'),
    bytes: z.int().min(0).describe('Bytes that were hashed.'),
  }),
  capabilities: ['read:fs'],
  targets: ({ path }) => ({ 'read:fs': path }),
  timeoutMs: 120_000,
  category: 'read',
  tags: ['file', 'hash', 'checksum'],
  version: '1.0.0',
  examples: [{ input: { path: 'download.zip' } }, { input: { path: 'data/export.csv' } }],
  async execute({ path }, ctx) {
    const { sha256, bytes } = await ctx.fs.sha256(path)
    ctx.evidence({ type: 'file', ref: path, summary: `${bytes} bytes, sha256 ${sha256}` })
    return { sha256, bytes }
  },
  toModel: ({ sha256, bytes }) => `${sha256} (${bytes} bytes)`,
})
