import { z } from 'zod'

/** The URL. Only its length is checked here; the guard judges it exactly as written. */
export const urlSchema = z
  .string()
  .min(1)
  .max(8_192)
  .meta({ format: 'uri' })
  .describe('The complete http or https URL.')

/** Headers to send. */
export const headersSchema = z
  .record(z.string().max(200), z.string().max(16_384))
  .optional()
  .describe(`Headers to send. For credentials write \${secret:NAME}; the owner says which hosts may see which secret.`)

/** Timeout of a request. */
export const timeoutSchema = (most: number) =>
  z
    .int()
    .min(1_000)
    .max(most)
    .optional()
    .describe('Time for the whole request with its redirects, repetitions and body, in milliseconds. Default: 15000.')

/** Size limit of an answer. */
export const maxBytesSchema = (most: number, usual: number, key: 'limits.http' | 'limits.download') =>
  z
    .int()
    .min(1_024)
    .max(most)
    .optional()
    .describe(`The most bytes of the answer, after decompression. Default: ${usual}, or what the owner set as ${key}.`)

/** The arguments of fetchText and fetchJson. */
export const requestSchema = z.strictObject({
  url: urlSchema,
  method: z.enum(['GET', 'POST']).default('GET').describe('POST sends data out and may need a person to allow it.'),
  headers: headersSchema,
  body: z.string().max(10_485_760).nullable().optional().describe('What a POST sends; name its type in content-type.'),
  timeoutMs: timeoutSchema(60_000),
  maxBytes: maxBytesSchema(10_485_760, 5_242_880, 'limits.http'),
})

/** Parsed arguments of fetchText and fetchJson. */
export type RequestInput = z.output<typeof requestSchema>

/** The headers of an answer. */
export const answeredHeadersSchema = z
  .record(z.string(), z.string())
  .describe('Headers of the answer, names in lower case; cookies are left out.')

/** The status of an answer. */
export const statusSchema = z.int().min(100).max(999).describe('HTTP status.')

/** The URL of an answer, after redirects. */
export const answeredUrlSchema = z.string().describe('Where the answer came from, after redirects.')

// Headers that carry or request credentials, or whose names are not safe as keys.
const HIDDEN =
  /^(set-cookie2?|cookie|authorization|.*authenticat.*|proxy-.*|x-(csrf|xsrf|auth|access|amz-security)-.*|__proto__|constructor|prototype)$/

/** The headers of an answer that a tool returns. */
export function shownHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  const shown: Record<string, string> = {}
  for (const name in headers) if (!HIDDEN.test(name)) shown[name] = headers[name]!
  return shown
}
