import { ToolError } from '../../../errors.ts'
import { quotePath } from '../quote-path.ts'
import type { OpenFile } from './open-file.ts'

/** Hashing or counting lines goes through the whole file; beyond this it would keep a call busy for ever. */
export const MAX_SCAN_BYTES = 4 * 2 ** 30

/** Stops at a file that is over a limit, with the numbers. `allowed` is the most that the caller could have asked for. */
export function refuseLarger(
  { size, target: { path } }: OpenFile,
  limit: number,
  hint: string,
  allowed: number = limit,
): void {
  if (size <= limit) return
  throw new ToolError('FILE_TOO_LARGE', `${quotePath(path)} has ${size} bytes, the limit is ${limit}.`, {
    hint,
    details: { size, limit, allowed, path },
  })
}
