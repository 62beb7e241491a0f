import { UsageError } from '../usage-error.ts'

/** More than any hub takes as arguments; a stream without end must not fill the memory. */
const MAX_BYTES = 64_000_000

/** All of stdin as text. */
export async function readStdin(): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of process.stdin) {
    bytes += chunk.length
    if (bytes > MAX_BYTES)
      throw new UsageError(
        `stdin has more than ${MAX_BYTES} bytes.`,
        'Give less, or a file of lines to tool-hub batch.',
      )
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** The value of a JSON text; what is wrong with it is said in words. */
export function parseJsonInput(text: string, what: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new UsageError(
      `${what} is not JSON: ${(cause as Error).message}`,
      'Quote it for the shell: \'{"key": "value"}\'.',
    )
  }
}
