import type { ChannelAnswer } from '../../contracts/messages.ts'

const MAX_BYTES = 65_536

/** An answer with the beginning of its body; the rest is not waited for. */
export async function readAnswer(response: Response): Promise<ChannelAnswer> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  if (response.body) {
    // Leaving the loop closes the connection.
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
      chunks.push(chunk)
      bytes += chunk.byteLength
      if (bytes >= MAX_BYTES) break
    }
  }
  const text = Buffer.concat(chunks).subarray(0, MAX_BYTES).toString('utf8')
  return { status: response.status, headers: response.headers, text }
}
