import { createHash } from 'node:crypto'
import type { Context } from '../../core/define.ts'
import { ToolError } from '../../core/errors.ts'
import type { BrowserOutput } from './browser-output.ts'

/** What the browser tool may use. */
export type BrowserContext = Context<'browser' | 'network' | 'read:fs' | 'write:fs'>

/** Keeps something that a page made: in the file that was asked for, else as an artifact. */
export async function keepBytes(
  bytes: Uint8Array,
  { path, name, mediaType }: { readonly path?: string | undefined; readonly name: string; readonly mediaType: string },
  ctx: BrowserContext,
): Promise<NonNullable<BrowserOutput['file']>> {
  if (path !== undefined) return { path, ...(await ctx.fs.writeBytes(path, bytes)) }
  const artifact = await ctx.artifact(bytes, { name, mediaType }).catch(withoutPlace)
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  return { bytes: bytes.length, sha256, ...(artifact && { artifact: artifact.ref }) }
}

function withoutPlace(error: unknown): undefined {
  if (ToolError.is(error) && error.code === 'RECORDS_UNAVAILABLE') return undefined
  throw error
}
