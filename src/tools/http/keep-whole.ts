import { hash } from 'node:crypto'
import type { Context } from '../../core/define.ts'
import { ToolError } from '../../core/errors.ts'
import type { GuardedResponse } from '../../core/handles.ts'
import type { FetchedText } from './fetched-text.ts'

type Ctx = Context<'network' | 'write:fs'>

/** Writes an answer whose beginning was fetched to a file, all of it; when policy forbids that, the beginning is the result. */
export async function keepWhole(response: GuardedResponse, beginning: FetchedText, ctx: Ctx): Promise<FetchedText> {
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
    // One that nobody began to read would hold its connection until the time is over.
    for await (const _ of chunks) break
  }
}
