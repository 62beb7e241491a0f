import { ToolError } from '../../errors.ts'
import type { Roots } from './open-roots.ts'
import { quotePath } from './quote-path.ts'

/** People know a path as they wrote it: an error about it says it like that, and not where it really is. */
export function asWritten(error: unknown, path: string, roots: Roots): unknown {
  if (!ToolError.is(error)) return error
  const real = realPath(path, roots)
  if (real === undefined || !error.message.includes(real)) return error
  const { code, fix, details, retryable, cause } = error
  return new ToolError(code, error.message.replaceAll(real, quotePath(path)), { fix, details, retryable, cause })
}

function realPath(path: string, roots: Roots): string | undefined {
  try {
    return quotePath(roots.locate(path).path)
  } catch {
    // It leads nowhere, which is what the error is about.
    return undefined
  }
}
