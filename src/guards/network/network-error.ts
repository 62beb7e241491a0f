import { resourceError } from '../../disk/resource-error.ts'
import { ToolError } from '../../errors.ts'
import { ConnectError } from './connect-pinned.ts'

/** What a failure on the wire means for the caller; anything that is not one stays as it is. */
export function toNetworkError(error: unknown, { host }: URL): unknown {
  if (ToolError.is(error) || !(error instanceof Error)) return error
  const exhausted = resourceError(error, `No connection to ${host}`)
  if (exhausted) return exhausted
  if (error instanceof ConnectError) {
    return new ToolError('UPSTREAM_ERROR', `No connection to ${host}: ${error.message}`, { cause: error })
  }
  // undici, zlib and the system name their failures by a code; an error without one is a defect.
  if (!('code' in error)) return error
  if (error.code === 'UND_ERR_HEADERS_OVERFLOW') {
    return new ToolError('HTTP_TOO_LARGE', `The headers of ${host} are too large.`, { cause: error })
  }
  return new ToolError('UPSTREAM_ERROR', `The exchange with ${host} failed: ${error.message}`, { cause: error })
}
