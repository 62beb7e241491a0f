import { hash } from 'node:crypto'
import { TextDecoder } from 'node:util'
import type { Context } from '../../define.ts'
import { ToolError } from '../../errors.ts'
import type { FetchOptions } from '../../handles.ts'
import type { FetchedText } from './fetched-text.ts'
import { shownHeaders } from './shown-headers.ts'

const DEFAULT_BYTES = 5_242_880
const CHARSET = /;\s*charset\s*=\s*["']?([^"';\s]+)/i

type Ctx = Context<'network' | 'write:fs'>

/** Fetches a text of which only the beginning is handed over; when there is more, the whole goes to a file on the way. */
export async function keepWhole(
  url: string,
  request: FetchOptions,
  maxBytes = DEFAULT_BYTES,
  ctx: Ctx,
): Promise<FetchedText> {
  const response = await ctx.fetch(url, { ...request, stream: true })
  const chunks = response.chunks()[Symbol.asyncIterator]()
  const { head, isWhole } = await takeHead(chunks, maxBytes)
  const beginning = head.subarray(0, maxBytes)
  const answer = {
    url: response.url,
    status: response.status,
    headers: shownHeaders(response.headers),
    text: decode(beginning, response.headers['content-type'], isWhole),
    bytes: beginning.length,
  }
  if (isWhole) return answer
  const fileRef = `downloads/${hash('sha256', `${ctx.callId}\n${url}`).slice(0, 12)}.txt`
  const written = await writeAll(fileRef, head, chunks, ctx)
  if (!written) return answer
  const { bytes, sha256 } = written
  ctx.evidence({ type: 'file', ref: fileRef, summary: `${bytes} bytes, sha256 ${sha256}` })
  ctx.truncated(`The text is the first ${beginning.length} of ${bytes} bytes; all of it is in ${fileRef}.`)
  return { ...answer, fileRef }
}

/** Reads until there is more than fits, or nothing more. */
async function takeHead(chunks: AsyncIterator<Uint8Array>, maxBytes: number) {
  const taken: Uint8Array[] = []
  let bytes = 0
  while (bytes <= maxBytes) {
    const next = await chunks.next()
    if (next.done) return { head: Buffer.concat(taken), isWhole: true }
    taken.push(next.value)
    bytes += next.value.length
  }
  return { head: Buffer.concat(taken), isWhole: false }
}

/** Writes the file; undefined when policy does not allow it, which is no reason to lose what was fetched. */
async function writeAll(path: string, head: Uint8Array, rest: AsyncIterator<Uint8Array>, ctx: Ctx) {
  const whole = async function* () {
    yield head
    for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value
  }
  try {
    return await ctx.fs.writeBytes(path, whole())
  } catch (error) {
    if (!ToolError.is(error) || error.code !== 'POLICY_DENIED') throw error
    ctx.truncated(`The text is only the beginning of the answer; the whole was not kept: ${error.message}`)
    return undefined
  } finally {
    await rest.return?.()
  }
}

function decode(bytes: Uint8Array, contentType = '', isWhole: boolean): string {
  const options = { stream: !isWhole }
  try {
    return new TextDecoder(CHARSET.exec(contentType)?.[1] ?? 'utf-8').decode(bytes, options)
  } catch {
    // A charset that nobody knows; the replacement characters of UTF-8 say more than an error would.
    return new TextDecoder().decode(bytes, options)
  }
}
