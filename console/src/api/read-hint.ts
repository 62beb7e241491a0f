import { ApiError } from '../../../src/client/index.ts'

/** What helps against an error: the server's words, or what to look at when there was no answer; undefined if nobody knows. */
export function readHint(error: unknown): string | undefined {
  if (!(error instanceof ApiError)) return undefined
  if (error.status === 0) return 'Check that `tool-hub serve` still runs, and that this address is the one it printed.'
  return error.fix.hint === '' ? undefined : error.fix.hint
}
