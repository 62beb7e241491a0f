import { ToolError } from '../../errors.ts'

/** The failure of a page that cannot be read as a person reads it; reading it again would end the same way. */
export function pageError(url: string, why: string, cause?: unknown): ToolError {
  return new ToolError('UPSTREAM_ERROR', `The page ${url.slice(0, 200)} cannot be read: ${why}.`, {
    hint: 'Try extractMode text, or get it as it is with core/http.fetchText.',
    retryable: false,
    ...(cause === undefined ? {} : { cause }),
  })
}
