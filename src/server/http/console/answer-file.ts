import type { IncomingHttpHeaders } from 'node:http'
import { PAGE_HEADERS } from '../answer/security-headers.ts'
import type { ConsoleFile } from './load-console.ts'

const A_YEAR = 'public, max-age=31536000, immutable'

/** A file of the console, in the smallest form that the browser takes. */
export function answerFile(file: ConsoleFile, headers: IncomingHttpHeaders): Response {
  const { encoding, bytes } = choose(file, String(headers['accept-encoding'] ?? ''))
  const shared = {
    ...PAGE_HEADERS,
    'cache-control': file.isImmutable ? A_YEAR : 'no-cache',
    etag: file.etag,
    vary: 'accept-encoding',
  }
  if (headers['if-none-match'] === file.etag) return new Response(null, { status: 304, headers: shared })
  return new Response(bytes as Uint8Array<ArrayBuffer>, {
    headers: {
      ...shared,
      'content-type': file.type,
      'content-length': String(bytes.length),
      ...(encoding && { 'content-encoding': encoding }),
    },
  })
}

function choose({ bytes, brotli, gzip }: ConsoleFile, accepted: string): { encoding?: string; bytes: Uint8Array } {
  if (brotli && takes(accepted, 'br')) return { encoding: 'br', bytes: brotli }
  if (gzip && takes(accepted, 'gzip')) return { encoding: 'gzip', bytes: gzip }
  return { bytes }
}

/** `gzip;q=0` means: not this one. */
function takes(accepted: string, encoding: string): boolean {
  return accepted.split(',').some((part) => {
    const [name = '', ...parameters] = part.split(';').map((word) => word.trim().toLowerCase())
    return name === encoding && !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter))
  })
}
