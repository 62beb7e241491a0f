import { ToolError } from '../../errors.ts'
import { findToolError } from './upstream-error.ts'

const DEEPEST_CAUSE = 5

/** An error of a server at which nobody listens, with where that is; any other as it came. */
export function namePlace(thrown: unknown, { origin, pathname }: URL): unknown {
  const known = findToolError(thrown)
  if (!known || !isRefused(known)) return thrown
  return new ToolError(known.code, known.message, {
    hint: `Is the server running at ${origin}${pathname}? Correct the url in tool-hub.yaml.`,
    retryable: known.retryable,
    cause: known,
  })
}

function isRefused(thrown: unknown): boolean {
  let error = thrown
  for (let depth = 0; depth < DEEPEST_CAUSE && error instanceof Error; depth++) {
    if ('code' in error && error.code === 'ECONNREFUSED') return true
    error = error.cause
  }
  return false
}
