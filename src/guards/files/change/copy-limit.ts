import { ToolError } from '../../../errors.ts'
import type { Target } from '../open-roots.ts'
import { quotePath } from '../quote-path.ts'
import type { ChangeScope } from './change-scope.ts'

/** A sparse file can be larger than any disk; nobody copies 10 GiB through a tool on purpose. */
const MOST_BYTES = 10_737_418_240

/** Most bytes that one copy writes, also the copy that a move to another file system makes. */
export function copyLimit({ call }: ChangeScope): number {
  return Math.min(call.maxBytes ?? MOST_BYTES, MOST_BYTES)
}

/** Refuses, before anything is written, what is known to be over the limit. */
export function checkCopySize(scope: ChangeScope, { path }: Target, size: number): void {
  const limit = copyLimit(scope)
  if (size <= limit) return
  throw new ToolError('FILE_TOO_LARGE', `${quotePath(path)} has ${size} bytes to copy, the limit is ${limit}.`, {
    hint: 'Copy its parts, or leave it where it is.',
    details: { size, limit },
  })
}
